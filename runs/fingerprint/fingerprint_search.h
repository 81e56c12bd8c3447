#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runs/fingerprint/fingerprint.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {

struct NearRun {
  std::string run_id, created_at, name, model, hardware;
  double similarity = 0;
};

struct NearestRuns {
  Fingerprint of;
  std::vector<NearRun> runs;  // the most alike first
  std::size_t searched = 0;   // runs of the ledger that have such a fingerprint, this one left out
  std::size_t without = 0;    // that have none
};

// The runs of a ledger that are most like this one. Fingerprints are kept in the ledger once they are made.
NearestRuns nearest_runs(const FingerprintRequest& request, std::size_t count);

}  // namespace nl::runs
