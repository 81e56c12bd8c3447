#include <algorithm>
#include <filesystem>
#include <span>

#include "analysis/nsys_stats/reports.h"
#include "cli/manual/flag_facts.h"
#include "orchestrator/bundle/schemas.h"
#include "orchestrator/config/conf_files.h"
#include "orchestrator/config/keys.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/explain.h"

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

// Those of several words are left out: a shell would take them for several.
std::vector<std::string> terms() {
  auto names = orchestrator::explained_names(orchestrator::load_rules(orchestrator::shipped_rules(), {}));
  std::erase_if(names, [](const std::string& name) {
    return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") != std::string::npos;
  });
  return names;
}

std::vector<std::string> newest_run() { return {"last"}; }
std::vector<std::string> no_ledger() { return {"off"}; }
std::vector<std::string> none() { return {}; }

struct TypeRow {
  std::string_view value_name;
  ValueType type;
  Paths paths = Paths::kNone;
  std::vector<std::string> (*words)() = none;
  bool closed = false;  // there are no others than the words
  const char* asks = "";
};

// The names that the verbs give the values of their arguments with type_name(). One that is not here is a text, and has no values to propose.
std::span<const TypeRow> type_rows() {
  using enum ValueType;
  static constexpr TypeRow kTypes[] = {
      {"INT", kInteger},  // of CLI11, where the verb gives none
      {"UINT", kInteger},
      {"FLOAT", kNumber},
      {"N", kInteger},
      {"ROWS", kInteger},
      {"MS", kNumber},
      {"TIMES", kNumber},
      {"RATE", kNumber},
      {"SECONDS", kNumber},
      {"TIME", kDuration},
      {"SIZE", kSize},
      {"FILE", kPath, Paths::kFiles},
      {"FILE.sqlite", kPath, Paths::kFiles},
      {"FILE.xml", kPath, Paths::kFiles},
      {"FILE.yaml", kPath, Paths::kFiles},
      {"PREFIX", kPath, Paths::kFiles},
      {"BUNDLE", kPath, Paths::kFiles},
      {"DIR", kFolder, Paths::kFolders},
      {"RUN", kRun, Paths::kFiles, newest_run, false, "ls --names"},
      {"METRIC", kString, Paths::kNone, none, false, "ls --metric-names"},
      {"PATH|URL", kString, Paths::kFiles, no_ledger},
      {"RUNNER", kString, Paths::kFiles, runners},
      {"MODEL", kString, Paths::kFiles, models},
      {"KEY=VALUE", kString, Paths::kNone, settings},
      {"REPORT,...", kString, Paths::kNone, stats_reports},
      {"RULE|METRIC|TERM", kString, Paths::kNone, terms},
      {"SCHEMA", kString, Paths::kNone, orchestrator::schema_names},
      {"COMMAND", kCommand, Paths::kCommands},
  };
  return kTypes;
}

}  // namespace

Values values_of_type(std::string_view value_name) {
  const std::span<const TypeRow> rows = type_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const TypeRow& each) { return each.value_name == value_name; });
  return row == rows.end() ? Values{} : Values{row->words(), row->asks, row->paths, row->type, row->closed};
}

}  // namespace nl::cli
