#pragma once

#include <filesystem>

#include "orchestrator/import.h"

namespace nl::orchestrator {

// Adds the captures that a run was made of, from its bundle or run.json: those in the bundle, or those that it was imported from, which
// lie where they were. Anything else is added as add_input() does. Throws Error(kInput) where one has changed or is gone.
void add_captures_of(const std::filesystem::path& run, ImportRequest& request);

}  // namespace nl::orchestrator
