#pragma once

#include <filesystem>
#include <vector>

#include "model/counters.h"

namespace nl::parsers {

// The files that the injected collector wrote in a counter pass, one per process. Times are since the earliest of them
// was made. A metric that could not be measured is absent. A bad header is an Error, a bad record is counted.
//
// A kernel is measured by two sets: one in place on one launch, one by replaying a later launch of the same shape. Both
// are one launch here, with the name, time and ranges of the first. Where both sets have a metric, the one that
// took fewer runs of the kernel counts; and replays leave the caches warm, so that what they say of DRAM is left
// out where the launch was also measured in place.
CounterReport read_collector_counters(const std::vector<std::filesystem::path>& files);

}  // namespace nl::parsers
