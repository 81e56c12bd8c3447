#include "cli/workload_words.h"

#include <algorithm>

#include "cli/usage_error.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "orchestrator/config/nearest.h"

namespace nl::cli {
namespace {

constexpr const char* kCommandArgument = "command";

thread_local std::vector<std::string> workload_words;  // a server's threads read several command lines

// The first word that is not a flag.
int verb_at(int argc, char** argv) {
  int at = 1;
  while (at < argc && is_flag(argv[at])) ++at;
  return at;
}

// A flag that is not known takes a value where the nearest one does, or none is near, and the next word may be one.
bool unknown_takes_value(const CLI::App& verb, const std::string& name, const char* next) {
  if (next == nullptr || is_flag(next)) return false;
  const CLI::Option* meant = verb.get_option_no_throw(orchestrator::nearest_name(name, flag_names(verb)));
  return meant == nullptr || meant->get_items_expected_max() > 0;
}

// Words that a flag takes, with its value: "--name n", "--name=n", "-c light", "-clight".
int words_of_flag(const CLI::App& verb, std::string_view word, const char* next) {
  const std::string name(word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2));
  if (word.size() > name.size()) return 1;
  const CLI::Option* option = verb.get_option_no_throw(name);
  const bool takes_value = option == nullptr ? unknown_takes_value(verb, name, next) : option->get_items_expected_max() > 0;
  return takes_value ? 2 : 1;
}

}  // namespace

bool is_flag(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

void take_workload(CLI::App& verb, const char* help) {
  // Its words never reach CLI11: the option is there for the help, and for cut_workload().
  verb.add_option_function<std::vector<std::string>>(kCommandArgument, [](const auto&) {}, help)->type_name("COMMAND");
}

const std::vector<std::string>& workload_given() { return workload_words; }

int workload_begin(const CLI::App& app, int argc, char** argv) {
  int at = verb_at(argc, argv);
  const CLI::App* verb = at < argc ? verb_named(app, argv[at]) : nullptr;
  if (verb == nullptr || verb->get_option_no_throw(kCommandArgument) == nullptr) return argc;
  ++at;
  while (at < argc && is_flag(argv[at]) && argv[at] != kEndOfFlags)
    at += words_of_flag(*verb, argv[at], at + 1 < argc ? argv[at + 1] : nullptr);
  return std::min(at, argc);
}

void cut_workload(const CLI::App& app, int& argc, char** argv) {
  const int begin = workload_begin(app, argc, argv);
  const bool dashes = begin < argc && argv[begin] == kEndOfFlags;
  workload_words.assign(argv + begin + (dashes ? 1 : 0), argv + argc);
  argc = begin;
  argv[argc] = nullptr;
  if (!workload_words.empty() && workload_words.front().empty())
    throw Error(ErrorKind::kUsage, "the command is an empty word", "command line",
                "give a program and its arguments; a variable in its place may be empty");
}

}  // namespace nl::cli
