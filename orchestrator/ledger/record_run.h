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

class Ledger;

struct RecordedBundle {
  std::string run_id;
  double record_ms = 0;  // without the reading of its run.json
};

// A bundle that was made elsewhere or before. Throws Error(kInput) where its run.json is missing or damaged: half a bundle.
RecordedBundle record_bundle(Ledger& ledger, const std::filesystem::path& bundle);

}  // namespace nl::orchestrator
