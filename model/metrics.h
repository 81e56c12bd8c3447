#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

// The one table of the counter metrics that have a name of their own: how run.json, the reports and the rules call each, and which
// counter gives it. A new one is a value of Metric and its rows in metrics.cpp; files, columns, rule fields and schema
// loop over the table.
namespace nl {

enum class Metric : std::uint8_t {
  kSm,         // the SMs' throughput, of its peak
  kSmActive,   // cycles with a warp on the SMs
  kTensor,     // cycles of the tensor pipe
  kOccupancy,  // warps on the SMs, of the most
  kDram,       // the memory's throughput, of its peak
  kL2,         // the L2 cache's throughput, of its peak
  kDramBytes,  // read and written
  kDramRead,
  kDramWritten,
  kL2Bytes,
  kCount_,
};

// What a value is of: one launch (counted by ncu or CUPTI), the windows of a stage (counted by CUPTI), or samples during these windows.
enum class MetricPlace : std::uint8_t { kLaunch, kStage, kSampled };

enum class MetricUnit : std::uint8_t {
  kNone,
  kPercent,
  kBytes,
  kBytesPerSecond,
  kHertz,
  kPerSecond,
  kNanoseconds,
  kWatts,
  kMegahertz,
  kCelsius,
  kJoules,
};
MetricUnit unit_of(std::string_view counter);  // of any counter of ncu, by its name

struct MetricInfo {
  MetricPlace place;
  Metric metric;
  std::string_view key;    // in run.json: "tensor_pct"
  std::string_view title;  // of its column: "tensor pipe %"; empty: no column
  MetricUnit unit;
  std::string_view rule_field;          // in rules: "tensor_use", a percentage as a share; empty: none
  std::string_view help;                // what it is, for the schema and docs/rules.md
  std::array<const char*, 3> counters;  // the first that was measured; none: derived from others, see analysis/counters
};

// The metrics of a place, in the order of files and columns.
std::span<const MetricInfo> metrics_of(MetricPlace place);
// The row of a metric at this place, which must have that metric.
const MetricInfo& info_of(MetricPlace place, Metric metric);

// The values of a launch or a stage; empty: not measured.
class MetricValues {
 public:
  std::optional<double>& operator[](Metric metric) { return values_[static_cast<std::size_t>(metric)]; }
  const std::optional<double>& operator[](Metric metric) const { return values_[static_cast<std::size_t>(metric)]; }

 private:
  std::array<std::optional<double>, static_cast<std::size_t>(Metric::kCount_)> values_;
};

}  // namespace nl
