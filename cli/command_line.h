#pragma once

#include <functional>

namespace CLI {
class App;
}

// The command line as main() and the tests set it up and read it.
namespace nl::cli {

// The whole program. The only place that catches what verbs throw, and prints it.
int main(int argc, char** argv);

// Name, version, examples and every verb. A verb sets `action` when it is parsed.
void set_up(CLI::App& app, std::function<int()>& action);

// Parses the words. Without any, `action` becomes the help. Throws Error(kUsage) with the nearest verb or flag.
void parse(CLI::App& app, int argc, char** argv, std::function<int()>& action);

// Whether the output is JSON, also where the command line is wrong. A --json that belongs to the workload does not count.
bool asks_for_json(const CLI::App& app, int argc, char** argv);

}  // namespace nl::cli
