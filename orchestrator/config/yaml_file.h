#pragma once

#include <charconv>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/config/yaml_tree.h"

namespace nl::orchestrator {

// A file of YAML that a reader of rules, suites, expectations or devices takes apart key by key. What is wrong is refused with its
// place, in the same sentences for all of them. `what` names a value in them: "'limit'", and a map: "a rule".
class YamlFile {
 protected:
  using Kind = YamlTree::Kind;
  using Keys = std::vector<std::string>;
  struct KeyReader {
    std::string key;
    std::function<void(const YamlTree&)> read;
  };

  // `name` is what messages call it: "rules file"; `fix` what to write where it is empty.
  YamlFile(const ConfFile& file, const char* name, const char* fix) : file_(file), tree_(read_yaml_file(file, {name, fix, fix})) {}

  [[noreturn]] void refuse(std::string what, YamlTree::Place place, std::string fix) const;

  static const YamlTree* find(const YamlTree& map, const std::string& key);
  void check_keys(const YamlTree& map, const std::string& what, const Keys& keys) const;
  // Each key that is there goes to its reader.
  void read_keys(const YamlTree& map, const std::string& what, const std::vector<KeyReader>& readers) const;
  const YamlTree& need(const YamlTree& map, const std::string& what, const std::string& key, const std::string& fix) const;

  void want(const YamlTree& value, Kind kind, const std::string& what, const std::string& wanted, const std::string& fix) const;
  std::string text(const YamlTree& value, const std::string& what) const;
  Keys texts(const YamlTree& list, const std::string& what) const;
  std::size_t one_of(const YamlTree& value, const std::string& what, const Keys& words) const;  // index of the word

  // "20" in quotes is a text, as in a configuration.
  template <class Number>
  Number number(const YamlTree& value, const std::string& what, const char* wanted, const std::string& fix,
                Number least = std::numeric_limits<Number>::lowest(), Number most = std::numeric_limits<Number>::max()) const {
    const auto result = number_in<Number>(value.text);
    if (value.kind != Kind::kScalar || value.quoted || !result || !(*result >= least && *result <= most))
      refuse(what + " wants " + wanted, value.place, fix);
    return *result;
  }

  // Nothing where the text is not a number, or more than one.
  template <class Number>
  static std::optional<Number> number_in(std::string_view text) {
    Number result{};
    const char* end = text.data() + text.size();
    const auto [stopped, failed] = std::from_chars(text.data(), end, result);
    return failed == std::errc{} && stopped == end ? std::optional(result) : std::nullopt;
  }

  ConfFile file_;
  YamlTree tree_;
};

}  // namespace nl::orchestrator
