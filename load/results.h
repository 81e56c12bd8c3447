#pragma once

#include <filesystem>
#include <vector>

#include "model/load.h"

namespace nl::load {

// The loads that a file is about: our own records, or what another generator wrote; by what is in it. Throws Error(kInput) where it is neither.
std::vector<LoadRun> read_results(const std::filesystem::path& file);

}  // namespace nl::load
