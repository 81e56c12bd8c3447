#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/config/conf_files.h"

namespace nl::orchestrator {

// A YAML document with the place of everything in it; yaml-cpp stays behind yaml_tree.cpp.
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
// unreadable, malformed, empty, no map, or names a key twice.
YamlTree read_yaml_file(const ConfFile& file, const YamlFileKind& kind = {});

// The value of a --set: any YAML scalar, list or map. `where` names it in errors.
YamlTree read_yaml_value(std::string_view text, const std::string& where);

// "conf/runner/deep.yaml:3:7"
std::string yaml_where(const ConfFile& file, YamlTree::Place place);

}  // namespace nl::orchestrator
