#pragma once

#include "model/fingerprint.h"

namespace nl::analysis {

// Items are paired by stage and signature, and what is left of a stage by type in the order of the step, so that the pairs are as
// alike as they can be. The similarity is the cosine of each pair, by the share of the time that it takes; what has no partner adds
// nothing. The same from either side. Nothing compared with nothing is 1, with something 0.
FingerprintMatch similarity(const Fingerprint& a, const Fingerprint& b);

}  // namespace nl::analysis
