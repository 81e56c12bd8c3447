#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/time.h"

// What the GPU was doing, sampled over time. Metrics have the names that ncu gives them.
namespace nl {

// Samples of one GPU at regular intervals, row after row.
struct MetricSeries {
  std::int32_t device = 0;
  Ns interval_ns = 0;  // as asked for
  std::vector<std::string> metrics;
  std::vector<Ns> start_ns;  // since the start of the capture
  std::vector<std::uint32_t> duration_ns;
  std::vector<float> values;    // start_ns.size() × metrics.size(); NaN: not measured
  std::uint64_t overflows = 0;  // how often samples were lost
};

// Where warps of a kernel waited, by samples of their program counters.
struct StallSample {
  std::string kernel;  // mangled
  std::int32_t device = 0;
  std::map<std::string, std::uint64_t> reasons;  // CUPTI's name of the reason → samples
};

}  // namespace nl
