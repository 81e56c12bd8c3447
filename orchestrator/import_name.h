#pragma once

#include <filesystem>
#include <string>

namespace nl::orchestrator {

struct NameSources {
  std::filesystem::path capture;  // absolute
  std::string recorded = {};      // the name of the bundle that it lies in; empty: in none, or not known
  std::string process = {};       // that was captured; empty: not known
};

// What an import is called that no --name was given: as the bundle that it is of, as the file, or, where that is called what every
// tool calls its files, as the folder that holds it.
std::string import_name(const NameSources& sources);

// The name in the run.json of the bundle that a capture lies in. Empty: in none, or the file cannot be read, which is no error here.
std::string recorded_name(const std::filesystem::path& capture);

}  // namespace nl::orchestrator
