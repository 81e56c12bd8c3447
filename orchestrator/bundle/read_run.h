#pragma once

#include <filesystem>
#include <string>

#include "model/run.h"

// The run.json of a bundle that exists. Throw Error(kInput) where it is missing, damaged or newer than this nl-stage.
namespace nl::orchestrator {

std::filesystem::path run_json_of(const std::filesystem::path& bundle);  // its folder, or the file itself
std::string read_run_text(const std::filesystem::path& file);
Run read_run(const std::string& text, const std::filesystem::path& file);

}  // namespace nl::orchestrator
