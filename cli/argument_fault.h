#pragma once

#include <string>

#include "model/error.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace nl::cli {

// What CLI11 found wrong with a flag or an argument that is known: missing, without its value, with a wrong one, or given twice.
// `last_word` is that of the command line.
Error argument_fault(const CLI::App& app, const CLI::ParseError& wrong, const std::string& last_word);

}  // namespace nl::cli
