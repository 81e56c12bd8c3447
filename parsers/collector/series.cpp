#include "parsers/collector/merge.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "parsers/nsys/strings.h"

namespace nl::parsers::collector_trace {
namespace {

template <typename T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

bool alike(const MetricSeries& a, const MetricSeries& b) {
  return a.device == b.device && a.interval_ns == b.interval_ns && a.metrics == b.metrics;
}

// Where several processes sampled one GPU; what one of them wrote is in order already.
void sort_by_start(MetricSeries& series) {
  if (std::is_sorted(series.start_ns.begin(), series.start_ns.end())) return;
  std::vector<std::uint32_t> order(series.start_ns.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return series.start_ns[a] < series.start_ns[b]; });
  MetricSeries sorted;
  std::size_t columns = series.metrics.size();
  sorted.start_ns.reserve(order.size());
  sorted.duration_ns.reserve(order.size());
  sorted.values.reserve(series.values.size());
  for (std::uint32_t row : order) {
    sorted.start_ns.push_back(series.start_ns[row]);
    sorted.duration_ns.push_back(series.duration_ns[row]);
    auto values = series.values.begin() + static_cast<std::ptrdiff_t>(row * columns);
    sorted.values.insert(sorted.values.end(), values, values + static_cast<std::ptrdiff_t>(columns));
  }
  series.start_ns = std::move(sorted.start_ns);
  series.duration_ns = std::move(sorted.duration_ns);
  series.values = std::move(sorted.values);
}

}  // namespace

void add_series(GpuMetrics& metrics, Ns origin_ns, Trace& trace) {
  for (MetricSet& set : metrics.sets) {
    MetricSeries& series = set.series;
    if (set.use != trace_format::MetricUse::kSamples) ++trace.stats.rows_read["counter sets"];  // the file is of a counter pass
    if (set.use != trace_format::MetricUse::kSamples || (series.start_ns.empty() && series.overflows == 0)) continue;
    for (std::string& metric : series.metrics) metric = as_utf8(metric);
    for (Ns& start_ns : series.start_ns) start_ns -= origin_ns;
    trace.stats.rows_read["GPU samples"] += series.start_ns.size();
    auto known =
        std::find_if(trace.metric_series.begin(), trace.metric_series.end(), [&](const MetricSeries& s) { return alike(s, series); });
    if (known == trace.metric_series.end()) {
      trace.metric_series.push_back(std::move(series));
      continue;
    }
    append(known->start_ns, series.start_ns);
    append(known->duration_ns, series.duration_ns);
    append(known->values, series.values);
    known->overflows += series.overflows;
    series = {};
  }
}

void add_stalls(const GpuData& gpu, Trace& trace) {
  for (const auto& [place, reasons] : gpu.metrics.stalls) {
    auto name = gpu.names.find(place.first);
    if (name == gpu.names.end()) {
      ++trace.stats.rows_damaged[{Code::kPartLost, {"stalls of a function", "name"}}];
      continue;
    }
    auto device = static_cast<std::int32_t>(place.second);
    std::string kernel = as_utf8(name->second);
    auto known = std::find_if(trace.stalls.begin(), trace.stalls.end(),
                              [&](const StallSample& s) { return s.kernel == kernel && s.device == device; });
    if (known == trace.stalls.end()) known = trace.stalls.insert(known, {std::move(kernel), device, {}});
    for (const auto& [reason, samples] : reasons) {
      auto text = gpu.metrics.stall_reasons.find(reason);
      if (text == gpu.metrics.stall_reasons.end()) ++trace.stats.rows_damaged[{Code::kPartLost, {"stall reason", "name"}}];
      else known->reasons[as_utf8(text->second)] += samples;
    }
    trace.stats.rows_read["functions with sampled stalls"] = trace.stalls.size();
  }
}

void finish_series(Trace& trace) {
  for (MetricSeries& series : trace.metric_series) {
    sort_by_start(series);
    if (series.overflows > 0)
      trace.stats.notes.push_back(
          {Code::kSamplesLost,
           {std::to_string(series.device), fmt::format("{} time{}", series.overflows, series.overflows == 1 ? "" : "s")}});
  }
  std::stable_sort(trace.metric_series.begin(), trace.metric_series.end(),
                   [](const MetricSeries& a, const MetricSeries& b) { return a.device < b.device; });
  std::sort(trace.stalls.begin(), trace.stalls.end(),
            [](const StallSample& a, const StallSample& b) { return std::tie(a.kernel, a.device) < std::tie(b.kernel, b.device); });
}

}  // namespace nl::parsers::collector_trace
