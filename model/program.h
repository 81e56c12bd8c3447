#pragma once

#include <string>
#include <vector>

// What a command line runs, and with which arguments, whatever starts it.
namespace nl {

// "generate.py" of /usr/bin/python3 -u ../generate.py --batch 8, and of /bin/sh -c 'python generate.py'; empty: there is no command.
std::string program_of(const std::vector<std::string>& command);

// What comes after it: "--batch 8". Of files the name alone. Without what does not change the work: where output goes, seeds, ports, how much
// is logged. Empty: there are none, or a shell starts the program.
std::string arguments_of(const std::vector<std::string>& command);

}  // namespace nl
