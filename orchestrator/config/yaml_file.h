#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/config/yaml_tree.h"

namespace nl::orchestrator {

// A file of YAML that a reader of rules, suites or expectations takes apart key by key. What is wrong is refused with its place.
class YamlFile {
 protected:
  using Kind = YamlTree::Kind;
  using Keys = std::vector<std::string>;

  // `name` is what messages call it: "rules file"; `fix` what to write where it is empty.
  YamlFile(const ConfFile& file, const char* name, const char* fix) : file_(file), tree_(read_yaml_file(file, {name, fix, fix})) {}

  [[noreturn]] void refuse(std::string what, YamlTree::Place place, std::string fix) const;

  static const YamlTree* find(const YamlTree& map, const std::string& key);
  // `what` names the map in messages: "a rule".
  void check_keys(const YamlTree& map, const std::string& what, const Keys& keys) const;
  const YamlTree& need(const YamlTree& map, const std::string& what, const std::string& key, const std::string& fix) const;
  std::string text(const YamlTree& value, const std::string& what) const;

  // Nothing where the value is no number, or more than one.
  template <class Number>
  static std::optional<Number> number_in(const YamlTree& value) {
    Number result{};
    const char* end = value.text.data() + value.text.size();
    const auto [stopped, failed] = std::from_chars(value.text.data(), end, result);
    return value.kind == Kind::kScalar && failed == std::errc{} && stopped == end ? std::optional(result) : std::nullopt;
  }

  ConfFile file_;
  YamlTree tree_;
};

}  // namespace nl::orchestrator
