#pragma once

#include <string>
#include <vector>

#include "model/error_code.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace nl::cli {

// What CLI11 found wrong with the command line, as our own error: with the nearest verb or flag. `last_word`: that of the command line.
CodedError usage_error(const CLI::App& app, const CLI::ParseError& wrong, const std::string& last_word);

// A word that should be a verb of `app`.
CodedError unknown_verb(const CLI::App& app, const std::string& word);

std::vector<std::string> verb_names(const CLI::App& app);  // of those that are listed

const CLI::App& innermost_verb(const CLI::App& app);        // "search" of `fingerprint search`; the program where none is given
std::string called_as(const CLI::App& verb);                // "nl-stage fingerprint search"
std::vector<std::string> flag_names(const CLI::App& verb);  // "--config", …

}  // namespace nl::cli
