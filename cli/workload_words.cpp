#include "cli/workload_words.h"

#include <CLI/CLI.hpp>

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

void cut_workload(const CLI::App& app, int& argc, char** argv) {
  workload_words.clear();
  const CLI::App* verb = verb_with_workload(app, argc, argv);
  if (verb == nullptr) return;
  int end = 2;
  while (end < argc && is_flag(argv[end]) && std::string_view(argv[end]) != "--") {
    const FlagWord flag = flag_word(*verb, argv[end]);
    end += flag.words;
    // Whether the next word is the value of a flag that we do not know cannot be said: the flag itself is the fault.
    if (!flag.known) argc = end;
  }
  if (end >= argc) return;
  const bool dashes = std::string_view(argv[end]) == "--";
  workload_words.assign(argv + end + (dashes ? 1 : 0), argv + argc);
  argc = end;
  argv[argc] = nullptr;
}

}  // namespace nl::cli
