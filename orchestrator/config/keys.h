#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orchestrator/config/config.h"
#include "orchestrator/config/yaml_file.h"

namespace nl::orchestrator {

// A key of the `model:` section: kept as text in ModelOptions::attributes, checked as what it is. kNumbers is a map:
// model.stage_flops: {gemm: 1e12} is kept as "stage_flops.gemm".
struct ModelAttribute {
  enum class Type { kText, kWhole, kNumber, kNumbers } type = Type::kText;
};

using ConfigMember = std::variant<std::string& (*)(Config&), int& (*)(Config&), double& (*)(Config&), bool& (*)(Config&),
                                  std::vector<std::string>& (*)(Config&), std::map<std::string, std::string>& (*)(Config&), ModelAttribute>;

struct ConfigKey {
  std::string_view path;  // "nsys.export.sqlite"
  ConfigMember member;
  std::string_view help;
  std::vector<std::string_view> allowed = {};  // values, or items of a list; empty: anything
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool comma_list = false;  // a list that may also be written "cuda,nvtx"
  bool not_empty = false;
  bool patterns = false;           // a map whose values are regular expressions; else they may be secrets, which are not repeated
  bool may_hold_password = false;  // a URL: config.yaml has it without its password
  bool file_name = false;          // becomes part of a file name: letters, digits, . _ -
};

// Every key, section by section: parsing, --set, suggestions, config.yaml and docs come from it.
const std::vector<ConfigKey>& config_keys();

const ConfigKey* find_config_key(std::string_view path);

// True for "nsys" and "nsys.export": something that holds keys.
bool is_config_section(std::string_view path);

// "a whole number", "a list of texts" … for messages and docs.
std::string_view config_type_name(const ConfigKey& key);

// Every key for a terminal: `nl-stage plan --keys`.
std::string config_keys_text();
std::string config_keys_json();  // {keys: [{key, help, type, allowed, least, most, default}]}

// The same as the tables of docs/configuration.md, which holds them between these lines.
std::string config_reference_markdown();
inline constexpr const char* kReferenceBegin = "<!-- made by `nl-stage plan --keys --markdown` -->\n";
inline constexpr const char* kReferenceEnd = "<!-- end -->\n";

// Where a value came from, for messages: file:line:column, or the --set that gave it.
using ConfigWhere = std::function<std::string(YamlTree::Place)>;

// Puts every value of the tree into the configuration, over what is there. `path` is where in the
// configuration the tree hangs: "" for a file, "run.mode" for --set run.mode=…
void apply_config(Config& config, const YamlTree& tree, const std::string& path, YamlTree::Place key_place, const ConfigWhere& where);

}  // namespace nl::orchestrator
