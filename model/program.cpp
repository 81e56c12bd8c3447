#include "model/program.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <span>
#include <sstream>
#include <string_view>

namespace nl {
namespace {

constexpr std::array<std::string_view, 4> kShells = {"sh", "bash", "dash", "zsh"};
// They start a program, often several times or at other places.
constexpr std::array<std::string_view, 11> kLaunchers = {"torchrun", "mpirun",  "mpiexec", "srun", "accelerate", "deepspeed",
                                                         "numactl",  "taskset", "nice",    "time", "timeout"};
constexpr std::string_view kPython = "python", kPythonScript = ".py", kEnv = "env", kLongFlag = "--";
constexpr std::array<std::string_view, 2> kPythonValueFlags = {"-X", "-W"}, kEnvValueFlags = {"-u", "-C"};
// Parts of the names of flags that do not change the work.
constexpr std::array<std::string_view, 10> kBesideTheWork = {"out",  "log",     "save",  "cache",    "seed",
                                                             "port", "verbose", "quiet", "progress", "dir"};

using CommandWords = std::vector<std::string>;

struct Started {
  std::string program;
  CommandWords arguments = {};
};

Started started_by(const CommandWords& command);

CommandWords words_in(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_among(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// "-lc" and "-uc" as much as "-c": the last of several short flags is the one that the next word belongs to.
bool ends_in_flag(const std::string& word, char flag) { return word.size() > 1 && word[0] == '-' && word[1] != '-' && word.back() == flag; }

CommandWords words_from(const CommandWords& words, std::size_t first) {
  return first < words.size() ? CommandWords(words.begin() + static_cast<std::ptrdiff_t>(first), words.end()) : CommandWords();
}

// env -i -u NAME A=1 python generate.py
Started started_by_env(const CommandWords& command) {
  std::size_t i = 1;
  for (; i < command.size() && command[i].starts_with('-'); ++i)
    if (is_among(command[i], kEnvValueFlags)) ++i;
  return i < command.size() ? started_by(words_from(command, i)) : Started{std::string(kEnv)};
}

// bash -euo pipefail -c 'python generate.py'
Started started_by_shell(const CommandWords& command, const std::string& shell) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (ends_in_flag(command[i], 'c') && i + 1 < command.size()) return started_by(words_in(command[i + 1]));
    if (ends_in_flag(command[i], 'o')) ++i;
    else if (!command[i].starts_with('-')) return {base_name(command[i]), words_from(command, i + 1)};
  }
  return {shell};
}

// python -X importtime -u generate.py
Started started_by_python(const CommandWords& command, const std::string& python) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (is_among(command[i], kPythonValueFlags)) ++i;
    else if (is_among(command[i].substr(0, 2), kPythonValueFlags)) continue;  // with its value in one word
    else if (ends_in_flag(command[i], 'c')) return {python + " -c", words_from(command, i + 1)};
    else if (ends_in_flag(command[i], 'm') && i + 1 < command.size()) return {command[i + 1], words_from(command, i + 2)};
    else if (!command[i].starts_with('-')) return {base_name(command[i]), words_from(command, i + 1)};
  }
  return {python};
}

// torchrun --nproc-per-node 2 train.py --steps 8, numactl -N 0 python3 generate.py. Which of a launcher's flags take a value is not known
// here: what it starts is the first word that a script or an interpreter may be.
Started started_by_launcher(const CommandWords& command, const std::string& launcher) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (command[i].ends_with(kPythonScript)) return {base_name(command[i]), words_from(command, i + 1)};
    if (base_name(command[i]).starts_with(kPython)) return started_by(words_from(command, i));
  }
  return {launcher, words_from(command, 1)};
}

Started started_by(const CommandWords& command) {
  if (command.empty()) return {};
  if (command.front().find('=') != std::string::npos) return started_by(words_from(command, 1));  // a variable before the program
  const std::string program = base_name(command.front());
  if (program == kEnv) return started_by_env(command);
  if (is_among(program, kShells)) return started_by_shell(command, program);
  if (is_among(program, kLaunchers)) return started_by_launcher(command, program);
  return program.starts_with(kPython) ? started_by_python(command, program) : Started{program, words_from(command, 1)};
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool is_beside_the_work(const std::string& flag) {
  const std::string name = lower_case(flag.substr(0, flag.find('=')));
  return std::any_of(kBesideTheWork.begin(), kBesideTheWork.end(),
                     [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

// Of a path the name of the file, also behind --flag=.
std::string argument_text(const std::string& word) {
  const std::size_t value = word.starts_with('-') ? word.find('=') + 1 : 0;  // 0: no value, or no flag
  if (word.starts_with('-') && value == 0) return word;
  return word.substr(0, value) + base_name(word.substr(value));
}

}  // namespace

std::string program_of(const std::vector<std::string>& command) { return started_by(command).program; }

std::string arguments_of(const std::vector<std::string>& command) {
  const CommandWords words = started_by(command).arguments;
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with(kLongFlag) && is_beside_the_work(words[i])) {
      const bool has_value = words[i].find('=') == std::string::npos && i + 1 < words.size() && !words[i + 1].starts_with('-');
      i += has_value ? 1 : 0;
      continue;
    }
    out += (out.empty() ? "" : " ") + argument_text(words[i]);
  }
  return out;
}

}  // namespace nl
