#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/ceilings.h"

// Where `nl-stage ceilings` keeps what it measured: a file for each card.
namespace nl::orchestrator {

std::string ceilings_json(const DeviceCeilings& card);
DeviceCeilings read_ceilings(const std::filesystem::path& file);  // throws Error(kInput)

// $NL_STAGE_CEILINGS, else nl-stage/ceilings in $XDG_DATA_HOME or ~/.local/share; empty where there is no home folder.
std::filesystem::path ceilings_folder();
// "GPU-….json" in it
std::filesystem::path ceilings_file(const DeviceCeilings& card);
// Of all cards that were measured here. What cannot be read is left out.
std::vector<DeviceCeilings> kept_ceilings();

}  // namespace nl::orchestrator
