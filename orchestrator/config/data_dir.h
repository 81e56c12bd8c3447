#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nl::orchestrator {

// Where this program's binary lies.
std::filesystem::path program_folder();

// The folders with runner/ and profiling/ that nl-stage ships, best first: $NL_STAGE_DATA (or its conf/),
// <prefix>/share/nl-stage/conf, and the conf/ of the source tree that a build folder lies in.
std::vector<std::filesystem::path> conf_folders();

// The nearest folder above `file` that holds runner/ and profiling/; empty where there is none.
std::filesystem::path conf_folder_of(const std::filesystem::path& file);

}  // namespace nl::orchestrator
