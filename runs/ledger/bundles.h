#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/run.h"
#include "runs/ledger/ledger.h"

// Bundles and the ledger: what is recorded of them, how a run is found by its name, and what became of a recorded folder.
namespace nl::runs {

// The last step of run, import and profile. A ledger that cannot be written gives a note and does not fail the run.
LedgerRecord record_run(const LedgerOptions& options, const Run& run, std::string_view run_json, const std::filesystem::path& bundle);

// The same of a prediction and what came of it.
LedgerRecord record_pair(const LedgerOptions& options, const PredictionPair& pair);

// For verbs that print their result first: a ledger that keeps them waiting must not hold it back.
class LaterRecord {
 public:
  orchestrator::RecordRun keep();             // records nothing yet
  LedgerRecord record(const Run& run) const;  // what was kept, as record_run() does; nothing where nothing was
 private:
  struct Kept {
    LedgerOptions options;
    std::string run_json;
    std::filesystem::path bundle;
  };
  std::shared_ptr<std::optional<Kept>> kept_ = std::make_shared<std::optional<Kept>>();
};

struct RecordedBundle {
  std::string run_id;
  double record_ms = 0;  // without the reading of its run.json
};

// Records a bundle that was made elsewhere or earlier. Throws Error(kInput) where its run.json is missing or damaged.
RecordedBundle record_bundle(Ledger& ledger, const std::filesystem::path& bundle);

// What became of the folder of a recorded run.
enum class BundleState {
  kWhole,
  kPart,   // files of its manifest are missing
  kHalf,   // run.json or the manifest, which is written last, is missing or damaged
  kOther,  // another run's bundle lies there now
  kGone,   // or on another machine
};

std::string_view word_of(BundleState state);
BundleState bundle_state(const LedgerEntry& entry);

// Those that the manifest lists and the folder lacks, relative to it.
std::vector<std::string> missing_files(const std::filesystem::path& bundle);

// What lies in the folder and is not in the run's manifest: a file, or a folder with nothing of the run in it. Error(kInput) where the
// folder is not this run's whole bundle, or its manifest names a file outside.
std::vector<std::filesystem::path> not_of_the_run(const LedgerEntry& entry);

// Deletes what the run's manifest lists, and the folders that are empty then. Returns what it kept, as not_of_the_run() has it. Error(kInput)
// in the same cases: nothing was deleted.
std::vector<std::filesystem::path> delete_bundle(const LedgerEntry& entry);

}  // namespace nl::runs
