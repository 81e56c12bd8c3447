#pragma once

#include <optional>
#include <string>

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
// Of the same kind: kernels where one of them has no operators.
FingerprintComparison compare_fingerprints(const FingerprintRequest& request, const std::string& other);

}  // namespace nl::runs
