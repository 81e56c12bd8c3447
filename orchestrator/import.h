#pragma once

#include <filesystem>
#include <vector>

#include "orchestrator/run.h"

namespace nl::orchestrator {

struct ImportRequest {
  Config config;                           // stages, top-N, name, artifacts.dir, tools
  std::filesystem::path nsys;              // .sqlite or .nsys-rep; empty: none
  std::vector<std::filesystem::path> ncu;  // raw.csv, details.csv or .ncu-rep
  std::vector<std::filesystem::path> collector;
  std::vector<std::filesystem::path> counters;  // the collector's files of its counter passes, joined to the capture
  std::filesystem::path kineto;              // the capture where there is no other, else a table of operators
  std::vector<std::filesystem::path> ort;    // likewise
  std::vector<std::filesystem::path> trtexec;  // profile, layers: operators only
  std::filesystem::path out;  // as for run
  bool copy = false;          // a blanked copy of the export into the bundle

  std::vector<std::filesystem::path> files() const;  // all that are given
};

// The same bundle as run_workload() leaves, from captures made elsewhere. The files given are never
// changed; the bundle names them with their sha256. Throws Error(kInput) where one cannot be read.
RunResult import_captures(const ImportRequest& request, Launcher& launcher);

}  // namespace nl::orchestrator
