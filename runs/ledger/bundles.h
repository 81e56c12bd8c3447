#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "orchestrator/run.h"
#include "runs/ledger/ledger.h"

// Bundles and the ledger: what is recorded of them, how a run is found by its name, and what became of a recorded folder.
namespace nl::runs {

// The last step of run, import and profile. A ledger that cannot be written gives a note and does not fail the run.
LedgerRecord record_run(const LedgerOptions& options, const Run& run, std::string_view run_json, const std::filesystem::path& bundle);

struct RecordedBundle {
  std::string run_id;
  double record_ms = 0;  // without the reading of its run.json
};

// Records a bundle that was made elsewhere or earlier. Throws Error(kInput) where its run.json is missing or damaged.
RecordedBundle record_bundle(Ledger& ledger, const std::filesystem::path& bundle);

// A bundle's folder, a run.json, or a run as the ledger names it (`nl-stage ls`); `ledger`: its location, empty: the default one. Throws
// Error(kInput) where the name is nothing of that.
Run named_run(const std::string& name, const std::string& ledger = {});

// What became of the folder of a recorded run.
enum class BundleState {
  kWhole,
  kHalf,   // run.json or the manifest, which is written last, is missing or damaged
  kOther,  // another run's bundle lies there now
  kGone,   // or on another machine
};

std::string_view word_of(BundleState state);
BundleState bundle_state(const LedgerEntry& entry);

// Deletes the folder. Error(kInput) where it is not this run's whole bundle: nothing else is deleted.
void delete_bundle(const LedgerEntry& entry);

}  // namespace nl::runs
