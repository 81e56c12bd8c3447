#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "model/load.h"
#include "orchestrator/capture/pass_runner.h"
#include "orchestrator/config/config.h"
#include "orchestrator/finish.h"

namespace nl::orchestrator {

struct RunRequest {
  Config config;
  std::filesystem::path out;  // the bundle itself; empty: a new folder in artifacts.dir
  Echo echo = Echo::kWorkload;
  RecordRun record = {};  // empty: the run is recorded nowhere
  // What clients of a server recorded, read once the workload has ended: until then it is not whole. Empty: there are none.
  std::function<std::vector<LoadRun>()> read_loads = {};
};

// Config → Plan → Capture → Evidence → Run → files. Throws Error only where there is nothing to leave behind:
// a wrong configuration, a missing tool or program, an output folder that cannot be written.
RunResult run_workload(const RunRequest& request, Launcher& launcher);

}  // namespace nl::orchestrator
