#include "parsers/collector/gpu.h"

#include <cmath>
#include <limits>
#include <string_view>

namespace nl::parsers::collector_trace {
namespace {

namespace format = trace_format;
using format::Kind;
using format::MetricUse;

// "dram__bytes_read.sum\ndram__bytes_write.sum\n"
std::vector<std::string> names_of(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    if (end == std::string_view::npos) end = text.size();
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

void read_set(const char* at, const format::Head& head, GpuMetrics& metrics, Damage& damage) {
  auto record = load<format::MetricSet>(at);
  bool fits = record.length <= head.bytes - sizeof record;
  MetricSet set;
  set.use = record.use;
  set.passes = record.passes;
  if (fits) set.series.metrics = names_of({at + sizeof record, record.length});
  if (!fits || record.count == 0 || set.series.metrics.size() != record.count) {
    ++damage[{Code::kDoesNotFit, {"metric sets"}}];
    metrics.set_numbers.erase(head.id);  // what follows is not of an earlier set of this number
    return;
  }
  set.series.device = static_cast<std::int32_t>(record.device);
  set.series.interval_ns = static_cast<Ns>(std::min<std::uint64_t>(record.interval_ns, INT64_MAX));
  metrics.set_numbers[head.id] = static_cast<std::uint32_t>(metrics.sets.size());
  metrics.sets.push_back(std::move(set));
}

std::uint32_t known_set(const GpuMetrics& metrics, std::uint32_t number, MetricUse use, Damage& damage) {
  auto found = metrics.set_numbers.find(number);
  if (found != metrics.set_numbers.end() && metrics.sets[found->second].use == use) return found->second;
  ++damage[{Code::kUnknownMetrics}];
  return kNone;
}

// No metric is below zero: such a value is damage, and not measured.
template <typename Value>
Value measured(Value value, Damage& damage) {
  if (value < 0) ++damage[{Code::kBelowZero}];
  return std::isfinite(value) && value >= 0 ? value : std::numeric_limits<Value>::quiet_NaN();
}

// One window of a stage or one launch: the record, then a double for each metric of its set.
template <typename Record>
void read_count(const char* at, const format::Head& head, MetricUse use, std::vector<Counted<Record>>& counts, GpuMetrics& metrics,
                Damage& damage) {
  std::uint32_t set = known_set(metrics, head.id, use, damage);
  if (set == kNone) return;
  Counted<Record> count;
  count.set = set;
  count.record = load<Record>(at);
  std::size_t values = metrics.sets[set].series.metrics.size();
  if (values > (head.bytes - sizeof(Record)) / sizeof(double)) {
    ++damage[{Code::kDoesNotFit, {"counters"}}];
    return;
  }
  for (std::size_t i = 0; i < values; ++i) count.values.push_back(measured(load<double>(at + sizeof(Record) + i * sizeof(double)), damage));
  counts.push_back(std::move(count));
}

bool usable(const format::Sample& sample) { return sample.start_ns >= 0 && sample.start_ns < INT64_MAX / 2; }

// A sample: start (8 bytes), duration (4), then a float for each metric.
void read_samples(const char* at, const format::Head& head, GpuMetrics& metrics, Damage& damage) {
  std::uint32_t set = known_set(metrics, head.id, MetricUse::kSamples, damage);
  if (set == kNone) return;
  MetricSeries& series = metrics.sets[set].series;
  auto record = load<format::Samples>(at);
  std::size_t columns = series.metrics.size(), row_bytes = format::kSampleBytes + columns * sizeof(float);
  if (record.count > (head.bytes - sizeof record) / row_bytes) {
    ++damage[{Code::kDoesNotFit, {"samples"}}];
    return;
  }
  series.overflows += record.lost != 0;
  const char* row = at + sizeof record;
  for (std::uint32_t i = 0; i < record.count; ++i, row += row_bytes) {
    format::Sample sample{load<std::int64_t>(row), load<std::uint32_t>(row + sizeof(std::int64_t))};
    if (!usable(sample)) {
      ++damage[{Code::kImpossibleTime, {"sample"}}];
      continue;
    }
    series.start_ns.push_back(sample.start_ns);
    series.duration_ns.push_back(sample.duration_ns);
    for (std::size_t c = 0; c < columns; ++c) {
      auto value = load<float>(row + format::kSampleBytes + c * sizeof(float));
      series.values.push_back(measured(value, damage));
    }
  }
}

void read_stalls(const char* at, const format::Head& head, GpuMetrics& metrics, Damage& damage) {
  auto record = load<format::Stalls>(at);
  if (record.count > (head.bytes - sizeof record) / sizeof(format::StallCount)) {
    ++damage[{Code::kDoesNotFit, {"stalls"}}];
    return;
  }
  auto& reasons = metrics.stalls[{head.id, record.device}];
  for (std::uint32_t i = 0; i < record.count; ++i) {
    auto stall = load<format::StallCount>(at + sizeof record + i * sizeof(format::StallCount));
    reasons[stall.reason] += stall.samples;
  }
}

}  // namespace

bool read_metric_record(const char* at, const format::Head& head, GpuMetrics& metrics, Damage& damage) {
  switch (head.kind) {
    case Kind::kMetricSet: read_set(at, head, metrics, damage); return true;
    case Kind::kStageCounters: read_count(at, head, MetricUse::kStage, metrics.stages, metrics, damage); return true;
    case Kind::kKernelCounters: read_count(at, head, MetricUse::kKernel, metrics.kernels, metrics, damage); return true;
    case Kind::kSamples: read_samples(at, head, metrics, damage); return true;
    case Kind::kStallReason:
      if (auto text = read_text(at, head, damage)) metrics.stall_reasons.insert_or_assign(head.id, std::move(*text));
      return true;
    case Kind::kStalls: read_stalls(at, head, metrics, damage); return true;
    default: return false;
  }
}

}  // namespace nl::parsers::collector_trace
