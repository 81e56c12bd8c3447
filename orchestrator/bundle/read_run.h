#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "model/run.h"

// The run.json of a bundle that exists. Throw Error(kInput) where it is missing, damaged or newer than this nl-stage.
namespace nl::orchestrator {

std::filesystem::path run_json_of(const std::filesystem::path& bundle);  // its folder, or the file itself
std::string read_run_text(const std::filesystem::path& file);
Run read_run(const std::string& text, const std::filesystem::path& file);

// Checks a run.json, a compare.json or a suite.json against its schema (schema.cpp). Throws Error(kInput) with the JSON pointer of the first
// thing that is wrong and the reason; of an older format it says so and looks no further. `where` is the file it came from.
void validate_run_json(std::string_view json, const std::string& where = "run.json");

// Throws Error(kInput) where a valid run.json contradicts itself, or what its reports say of it: exporters/consistency. Other files are let pass.
void refuse_contradictions(const std::string& json, const std::string& where = "run.json");

}  // namespace nl::orchestrator
