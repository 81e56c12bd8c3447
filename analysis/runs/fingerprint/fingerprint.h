#pragma once

#include <optional>

#include "model/fingerprint.h"
#include "model/run.h"

namespace nl::analysis {

// The items are operators where the run has each of them with its times, else kernels; or of the kind that is asked for, which may
// have no items. `peaks` replace the run's own.
Fingerprint make_fingerprint(const Run& run, std::optional<FingerprintKind> kind = {}, const DevicePeaks* peaks = nullptr);

// How alike two fingerprints are, from 0 to 1; a and b may change places. Items are paired by stage and signature; the items of a stage
// that are left over are paired by type, in the order of the step. Each pair adds its cosine (or, without counters and of other shapes,
// the ratio of its times), weighted by its share of the time. An item
// without a partner adds nothing. Two empty fingerprints are alike (1), an empty one and another are not (0).
FingerprintMatch similarity(const Fingerprint& a, const Fingerprint& b);

}  // namespace nl::analysis
