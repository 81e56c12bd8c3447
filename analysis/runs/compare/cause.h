#pragma once

#include "model/comparison.h"

namespace nl::analysis {

// Two comparisons of the same sides: how long they take, of unprofiled runs, and where the time goes, of profiled ones. Verdict, stages and
// headline are those of the first; what only a profile knows comes from the second.
Comparison with_cause(Comparison times, const Comparison& cause);

}  // namespace nl::analysis
