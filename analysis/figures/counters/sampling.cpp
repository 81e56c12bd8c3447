#include "analysis/figures/counters/sampling.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/figures/counters/metric_values.h"
#include "analysis/trace/covered_time.h"
#include "model/metric_series.h"

namespace nl::analysis {
namespace {

// How much of a stretch of time lies in the spans, for stretches whose starts never go back.
class Overlap {
 public:
  explicit Overlap(Spans spans) : spans_(std::move(spans)), before_(spans_.size() + 1) {
    for (std::size_t i = 0; i < spans_.size(); ++i) before_[i + 1] = before_[i] + (spans_[i].second - spans_[i].first);
  }
  Ns of(Ns start_ns, Ns end_ns) {
    while (first_ < spans_.size() && spans_[first_].second <= start_ns) ++first_;
    if (first_ == spans_.size() || spans_[first_].first >= end_ns) return 0;
    const auto past = std::lower_bound(spans_.begin() + static_cast<std::ptrdiff_t>(first_), spans_.end(), end_ns,
                                       [](const auto& span, Ns time_ns) { return span.first < time_ns; });
    const auto last = static_cast<std::size_t>(past - spans_.begin()) - 1;  // it begins before the end
    const Ns cut_front = std::max(Ns{0}, start_ns - spans_[first_].first);
    const Ns cut_back = std::max(Ns{0}, spans_[last].second - end_ns);
    return before_[last + 1] - before_[first_] - cut_front - cut_back;
  }
  void rewind() { first_ = 0; }

 private:
  Spans spans_;
  std::vector<Ns> before_;  // length of all spans before one
  std::size_t first_ = 0;
};

constexpr std::string_view kTotalRate = ".sum.per_second";
constexpr const char* kDramRead = "dram__bytes_read.sum.per_second";
constexpr const char* kDramWritten = "dram__bytes_write.sum.per_second";

struct Mean {
  double sum = 0, weight_ns = 0;
  void add(double value, Ns length_ns) {
    sum += value * static_cast<double>(length_ns);
    weight_ns += static_cast<double>(length_ns);
  }
  void add(const Mean& other) { sum += other.sum, weight_ns += other.weight_ns; }
  std::optional<double> value() const { return weight_ns > 0 ? std::optional(sum / weight_ns) : std::nullopt; }
};

class StageSamples {
 public:
  explicit StageSamples(Spans spans) : overlap_(union_of(std::move(spans))) {}

  void add(const MetricSeries& series) {
    overlap_.rewind();
    const std::size_t columns = series.metrics.size();
    std::vector<SampledMetric> shown;
    std::vector<Mean> means(columns);
    for (const std::string& metric : series.metrics) shown.emplace_back(metric);
    for (std::size_t row = 0; row < series.start_ns.size(); ++row) {
      const Ns length_ns = series.duration_ns[row];
      const Ns part_ns = overlap_.of(series.start_ns[row], series.start_ns[row] + length_ns);
      if (part_ns <= 0) continue;
      ++samples_;
      for (std::size_t i = 0; i < columns; ++i)
        if (const auto value = shown[i].value(series, row, i)) means[i].add(*value, part_ns);
    }
    for (std::size_t i = 0; i < columns; ++i) means_[shown[i].name][series.device].add(means[i]);
  }

  std::optional<StageSampling> result() const {
    if (samples_ == 0) return std::nullopt;
    StageSampling sampling;
    sampling.samples = samples_;
    for (const auto& [metric, by_device] : means_)
      if (const auto value = metric.ends_with(kTotalRate) ? total_of(by_device) : mean_of(by_device)) sampling.metrics[metric] = *value;
    sampling.dram_use = dram_use();
    return sampling;
  }

 private:
  using ByDevice = std::map<std::int32_t, Mean>;

  static std::optional<double> mean_of(const ByDevice& by_device) {
    Mean all;
    for (const auto& [device, mean] : by_device) all.add(mean);
    return all.value();
  }

  static std::optional<double> total_of(const ByDevice& by_device) {
    std::optional<double> total;
    for (const auto& [device, mean] : by_device)
      if (const auto value = mean.value()) total = total.value_or(0) + *value;
    return total;
  }

  std::optional<double> rate_on(std::int32_t device, const char* metric) const {
    const auto found = means_.find(metric);
    if (found == means_.end()) return std::nullopt;
    const auto mean = found->second.find(device);
    return mean == found->second.end() ? std::nullopt : mean->second.value();
  }

  // The DRAM traffic per second of each GPU that has both directions.
  std::vector<DramUse> dram_use() const {
    std::vector<DramUse> uses;
    const auto read = means_.find(kDramRead);
    if (read == means_.end()) return uses;
    for (const auto& [device, mean] : read->second) {
      const auto read_rate = mean.value(), write_rate = rate_on(device, kDramWritten);
      if (read_rate && write_rate) uses.push_back({device, *read_rate + *write_rate, 1e9});
    }
    return uses;
  }

  Overlap overlap_;
  std::map<std::string, ByDevice> means_;
  std::uint64_t samples_ = 0;
};

// The GPUs with work in the stage's windows; all where that is not known.
bool used_by(const StageEntry& stage, std::int32_t device, const Trace& trace) {
  const auto busy = [&](std::int32_t id) {
    return std::any_of(stage.devices.begin(), stage.devices.end(),
                       [&](const StageDevice& each) { return each.device == id && each.busy_ns > 0; });
  };
  const bool known =
      std::any_of(trace.metric_series.begin(), trace.metric_series.end(), [&](const auto& series) { return busy(series.device); });
  return !known || busy(device);
}

// A metric as a mean over time, see SampledMetric, and its title.
constexpr std::pair<const char*, const char*> kCurves[] = {
    {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "SM active"},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "tensor pipe active"},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "tensor pipe active, of the SMs' active cycles"},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM throughput"},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM throughput"},
    {kDramRead, "DRAM read"},
    {kDramWritten, "DRAM written"},
    {"sm__warps_active.avg.pct_of_peak_sustained_elapsed", "warps on the SMs"},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "warps on the SMs, while active"},
    {"gpc__cycles_elapsed.avg.per_second", "clock"},
};

struct Extent {
  Ns start_ns = 0, end_ns = 0, interval_ns = 1;
  Ns step_ns() const {
    const auto most = static_cast<Ns>(kMostCurveValues);
    return std::max(interval_ns, (end_ns - start_ns + most - 1) / most);
  }
};

std::optional<Extent> extent_of(const Trace& trace) {
  std::optional<Extent> all;
  for (const MetricSeries& series : trace.metric_series) {
    if (series.start_ns.empty()) continue;
    Ns end_ns = 0;
    for (std::size_t i = 0; i < series.start_ns.size(); ++i) end_ns = std::max(end_ns, series.start_ns[i] + Ns{series.duration_ns[i]});
    if (!all) all = Extent{series.start_ns.front(), end_ns, 1};
    all->start_ns = std::min(all->start_ns, series.start_ns.front());
    all->end_ns = std::max(all->end_ns, end_ns);
    all->interval_ns = std::max(all->interval_ns, series.interval_ns);
  }
  if (all) all->interval_ns = std::clamp(all->interval_ns, Ns{1}, std::max(Ns{1}, all->end_ns - all->start_ns));
  return all;
}

// Each value is the mean of the samples in its step, by how much of them lies there.
std::vector<std::optional<double>> curve_of(const MetricSeries& series, std::size_t column, const SampledMetric& shown,
                                            const Extent& extent) {
  const Ns step_ns = extent.step_ns();
  std::vector<Mean> steps(static_cast<std::size_t>((extent.end_ns - extent.start_ns + step_ns - 1) / step_ns));
  for (std::size_t row = 0; row < series.start_ns.size(); ++row) {
    const auto height = shown.value(series, row, column);
    if (!height) continue;
    const Ns from_ns = series.start_ns[row] - extent.start_ns, to_ns = from_ns + Ns{series.duration_ns[row]};
    for (Ns at_ns = from_ns; at_ns < to_ns;) {
      const Ns next_ns = std::min(to_ns, (at_ns / step_ns + 1) * step_ns);
      steps[static_cast<std::size_t>(at_ns / step_ns)].add(*height, next_ns - at_ns);
      at_ns = next_ns;
    }
  }
  std::vector<std::optional<double>> values;
  for (const Mean& step : steps) values.push_back(step.value());
  return values;
}

void add_curves(const MetricSeries& series, const Extent& extent, std::vector<ActivityCurve>& curves) {
  for (const auto& [metric, title] : kCurves)
    for (std::size_t i = 0; i < series.metrics.size(); ++i) {
      const SampledMetric shown(series.metrics[i]);
      if (shown.name != metric) continue;
      curves.push_back({series.device, shown.name, title, extent.start_ns, extent.step_ns(), curve_of(series, i, shown, extent)});
    }
}

constexpr std::string_view kPrefix = "smsp__pcsamp_warps_issue_stalled_";
constexpr std::string_view kNotIssued = "_not_issued";

// CUPTI counts the samples of "…_not_issued" under the reason itself too.
std::vector<StallShare> shares_of(const std::map<std::string, std::uint64_t>& reasons) {
  std::vector<StallShare> shares;
  double total = 0;
  for (const auto& [name, samples] : reasons) {
    std::string_view reason = name;
    if (samples == 0 || !reason.starts_with(kPrefix) || reason.ends_with(kNotIssued)) continue;
    reason.remove_prefix(kPrefix.size());
    shares.push_back({std::string(reason), samples, 0});
    total += static_cast<double>(samples);
  }
  for (StallShare& each : shares) each.share = static_cast<double>(each.samples) / total;
  std::sort(shares.begin(), shares.end(),
            [](const StallShare& a, const StallShare& b) { return a.samples != b.samples ? a.samples > b.samples : a.reason < b.reason; });
  return shares;
}

}  // namespace

std::vector<std::optional<StageSampling>> stage_sampling(const StagedTrace& staged, const std::vector<StageEntry>& stages) {
  std::vector<std::optional<StageSampling>> sampled(stages.size());
  if (!extent_of(staged.trace)) return sampled;
  std::vector<Spans> spans(staged.table.stages().size());
  for (const Window& window : staged.windows)
    if (window.stage != kNone && !window.warmup && window.end_ns > window.start_ns)
      spans[window.stage].emplace_back(window.start_ns, window.end_ns);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const std::uint32_t id = staged.table.find(stages[i].name);
    if (id == kNone) continue;
    StageSamples samples(std::move(spans[id]));
    for (const MetricSeries& series : staged.trace.metric_series)
      if (used_by(stages[i], series.device, staged.trace)) samples.add(series);
    sampled[i] = samples.result();
    if (sampled[i]) sampled[i]->values = metric_values(MetricPlace::kSampled, sampled[i]->metrics);
  }
  return sampled;
}

std::vector<ActivityCurve> activity_curves(const Trace& trace) {
  std::vector<ActivityCurve> curves;
  if (const auto extent = extent_of(trace))
    for (const MetricSeries& series : trace.metric_series) add_curves(series, *extent, curves);
  return curves;
}

bool add_stalls(const Trace& trace, std::vector<KernelEntry>& kernels) {
  bool any = false;
  std::map<std::pair<std::string_view, std::int32_t>, const StallSample*> sampled;
  for (const StallSample& each : trace.stalls) sampled.emplace(std::pair(std::string_view(each.kernel), each.device), &each);
  for (KernelEntry& kernel : kernels) {
    const auto found = sampled.find(std::pair(std::string_view(kernel.symbol()), kernel.device));
    if (found == sampled.end()) continue;
    kernel.stalls = shares_of(found->second->reasons);
    any = true;
  }
  return any;
}

}  // namespace nl::analysis
