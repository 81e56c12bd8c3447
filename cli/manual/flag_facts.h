#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/words.h"

namespace CLI {
class Option;
}

// What is to be known of a flag or an argument, read off the parser's own declaration: `help --json`, completions, man pages, docs/verbs and the
// tools of a server come from it.
namespace nl::cli {

// kDuration: "90s", "3m". kSize: "500MB", "64GiB". kRun: a ledger's name for a run, a bundle, a run.json or a capture.
enum class ValueType : std::uint8_t { kBoolean, kString, kInteger, kNumber, kPath, kFolder, kDuration, kSize, kRun, kCommand };

// The values of a type of argument ("RUNNER"), as a shell can propose them.
enum class Paths : std::uint8_t { kNone, kFiles, kFolders, kCommands };
struct Values {
  std::vector<std::string> words;
  std::string asks = {};  // and what nl-stage prints with these flags then
  Paths paths = Paths::kNone;
  ValueType type = ValueType::kString;
  bool closed = false;  // there are no others than the words
};
Values values_of_type(std::string_view value_name);

struct FlagFacts {
  std::string name;                // "config": the longest name without hyphens; of an argument: "files"
  std::vector<std::string> names;  // "-c", "--config"; of an argument: "files"
  bool positional = false;
  std::string value_name;  // "FILE"; empty: a flag without a value
  ValueType type = ValueType::kBoolean;
  std::string help;
  std::string group;                      // empty: hidden
  std::string default_value;              // empty: none, or the help says what is taken
  std::vector<std::string> choices;       // the only values there are
  std::vector<std::string> words;         // what a shell proposes: the choices, or the names that are known
  std::string asks;                       // and what nl-stage prints with these flags then: names of runs
  Paths paths = Paths::kNone;             // and these
  std::string limits;                     // "a whole number from 1 to 100"
  std::optional<double> least, most;      // of a number
  bool above_least = false;               // least itself is too small
  int least_values = 0, most_values = 0;  // that stand behind the flag each time; of an argument: in all. kAnyNumber: no limit
  char separator = '\0';                  // several values in one word: "host,paths"
  bool required = false;
  bool many = false;                         // may have several values
  bool repeatable = false;                   // the flag may be given again
  std::vector<std::string> excludes, needs;  // names of flags: "--html"
};

inline constexpr int kAnyNumber = -1;

FlagFacts facts_of(const CLI::Option& option);

}  // namespace nl::cli

namespace nl {

template <>
inline constexpr auto kKeys<cli::ValueType> =
    std::to_array<std::string_view>({"boolean", "string", "integer", "number", "path", "folder", "duration", "size", "run", "command"});

}  // namespace nl
