#include "cli/tools/table.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace nl::cli {
namespace {

using servers::Access;

std::string argument_name(std::string_view flag) {
  std::string name(flag);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

const CLI::Option* option_named(const CLI::App& verb, std::string_view name) {
  for (const CLI::Option* option : verb.get_options())
    if (facts_of(*option).name == name) return option;
  return nullptr;
}

}  // namespace

const std::vector<ToolRow>& tool_rows() {
  static const std::vector<ToolRow> rows = {
      {.name = "doctor", .title = "Check this machine", .verb = "doctor", .about = "Each check is ok, warning or blocked, with its fix."},
      {.name = "summary",
       .title = "Summary of a run",
       .verb = "show",
       .about = "The first thing to ask of a run: what limits it, how long its unit takes, and what to do first."},
      {.name = "explain", .title = "Explain a word or a rule", .verb = "explain", .starts_none = true},
      {.name = "query", .title = "Ask in SQL", .verb = "query", .offered = {{"schema"}, {"limit"}, {"timeout"}}},
      {.name = "whatif",
       .title = "Predict what a change brings",
       .verb = "whatif",
       .offered = {{"capture", "run"},
                   {"stage"},
                   {"graph"},
                   {"without-wait"},
                   {"host"},
                   {"async"},
                   {"kernel"},
                   {"kind"},
                   {"operator"},
                   {"fuse"},
                   {"pinned"},
                   {"overlap-copies"},
                   {"batch"},
                   {"weights"},
                   {"device"},
                   {"host-speed"},
                   {"unprofiled"},
                   {"record"}},
       .about = "Without a change, all that apply are tried, and what binds the stage is told."},
      {.name = "compare",
       .title = "Compare runs",
       .verb = "compare",
       .offered = {{"a", "runs"}, {"to"}, {"force"}, {"minimum-effect"}, {"model"}}},
      {.name = "ledger_search",
       .title = "Search the runs that are known",
       .verb = "ls",
       .starts_none = true,
       .offered = {{"name"},
                   {"model"},
                   {"gpu"},
                   {"precision"},
                   {"backend"},
                   {"commit"},
                   {"workload"},
                   {"mode"},
                   {"status"},
                   {"tag"},
                   {"since"},
                   {"until"},
                   {"metric"},
                   {"limit"}}},
      {.name = "run",
       .title = "Profile a command",
       .verb = "run",
       .access = Access::kRun,
       .lasts = true,
       .alone = true,
       .offered = {{"config"},
                   {"name"},
                   {"budget"},
                   {"out"},
                   {"model"},
                   {"dry-run"},
                   {"backend"},
                   {"provider"},
                   {"precision"},
                   {"batch"},
                   {"seq"}},
       .about = "The command is a list of words and goes through no shell."},
      {.name = "window",
       .title = "Take a window of a recorded server",
       .verb = "window",
       .access = Access::kWrite,
       .lasts = true,
       .offered = {{"steps"}, {"seconds"}, {"min-batch"}, {"when"}, {"within"}, {"name"}},
       .about = "The server was started with nl-stage recorder. It goes on, and the window becomes a run."},
      {.name = "import",
       .title = "Make a bundle from captures",
       .verb = "import",
       .access = Access::kRun,
       .lasts = true,
       .offered = {{"out"}, {"name"}, {"model"}}},
      {.name = "try",
       .title = "Measure which of two commands is faster",
       .verb = "try",
       .access = Access::kRun,
       .lasts = true,
       .alone = true,
       .offered = {{"a"},
                   {"b"},
                   {"a-env"},
                   {"b-env"},
                   {"a-set"},
                   {"b-set"},
                   {"rounds"},
                   {"warmup"},
                   {"budget"},
                   {"minimum-effect"},
                   {"no-profile"},
                   {"out"},
                   {"predicted", {}, true}},
       .about = "The commands are lists of words and go through no shell."},
  };
  return rows;
}

std::vector<ToolArgument> tool_arguments(const ToolRow& row, const CLI::App& verb) {
  const auto named = [&row](const FlagFacts& facts) {
    const auto offered =
        std::find_if(row.offered.begin(), row.offered.end(), [&](const OfferedFlag& each) { return each.flag == facts.name; });
    const bool renamed = offered != row.offered.end() && !offered->as.empty();
    const bool place =
        facts.paths == Paths::kFiles || facts.paths == Paths::kFolders || (offered != row.offered.end() && offered->is_place);
    return ToolArgument{renamed ? std::string(offered->as) : argument_name(facts.name), facts, place};
  };
  std::vector<ToolArgument> arguments;
  for (const CLI::Option* option : verb.get_options())
    if (option->get_positional() && !option->get_group().empty()) arguments.push_back(named(facts_of(*option)));
  for (const OfferedFlag& each : row.offered)
    if (const CLI::Option* option = option_named(verb, each.flag); option != nullptr && !option->get_positional())
      arguments.push_back(named(facts_of(*option)));
  return arguments;
}

}  // namespace nl::cli
