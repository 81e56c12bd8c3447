#pragma once

#include <vector>

#include "analysis/ranks/tracks.h"
#include "model/trace.h"

namespace nl::analysis::ranks {

// Numbers the collectives of tracks on one clock: those of one number are one collective of a group. `kernels`: what to add to the kernels of
// a capture, by capture. By kernel.
std::vector<CollectiveCall> number_collectives(const std::vector<Track>& tracks, const std::vector<double>& residuals_ns,
                                               const std::vector<std::uint32_t>& kernels);

}  // namespace nl::analysis::ranks
