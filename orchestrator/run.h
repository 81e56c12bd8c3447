#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/error.h"
#include "model/run.h"
#include "orchestrator/capture/pass_runner.h"
#include "orchestrator/config/config.h"
#include "orchestrator/ledger/record_run.h"

namespace nl::orchestrator {

struct RunRequest {
  Config config;
  std::filesystem::path out;  // the bundle itself; empty: a new folder in artifacts.dir
  Echo echo = Echo::kWorkload;
};

struct RunResult {
  Run run;
  std::filesystem::path bundle;
  std::optional<ErrorKind> failure;  // the gravest problem; the bundle is there nevertheless
  int interrupt_signal = 0;
  LedgerRecord ledger = {};
};

// What a written run means for whoever called: run.problems decide.
RunResult result_of(Run run, const Bundle& bundle);

// The first problem of a run that failed, as a part of a sentence: without a full stop.
std::string what_failed(const Run& run);

// Config → Plan → Capture → Evidence → Run → files. Throws Error only where there is nothing to leave behind:
// a wrong configuration, a missing tool or program, an output folder that cannot be written.
RunResult run_workload(const RunRequest& request, Launcher& launcher);

}  // namespace nl::orchestrator
