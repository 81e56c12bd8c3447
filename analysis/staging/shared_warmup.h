#pragma once

#include <cstddef>

#include "analysis/staging/iterations.h"

namespace nl::analysis {

// Ranks warm up together: while one compiles, the others wait for it in their collectives. An iteration that has its middle before the end of the
// last warm-up iteration of a rank with which its process shares collectives is warm-up too. No thread has more of them than that rank's, or more
// than half. Returns how many became it.
std::size_t share_warmup(const Trace& trace, IterationPlan& plan);

}  // namespace nl::analysis
