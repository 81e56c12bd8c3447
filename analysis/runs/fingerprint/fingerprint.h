#pragma once

#include <optional>

#include "model/fingerprint.h"
#include "model/run.h"

namespace nl::analysis {

// Operators where the run has them one by one with their times, else kernels; or the kind that is asked for, which may have no
// items. `peaks`: instead of the run's own.
Fingerprint make_fingerprint(const Run& run, std::optional<FingerprintKind> kind = {}, const DevicePeaks* peaks = nullptr);

}  // namespace nl::analysis
