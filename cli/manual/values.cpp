#include <algorithm>
#include <filesystem>

#include "analysis/nsys_stats/reports.h"
#include "cli/manual/reference.h"
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
std::vector<std::string> schemas() { return schema_names(); }
std::vector<std::string> no_ledger() { return {"off"}; }
std::vector<std::string> none() { return {}; }

struct TypeRow {
  std::string_view type;
  Paths paths;
  std::vector<std::string> (*words)();
  const char* asks = "";
};

// The types that the verbs give their arguments with type_name(). A type that is not here has no values to propose.
constexpr TypeRow kTypes[] = {
    {"FILE", Paths::kFiles, none},
    {"FILE.sqlite", Paths::kFiles, none},
    {"FILE.xml", Paths::kFiles, none},
    {"FILE.yaml", Paths::kFiles, none},
    {"PREFIX", Paths::kFiles, none},
    {"BUNDLE", Paths::kFiles, none},
    {"DIR", Paths::kFolders, none},
    {"RUN", Paths::kFiles, newest_run, "ls --names"},
    {"METRIC", Paths::kNone, none, "ls --metric-names"},
    {"SCHEMA", Paths::kNone, schemas},
    {"PATH|URL", Paths::kFiles, no_ledger},
    {"RUNNER", Paths::kFiles, runners},
    {"MODEL", Paths::kFiles, models},
    {"KEY=VALUE", Paths::kNone, settings},
    {"REPORT,...", Paths::kNone, stats_reports},
    {"COMMAND", Paths::kCommands, none},
};

}  // namespace

Values values_of_type(std::string_view type) {
  const auto row = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeRow& each) { return each.type == type; });
  return row == std::end(kTypes) ? Values{} : Values{row->words(), row->asks, row->paths};
}

}  // namespace nl::cli
