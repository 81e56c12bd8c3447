#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "model/error.h"
#include "model/run.h"
#include "orchestrator/config/config.h"
#include "orchestrator/run.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {

// How run, import and profile end. A ledger that cannot be written is a note, never a failed run.
LedgerRecord record_run(const LedgerOptions& options, const Run& run, std::string_view run_json, const std::filesystem::path& bundle);

class Ledger;

struct RecordedBundle {
  std::string run_id;
  double record_ms = 0;  // without the reading of its run.json
};

// A bundle that was made elsewhere or before. Throws Error(kInput) where its run.json is missing or damaged: half a bundle.
RecordedBundle record_bundle(Ledger& ledger, const std::filesystem::path& bundle);

}  // namespace nl::runs
