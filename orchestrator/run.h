#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/error.h"
#include "model/run.h"
#include "orchestrator/capture/pass_runner.h"
#include "orchestrator/config/config.h"

namespace nl::orchestrator {

struct LedgerRecord {
  std::string location;          // where the run is recorded now; empty: nowhere
  std::optional<Error> failure;  // why it is not, although it should be
};

// How run, import and profile end: runs/ledger has the one that users get. The bundle is written by then.
using RecordRun = std::function<LedgerRecord(const LedgerOptions& options, const Run& run, std::string_view run_json,
                                             const std::filesystem::path& bundle)>;

struct RunRequest {
  Config config;
  std::filesystem::path out;  // the bundle itself; empty: a new folder in artifacts.dir
  Echo echo = Echo::kWorkload;
  RecordRun record = {};  // empty: the run is recorded nowhere
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
