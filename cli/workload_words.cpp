#include "cli/workload_words.h"

#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/verbs.h"

namespace nl::cli {
namespace {

constexpr const char* kCommand = "command";

std::vector<std::string> workload_words;

const CLI::App* verb_with_workload(const CLI::App& app, int argc, char** argv) {
  const CLI::App* verb = argc > 1 ? verb_named(app, argv[1]) : nullptr;
  return verb != nullptr && verb->get_option_no_throw(kCommand) != nullptr ? verb : nullptr;
}

struct FlagWord {
  bool known = false;
  int words = 1;  // it takes, with its value
};

// "--name", "--name=value", "-c", "-clight"
FlagWord flag_word(const CLI::App& verb, std::string_view word) {
  const bool is_long = word.starts_with("--");
  const std::string name(is_long ? word.substr(0, word.find('=')) : word.substr(0, 2));
  const CLI::Option* option = verb.get_option_no_throw(name);
  if (option == nullptr) return {};
  const bool takes_value = option->get_items_expected_max() > 0, has_value = word.size() > name.size();
  return {true, takes_value && !has_value ? 2 : 1};
}

}  // namespace

bool is_flag(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

void take_workload(CLI::App& verb, const char* help) {
  // Its words never reach CLI11: the option is there for the help, and for cut_workload().
  verb.add_option_function<std::vector<std::string>>(kCommand, [](const auto&) {}, help)->type_name("COMMAND");
}

const std::vector<std::string>& workload_given() { return workload_words; }

int workload_begin(const CLI::App& app, int argc, char** argv) {
  const CLI::App* verb = verb_with_workload(app, argc, argv);
  if (verb == nullptr) return argc;
  int at = 2;
  while (at < argc && is_flag(argv[at]) && std::string_view(argv[at]) != "--") {
    const FlagWord flag = flag_word(*verb, argv[at]);
    if (!flag.known) return at + 1;
    at += flag.words;
  }
  return std::min(at, argc);
}

void cut_workload(const CLI::App& app, int& argc, char** argv) {
  const int begin = workload_begin(app, argc, argv);
  const bool dashes = begin < argc && std::string_view(argv[begin]) == "--";
  workload_words.assign(argv + begin + (dashes ? 1 : 0), argv + argc);
  argc = begin;
  argv[argc] = nullptr;
}

}  // namespace nl::cli
