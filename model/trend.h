#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/run_metrics.h"

// A metric over the runs of a ledger.
namespace nl {

enum class TrendBy : std::uint8_t { kDate, kCommit };  // a point is a run, or the median of a commit's runs

struct TrendPoint {
  std::string run_id;      // of a commit: its newest run
  std::string created_at;  // of a commit: of its oldest run
  std::string revision;    // empty: not known
  double value = 0;
  std::uint64_t runs = 1;
};

struct TrendLevel {                 // points between two changes
  std::size_t first = 0, last = 0;  // last is one past it
  double median = 0;
  double low = 0, high = 0;  // what is to be expected of the next run: outside of it is an anomaly
};

// With fewer points no change can be found: it has half of them on each side.
inline constexpr std::size_t kLeastPointsOfChange = 6;

// Runs that can be compared: of one hardware and one workload.
struct TrendSeries {
  std::string hardware, model, precision;
  std::string workload, workload_text;  // identity_key() and identity_text(); empty: not known
  std::vector<TrendPoint> points;       // in the order of time
  std::vector<TrendLevel> levels;       // a change is where one ends and the next begins
  std::vector<std::size_t> anomalies;   // points that their level does not explain
  bool program_known = true;            // false: a run of it has no command, so that other programs may be among them
};

struct Trend {
  std::string metric;
  const RunMetricInfo* info = nullptr;  // unit, and which way is better; null: not known
  TrendBy by = TrendBy::kDate;
  double min_effect = 0;            // smaller differences do not count as a change
  std::vector<TrendSeries> series;  // those with the most points first
};

}  // namespace nl
