#pragma once

#include <filesystem>

#include "orchestrator/import.h"

namespace nl::orchestrator {

// Puts a file where its content belongs: the nsys capture, ncu's pages, a profile of operators … A folder adds every file
// in it that a format knows, a bundle what its own passes left. Throws Error(kInput) where no format knows it, and
// Error(kUsage) where a second capture of a kind is given that a run has only one of.
void add_input(const std::filesystem::path& path, ImportRequest& request);

}  // namespace nl::orchestrator
