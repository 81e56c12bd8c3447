#pragma once

#include <vector>

#include "model/durations.h"
#include "model/run.h"

namespace nl::analysis {

// Exact, as nsys computes them. Reorders `values`.
TimeSummary summarise_times(std::vector<Ns>& values);
TimeSummary summarise_times(const Durations& durations);

}  // namespace nl::analysis
