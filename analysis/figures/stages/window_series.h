#pragma once

#include <utility>
#include <vector>

#include "analysis/figures/energy/energy.h"
#include "model/stage.h"

namespace nl::analysis {

// Windows as start and length, in any order. At most kMaxListedWindows values; where there are more windows, each is the median of
// several that follow each other, and what is left over at the end is dropped: every value stands for as many.
WindowSeries window_series(std::vector<std::pair<Ns, Ns>> windows);

// Takes the windows out of the stages' series that a reading of a slowed GPU falls into. A reading holds until the next one.
void leave_out_throttled(const SampledPass& traced, std::vector<StageEntry>& stages);

}  // namespace nl::analysis
