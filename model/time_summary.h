#pragma once

#include <cstdint>

#include "model/time.h"

namespace nl {

struct TimeSummary {
  std::uint64_t count = 0;
  Ns total_ns = 0;
  double mean_ns = 0;
  double median_ns = 0;  // the mean of the two middle values where the count is even
  Ns p99_ns = 0;         // nearest rank
  Ns min_ns = 0;
  Ns max_ns = 0;
  double stddev_ns = 0;  // n - 1; 0 for a single value
};

}  // namespace nl
