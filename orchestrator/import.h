#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "orchestrator/run.h"

namespace nl::orchestrator {

struct ImportRequest {
  Config config;                                                                 // stages, top-N, name, artifacts.dir, tools
  std::map<std::string, std::vector<std::filesystem::path>, std::less<>> files;  // by the name of their parsers::Format
  std::filesystem::path out;                                                     // as for run
  bool copy = false;                                                             // a blanked copy of the export into the bundle
  std::filesystem::path operators = {};  // the folder of an operator pass, of a bundle that is imported
  std::filesystem::path session = {};    // the record of a session, of such a bundle, too
  RecordRun record = {};                 // as for run

  std::vector<std::filesystem::path> all_files() const;
};

// The same bundle as run_workload() leaves, from captures made elsewhere. The files given are never
// changed; the bundle names them with their sha256. Throws Error(kInput) where one cannot be read.
RunResult import_captures(const ImportRequest& request, Launcher& launcher);

// The run alone, of captures that are read where they lie: no bundle, no trace file. Interrupts are the caller's.
Run import_run(const ImportRequest& request, Launcher& launcher);

}  // namespace nl::orchestrator
