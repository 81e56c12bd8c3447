#include "runs/archive/redaction.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <climits>

#include "model/error.h"
#include "orchestrator/config/keys.h"
#include "orchestrator/config/yaml_file.h"
#include "parsers/collector/trace.h"

namespace fs = std::filesystem;

namespace nl::runs {
namespace {

void add_host(const std::string& name, std::vector<std::string>& hosts) {
  const std::string short_name = name.substr(0, name.find('.'));
  if (short_name.size() < 2 || short_name == "localhost") return;
  hosts.push_back(name);
  hosts.push_back(short_name);
}

void add_host_of_export(const fs::path& sqlite, std::vector<std::string>& hosts) {
  try {
    SQLite::Database db(sqlite.string(), SQLite::OPEN_READONLY);
    if (!db.tableExists("TARGET_INFO_SYSTEM_ENV")) return;
    SQLite::Statement rows(db, "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'");
    while (rows.executeStep()) add_host(rows.getColumn(0).getString(), hosts);
  } catch (const SQLite::Exception&) {
    // Damaged, or none of nsys': blanking it says so.
  }
}

// TensorBoard's "events.out.tfevents.1731888000.gpu-17.lab.example.4711.0": the host lies between the time and the process.
void add_host_of_events(std::string_view name, std::vector<std::string>& hosts) {
  constexpr std::string_view kBegin = "events.out.tfevents.";
  constexpr std::string_view kDigits = "0123456789";
  if (!name.starts_with(kBegin)) return;
  name.remove_prefix(kBegin.size());
  name.remove_prefix(std::min(name.find('.'), name.size() - 1) + 1);
  for (std::size_t dot = name.rfind('.');
       dot != std::string_view::npos && name.find_first_not_of(kDigits, dot + 1) == std::string_view::npos; dot = name.rfind('.'))
    name = name.substr(0, dot);
  add_host(std::string(name), hosts);
}

YAML::Node value_at(YAML::Node node, std::string_view path) {
  while (node.IsMap()) {
    const std::size_t dot = path.find('.');
    node.reset(node[std::string(path.substr(0, dot))]);
    if (dot == std::string_view::npos || !node.IsDefined()) return node;
    path.remove_prefix(dot + 1);
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

// `at` is the opening quote; the result is the place behind the closing one.
std::size_t end_of_quoted(const std::string& text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

}  // namespace

std::vector<std::string> host_names(const fs::path& bundle) {
  std::vector<std::string> hosts;
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, HOST_NAME_MAX) == 0) add_host(name, hosts);
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(bundle, ignored)) {
    if (entry.path().extension() == ".sqlite") add_host_of_export(entry.path(), hosts);
    if (entry.path().extension() == ".nltrace") add_host(parsers::host_name_of(entry.path()), hosts);
    add_host_of_events(entry.path().filename().string(), hosts);
  }
  return hosts;
}

// Sample:   env: {"HOME": "/root", "TOKEN": "hunter2"}
std::string without_environment(const std::string& config_yaml, const std::string& where) {
  std::vector<std::size_t> quotes;  // where the values begin
  try {
    check_yaml_bounds(config_yaml, where);
    const YAML::Node root = YAML::Load(config_yaml);
    for (const ConfigKey& key : config_keys()) {
      if (key.patterns || !std::holds_alternative<std::map<std::string, std::string>& (*)(Config&)>(key.member)) continue;
      const YAML::Node map = value_at(root, key.path);
      if (map.IsDefined() && map.IsMap())
        for (const auto& variable : map) quotes.push_back(static_cast<std::size_t>(variable.second.Mark().pos));
    }
  } catch (const YAML::Exception& broken) {
    throw Error(ErrorKind::kInput, fmt::format("the configuration is damaged: {}", broken.what()), where,
                "use an undamaged copy of the bundle, or --keep-env");
  }
  std::string out = config_yaml;
  std::sort(quotes.rbegin(), quotes.rend());  // from the last to the first, so that the places stay right
  for (const std::size_t at : quotes) {
    if (at >= out.size() || out[at] != '"')
      throw Error(ErrorKind::kInput, "the configuration was changed by hand: a variable's value has no quotes", where,
                  "quote the values of workload.env, or give --keep-env");
    out.replace(at, end_of_quoted(out, at) - at, fmt::format("\"{}\"", kMaskedValue));
  }
  return out;
}

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && simdjson::validate_utf8(bytes.data(), bytes.size());
}

}  // namespace nl::runs
