#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/fingerprint.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {

struct FingerprintRequest {
  std::string run;                      // a bundle, its run.json, or a name of the ledger
  std::string peaks;                    // a file as conf/device has them; empty: the run's own
  std::optional<FingerprintKind> kind;  // empty: operators where there are any
  std::string ledger = {};              // its location; empty: the default one
};

Fingerprint fingerprint_of(const FingerprintRequest& request);

struct FingerprintComparison {
  Fingerprint a, b;
  FingerprintMatch match;
};
// Both fingerprints are of the same kind: kernels where one run has no operators.
FingerprintComparison compare_fingerprints(const FingerprintRequest& request, const std::string& other);

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
