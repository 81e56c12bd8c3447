#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/analyse.h"
#include "model/error.h"
#include "model/evidence.h"
#include "model/run.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/config/config.h"

// Everything after reading, the same for `run` and `import`.
namespace nl::orchestrator {

struct LedgerRecord {
  std::string location;          // where the run is recorded now; empty: nowhere
  std::optional<Error> failure;  // why it is not, although it should be
};

// Records a run whose bundle is written. The program uses record_run() of runs/ledger.
using RecordRun = std::function<LedgerRecord(const LedgerOptions& options, const Run& run, std::string_view run_json,
                                             const std::filesystem::path& bundle)>;

struct RunResult {
  Run run;
  std::filesystem::path bundle;
  std::optional<ErrorKind> failure;  // the gravest problem; the bundle is there nevertheless
  int interrupt_signal = 0;
  LedgerRecord ledger = {};
};

// The first problem of a run that failed, as a part of a sentence: without a full stop.
std::string what_failed(const Run& run);

// Evidence → Run → files → ledger. A Ctrl-C until then is among the run's problems. `record` may be empty.
RunResult conclude(const Evidence& evidence, const analysis::Knowledge& knowledge, const Config& config, const Bundle& bundle,
                   const RecordRun& record);

}  // namespace nl::orchestrator
