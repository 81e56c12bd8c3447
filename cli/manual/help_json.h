#pragma once

#include <nlohmann/json.hpp>

#include "cli/manual/reference.h"

namespace nl::cli {

// A verb for programs: its flags and arguments with types, values, defaults and counts; schema/help.schema.json describes it.
nlohmann::ordered_json help_json(const VerbReference& verb);

// One flag or argument of it.
nlohmann::ordered_json argument_json(const FlagFacts& argument);

}  // namespace nl::cli
