#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.h"

// How the GPU's counters, samples and clock are worded in every report. All of it is plain text.
namespace nl::exporters {

struct CounterRow {          // one line of the stages' counters
  std::string stage;
  std::string measured_by;   // "CUPTI", "sampled, 64 samples"
  std::string windows, duration;
  struct Value {
    MetricUnit unit;
    std::optional<double> value;
  };
  std::vector<Value> values;  // one for each of columns_of(MetricPlace::kStage)
};
std::vector<const MetricInfo*> columns_of(MetricPlace place);  // the metrics with a column
std::string column_title(const MetricInfo& metric);             // with a capital: "Occupancy %"
std::vector<CounterRow> counter_rows(const Run& run);

// What the columns mean, said above them.
inline constexpr const char* kCounterLegend =
    "Of one window on average; where it was sampled, DRAM in a second. Counters come from a pass of their own. Tensor % "
    "and occupancy % are of the cycles in which the SMs are active; sampled, of all cycles, unless capture.sampling_metrics "
    "names others.";

struct Remark {
  std::string text;          // sentences
  std::string command;       // that would mend it; empty: none
};
// What was not measured of the stages and why, or what to bear in mind. Nothing where the run saw no GPU.
std::vector<Remark> counter_remarks(const Run& run);
std::optional<Remark> activity_remark(const Run& run);  // why there are no curves

// "The times of CPU and GPU are apart by at most 1.20 µs …"; empty where there is nothing to compare.
std::string clock_text(const Run& run);

// "ncu", "CUPTI" or "ncu and CUPTI": who measured launches of these; empty: nobody.
std::string measured_by(const std::vector<KernelEntry>& kernels);

inline constexpr std::size_t kTopStalls = 3;
std::string stalls_text(const KernelEntry& kernel);  // "long_scoreboard 41 %, wait 20 %, barrier 9 %", or a dash
bool any_stalls(const std::vector<KernelEntry>& kernels);
std::uint64_t stall_samples(const KernelEntry& kernel);

std::string metric_text(MetricUnit unit, const std::optional<double>& value);  // a dash where there is none; % without its sign

// The unit of a metric as ncu names it: "%", "bytes/s", "bytes", "ns", "Hz", "1/s"; empty: a number, or not known.
const char* metric_unit(std::string_view metric);
std::string metric_text(std::string_view metric, double value);  // "12.3 %", "1.20 GB/s", "1.98 GHz"

}  // namespace nl::exporters
