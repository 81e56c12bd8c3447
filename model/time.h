#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace nl {

using Ns = std::int64_t;  // nanoseconds, of a duration or since the start of the capture

// "2026-11-15T01:02:03Z", with milliseconds where there are any
std::string utc_text(std::chrono::system_clock::time_point time);
inline std::string utc_text(std::int64_t epoch_ns) {
  return utc_text(std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::nanoseconds(epoch_ns))));
}

// From how many values on a percentile, by nearest rank, is another value than the longest: the 95th of 20 is the second longest, and so is
// the 99th of 100. With fewer, the longest is the figure to show.
inline constexpr std::uint64_t kLeastForP95 = 20, kLeastForP99 = 100;

struct TimeSummary {
  std::uint64_t count = 0;
  Ns total_ns = 0;
  double mean_ns = 0;
  double median_ns = 0;           // the mean of the two middle values where the count is even
  std::optional<Ns> p99_ns = {};  // nearest rank; empty: fewer than kLeastForP99 values
  Ns min_ns = 0;
  Ns max_ns = 0;
  double stddev_ns = 0;                        // n - 1; 0 for a single value
  std::optional<Ns> p90_ns = {}, p95_ns = {};  // nearest rank; empty: fewer than kLeastForP95 values, or a run until format 3.3

  // What to quote as the 99th percentile. Until format 3.3 a run has one of any number of values.
  std::optional<Ns> p99() const { return count >= kLeastForP99 ? p99_ns : std::nullopt; }
};

}  // namespace nl
