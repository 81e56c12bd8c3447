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
  want(map, Kind::kMap, what, "keys and values", fmt::format("such as {}:", keys.front()));
  for (const auto& [name, value] : map.entries)
    if (std::find(keys.begin(), keys.end(), name.name) == keys.end())
      refuse(fmt::format("unknown key '{}' of {}", name.name, what), name.place, nearest_or_all(name.name, keys));
}

void YamlFile::read_keys(const YamlTree& map, const std::string& what, const std::vector<KeyReader>& readers) const {
  Keys keys;
  for (const KeyReader& reader : readers) keys.push_back(reader.key);
  check_keys(map, what, keys);
  for (const auto& [key, value] : map.entries) {
    if (value.kind == Kind::kNull) refuse(fmt::format("'{}' has no value", key.name), key.place, "give it one, or remove the line");
    readers[static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key.name) - keys.begin())].read(value);
  }
}

const YamlTree& YamlFile::need(const YamlTree& map, const std::string& what, const std::string& key, const std::string& fix) const {
  const YamlTree* value = find(map, key);
  if (value == nullptr) refuse(fmt::format("{} has no '{}'", what, key), map.place, fix);
  return *value;
}

void YamlFile::want(const YamlTree& value, Kind kind, const std::string& what, const std::string& wanted, const std::string& fix) const {
  if (value.kind != kind) refuse(fmt::format("{} wants {}", what, wanted), value.place, fix);
}

std::string YamlFile::text(const YamlTree& value, const std::string& what) const {
  if (value.kind != Kind::kScalar || value.text.find_first_not_of(" \t\r\n") == std::string::npos)
    refuse(fmt::format("{} wants a text", what), value.place, "put quotes around it where it holds a ':' or a '#'");
  return value.text;
}

YamlFile::Keys YamlFile::texts(const YamlTree& list, const std::string& what) const {
  want(list, Kind::kList, what, "a list", "write [a, b]");
  Keys words;
  for (const YamlTree& item : list.items) words.push_back(text(item, "an item of " + what));
  return words;
}

std::size_t YamlFile::one_of(const YamlTree& value, const std::string& what, const Keys& words) const {
  const auto found = std::find(words.begin(), words.end(), text(value, what));
  if (found == words.end()) refuse(fmt::format("{} cannot be '{}'", what, value.text), value.place, nearest_or_all(value.text, words));
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace nl::orchestrator
