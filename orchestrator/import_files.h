#pragma once

#include <filesystem>
#include <string>

#include "orchestrator/import.h"

namespace nl::orchestrator {

// Adds a file to those of its format, which its content tells. A folder adds every file
// in it that a format knows, a bundle what its own passes left. Throws Error(kInput) where no format knows it, and
// Error(kUsage) where a second capture of a kind is given that a run has only one of.
void add_input(const std::filesystem::path& path, ImportRequest& request);

// "an nsys SQLite or .nsys-rep, …, or a bundle"
std::string known_formats();

}  // namespace nl::orchestrator
