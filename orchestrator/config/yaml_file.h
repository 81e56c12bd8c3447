#pragma once

#include <charconv>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/config/conf_files.h"

namespace nl::orchestrator {

// A YAML document with the place of everything in it; yaml-cpp stays behind yaml_file.cpp.
struct YamlTree {
  enum class Kind { kNull, kScalar, kList, kMap };

  struct Place {
    int line = 1, column = 1;  // counted from 1
  };
  struct Key {
    std::string name;
    Place place;
  };

  Kind kind = Kind::kNull;
  Place place;
  std::string text;             // of a scalar
  bool quoted = false;          // "20" is a text, 20 a number
  std::vector<YamlTree> items;  // of a list
  struct Entry;
  std::vector<Entry> entries;  // of a map, in order
};

// A std::pair would need the whole YamlTree before it is complete; clang refuses that.
struct YamlTree::Entry {
  Key first;
  YamlTree second;
};

// How messages call a file, and what to write into an empty one.
struct YamlFileKind {
  const char* name = "configuration file";
  const char* when_empty = "it needs at least one section, such as run:";
  const char* when_no_map = "write sections such as run: {mode: deep}";
};

// Reads a file that must hold one map. Throws Error(kConfig) with file:line:column where it is missing,
// unreadable, malformed, empty, not a map, or names a key twice.
YamlTree read_yaml_file(const ConfFile& file, const YamlFileKind& kind = {});

// The value of a --set: any YAML scalar, list or map. `where` names it in errors.
YamlTree read_yaml_value(std::string_view text, const std::string& where);

// Before anything but this file hands a text to yaml-cpp. Error(kConfig) where it would take too much memory; YAML::Exception where it is
// not YAML.
void check_yaml_bounds(const std::string& text, const std::string& where);

// "conf/runner/deep.yaml:3:7"
std::string yaml_where(const ConfFile& file, YamlTree::Place place);

// A file of YAML that a reader of rules, suites, expectations or devices takes apart key by key. What is wrong is refused with its
// place, in the same sentences for all of them. `what` names a value in them: "'limit'", and a map: "a rule".
class YamlFile {
 public:
  // The number; nothing where the text is not exactly one number.
  template <class Number>
  static std::optional<Number> number_in(std::string_view text) {
    Number result{};
    const char* end = text.data() + text.size();
    const auto [stopped, failed] = std::from_chars(text.data(), end, result);
    return failed == std::errc{} && stopped == end ? std::optional(result) : std::nullopt;
  }

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
  // Calls the reader of each key that the map has.
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

  ConfFile file_;
  YamlTree tree_;
};

}  // namespace nl::orchestrator
