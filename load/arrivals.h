#pragma once

#include <cstddef>
#include <vector>

#include "model/load.h"

namespace nl::load {

// When each of `count` requests is due, from the start of the load: of Poisson, gamma or constant arrivals, whose rate is set. The gaps of gamma arrivals
// have the mean of the rate and, of burstiness b, 1 ÷ b of the variance of Poisson arrivals: b below 1 comes in bursts. Constant arrivals begin at 0,
// the others after their first gap. Ends before `most_ns`. The same seed gives the same times.
std::vector<Ns> arrival_times(const LoadArrivals& arrivals, std::size_t count, Ns most_ns);

}  // namespace nl::load
