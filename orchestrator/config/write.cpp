#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>

#include "orchestrator/config/config.h"
#include "orchestrator/config/keys.h"
#include "orchestrator/config/ledger_location.h"

namespace nl::orchestrator {
namespace {

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  for (std::size_t cut; (cut = path.find('.')) != std::string_view::npos; path.remove_prefix(cut + 1)) parts.push_back(path.substr(0, cut));
  parts.push_back(path);
  return parts;
}

std::string attribute_name(const ConfigKey& key) { return std::string(key.path.substr(key.path.find('.') + 1)); }

struct Write {
  Config& config;
  const ConfigKey& key;
  YAML::Emitter& out;

  void text(const std::string& value) const { out << YAML::DoubleQuoted << value; }
  void operator()(std::string& (*member)(Config&)) const {
    text(key.may_hold_password ? without_password(member(config)) : member(config));
  }
  void operator()(int& (*member)(Config&)) const { out << member(config); }
  void operator()(double& (*member)(Config&)) const { out << fmt::format("{}", member(config)); }
  void operator()(bool& (*member)(Config&)) const { out << member(config); }
  void operator()(std::vector<std::string>& (*member)(Config&)) const {
    out << YAML::Flow << YAML::BeginSeq;
    for (const auto& item : member(config)) text(item);
    out << YAML::EndSeq;
  }
  // The values of environments are not ours to repeat.
  void operator()(std::map<std::string, std::string>& (*member)(Config&)) const {
    out << YAML::Flow << YAML::BeginMap;
    for (const auto& [name, value] : member(config)) {
      out << YAML::Key << YAML::DoubleQuoted << name << YAML::Value;
      text(config.artifacts.keep_env || key.patterns ? value : kMaskedValue);
    }
    out << YAML::EndMap;
  }
  // "stage_flops.gemm" → {gemm: …}
  void numbers() const {
    const std::string prefix = attribute_name(key) + ".";
    out << YAML::Flow << YAML::BeginMap;
    for (const auto& [name, value] : config.model.attributes)
      if (name.starts_with(prefix)) out << YAML::Key << YAML::DoubleQuoted << name.substr(prefix.size()) << YAML::Value << value;
    out << YAML::EndMap;
  }
  void operator()(ModelAttribute attribute) const {
    if (attribute.type == ModelAttribute::Type::kNumbers) return numbers();
    const auto& value = config.model.attributes.at(attribute_name(key));
    if (attribute.type == ModelAttribute::Type::kText) text(value);
    else out << value;
  }
};

bool is_set(const Config& config, const ConfigKey& key) {
  const auto* attribute = std::get_if<ModelAttribute>(&key.member);
  if (!attribute) return true;
  const auto& values = config.model.attributes;
  if (attribute->type != ModelAttribute::Type::kNumbers) return values.count(attribute_name(key)) > 0;
  const auto first = values.lower_bound(attribute_name(key) + ".");
  return first != values.end() && first->first.starts_with(attribute_name(key) + ".");
}

}  // namespace

std::string compose_yaml(const Config& config) {
  Config values = config;  // the table's members are reached through a Config that is not const
  YAML::Emitter out;
  out << YAML::BeginMap;
  std::vector<std::string_view> open;
  for (const auto& key : config_keys()) {
    if (!is_set(values, key)) continue;
    auto parts = parts_of(key.path);
    const auto name = parts.back();
    parts.pop_back();
    std::size_t shared = 0;
    while (shared < open.size() && shared < parts.size() && open[shared] == parts[shared]) ++shared;
    for (; open.size() > shared; open.pop_back()) out << YAML::EndMap;
    for (; open.size() < parts.size(); open.push_back(parts[open.size()]))
      out << YAML::Key << std::string(parts[open.size()]) << YAML::Value << YAML::BeginMap;
    out << YAML::Key << std::string(name) << YAML::Value;
    std::visit(Write{values, key, out}, key.member);
  }
  for (; !open.empty(); open.pop_back()) out << YAML::EndMap;
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

std::string setting(const std::string& key, const nlohmann::json& value) {
  return key + "=" + value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace nl::orchestrator
