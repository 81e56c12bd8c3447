#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/trace_format.h"
#include "model/trace.h"

// Counters, samples and stalls of one file of the collector. Numbers of names and strings are the file's, times those
// of its clock; collector_trace_merge.cpp and collector_counters.cpp make a trace or a report of them.
namespace nl::parsers::collector_trace {

using Damage = DamagedRows;

struct MetricSet {
  trace_format::MetricUse use = trace_format::MetricUse::kSamples;
  std::uint32_t passes = 1;
  MetricSeries series;  // the names, and the samples where it is for these
};

struct StageCount {
  std::uint32_t set = kNone;  // index into sets
  trace_format::StageCounters record{};
  std::vector<double> values;
};

struct KernelCount {
  std::uint32_t set = kNone;
  trace_format::KernelCounters record{};
  std::vector<double> values;
};

struct GpuMetrics {
  std::vector<MetricSet> sets;
  std::unordered_map<std::uint32_t, std::uint32_t> set_numbers;  // the collector's → index
  std::vector<StageCount> stages;
  std::vector<KernelCount> kernels;
  std::unordered_map<std::uint32_t, std::string> stall_reasons;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, std::uint64_t>>
      stalls;  // (function, device) → reason → samples
};

// True where the record is one of these. `at` has head.bytes bytes, at least those of its kind.
bool read_metric_record(const char* at, const trace_format::Head& head, GpuMetrics& metrics, Damage& damage);

}  // namespace nl::parsers::collector_trace
