#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "model/error.h"
#include "model/run.h"
#include "orchestrator/config/config.h"

namespace nl::orchestrator {

struct LedgerRecord {
  std::string location;          // where the run is recorded now; empty: nowhere
  std::optional<Error> failure;  // why it is not, although it should be
};

// How run, import and profile end. The bundle is written by then: a ledger that cannot be is a note, never a failed run.
LedgerRecord record_run(const LedgerOptions& options, const Run& run, std::string_view run_json, const std::filesystem::path& bundle);

}  // namespace nl::orchestrator
