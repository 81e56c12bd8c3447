#pragma once

#include <string_view>

#include "runs/ledger/ledger.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {

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
