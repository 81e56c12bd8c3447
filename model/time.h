#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace nl {

using Ns = std::int64_t;  // nanoseconds, of a duration or since the start of the capture

// "2026-11-15T01:02:03Z", with milliseconds where there are any
std::string utc_text(std::chrono::system_clock::time_point time);
inline std::string utc_text(std::int64_t epoch_ns) {
  return utc_text(std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::nanoseconds(epoch_ns))));
}

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
