#include "orchestrator/config/yaml_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/error.h"
#include "orchestrator/config/nearest.h"

namespace nl::orchestrator {

void YamlFile::refuse(std::string what, YamlTree::Place place, std::string fix) const {
  throw Error(ErrorKind::kConfig, std::move(what), yaml_where(file_, place), std::move(fix));
}

const YamlTree* YamlFile::find(const YamlTree& map, const std::string& key) {
  for (const auto& [name, value] : map.entries)
    if (name.name == key) return &value;
  return nullptr;
}

void YamlFile::check_keys(const YamlTree& map, const std::string& what, const Keys& keys) const {
  if (map.kind != Kind::kMap) refuse(fmt::format("{} wants keys and values", what), map.place, fmt::format("such as {}:", keys.front()));
  for (const auto& [name, value] : map.entries)
    if (std::find(keys.begin(), keys.end(), name.name) == keys.end())
      refuse(fmt::format("unknown key '{}' of {}", name.name, what), name.place, nearest_or_all(name.name, keys));
}

const YamlTree& YamlFile::need(const YamlTree& map, const std::string& what, const std::string& key, const std::string& fix) const {
  const YamlTree* value = find(map, key);
  if (value == nullptr) refuse(fmt::format("{} has no '{}'", what, key), map.place, fix);
  return *value;
}

std::string YamlFile::text(const YamlTree& value, const std::string& what) const {
  if (value.kind != Kind::kScalar || value.text.find_first_not_of(" \t\r\n") == std::string::npos)
    refuse(fmt::format("{} wants a text", what), value.place, "put quotes around it where it holds a ':' or a '#'");
  return value.text;
}

}  // namespace nl::orchestrator
