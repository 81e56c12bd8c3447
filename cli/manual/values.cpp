#include <algorithm>
#include <filesystem>

#include "analysis/nsys_stats/reports.h"
#include "cli/manual/flag_facts.h"
#include "orchestrator/config/conf_files.h"
#include "orchestrator/config/keys.h"

namespace nl::cli {
namespace {

// The files of a folder of conf/ by their names: "runner/deep.yaml" is deep.
std::vector<std::string> shipped(std::string_view room) {
  std::vector<std::string> names;
  for (const orchestrator::BuiltInFile& file : orchestrator::kBuiltInConf)
    if (file.path.starts_with(room)) names.push_back(std::filesystem::path(file.path).stem().string());
  return names;
}

std::vector<std::string> runners() { return shipped("runner/"); }
std::vector<std::string> models() { return shipped("model/"); }

std::vector<std::string> settings() {
  std::vector<std::string> words;
  for (const orchestrator::ConfigKey& key : orchestrator::config_keys()) words.push_back(std::string(key.path) + "=");
  return words;
}

std::vector<std::string> stats_reports() { return {analysis::stats_report_names().begin(), analysis::stats_report_names().end()}; }

std::vector<std::string> newest_run() { return {"last"}; }
std::vector<std::string> no_ledger() { return {"off"}; }
std::vector<std::string> none() { return {}; }

struct TypeRow {
  std::string_view value_name;
  ValueType type;
  Paths paths = Paths::kNone;
  std::vector<std::string> (*words)() = none;
  bool closed = false;  // there are no others than the words
};

using enum ValueType;

// The names that the verbs give the values of their arguments with type_name(). One that is not here is a text, and has no values to propose.
constexpr TypeRow kTypes[] = {
    {"INT", kInteger},  // of CLI11, where the verb gives none
    {"UINT", kInteger},
    {"FLOAT", kNumber},
    {"N", kInteger},
    {"MS", kNumber},
    {"TIMES", kNumber},
    {"TIME", kDuration},
    {"SIZE", kSize},
    {"FILE", kPath, Paths::kFiles},
    {"FILE.sqlite", kPath, Paths::kFiles},
    {"FILE.xml", kPath, Paths::kFiles},
    {"FILE.yaml", kPath, Paths::kFiles},
    {"PREFIX", kPath, Paths::kFiles},
    {"BUNDLE", kPath, Paths::kFiles},
    {"DIR", kFolder, Paths::kFolders},
    {"RUN", kRun, Paths::kFiles, newest_run},
    {"PATH|URL", kString, Paths::kFiles, no_ledger},
    {"RUNNER", kString, Paths::kFiles, runners},
    {"MODEL", kString, Paths::kFiles, models},
    {"KEY=VALUE", kString, Paths::kNone, settings},
    {"REPORT,...", kString, Paths::kNone, stats_reports},
    {"COMMAND", kCommand, Paths::kCommands},
};

}  // namespace

Values values_of_type(std::string_view value_name) {
  const auto row = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeRow& each) { return each.value_name == value_name; });
  return row == std::end(kTypes) ? Values{} : Values{row->words(), row->paths, row->type, row->closed};
}

}  // namespace nl::cli
