#include "analysis/figures/counters/join_counters.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/figures/counters/metric_values.h"
#include "analysis/figures/counters/ncu_match.h"
#include "collector/counters/peer_kernels.h"
#include "model/metric_series.h"
#include "model/words.h"
#include "nvtx/names.h"

namespace nl::analysis {
namespace {

constexpr const char* kDuration = "gpu__time_duration.sum";
constexpr const char* kActiveCycles = "sm__cycles_active.avg";

std::optional<double> value_of(const WindowCounters& window, const char* metric) { return first_metric(window.metrics, {metric}); }

// The weight of one window in the mean of a percentage.
double weight_of(const WindowCounters& window, bool by_active_cycles) {
  if (by_active_cycles) return value_of(window, kActiveCycles).value_or(0);
  if (const auto duration = value_of(window, kDuration)) return *duration;
  return static_cast<double>(window.end_ns - window.start_ns);
}

using Windows = std::vector<const WindowCounters*>;

// GPUs count one window each: of a window's sum all of them are part, of its duration each is one.
double distinct_windows(const Windows& windows) {
  std::map<std::int32_t, std::uint64_t> by_device;
  std::uint64_t most = 0;
  for (const WindowCounters* window : windows) most = std::max(most, by_device[window->device] += window->windows);
  return static_cast<double>(most);
}

double total_windows(const Windows& windows) {
  double total = 0;
  for (const WindowCounters* window : windows) total += static_cast<double>(window->windows);
  return total;
}

std::optional<double> mean_of(const Windows& windows, const std::string& metric) {
  const bool by_active_cycles = of_active_cycles(metric) && std::all_of(windows.begin(), windows.end(), [](const WindowCounters* window) {
                                  return window->metrics.contains(kActiveCycles);
                                });
  double sum = 0, weights = 0, plain = 0, count = 0;
  for (const WindowCounters* window : windows) {
    const auto found = window->metrics.find(metric);
    if (found == window->metrics.end()) continue;
    const double weight = weight_of(*window, by_active_cycles);
    sum += weight * found->second;
    weights += weight;
    plain += found->second;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return weights > 0 ? sum / weights : plain / count;
}

// Of one window. A metric that some windows lack is taken from those that have it.
std::optional<double> sum_of(const Windows& windows, const std::string& metric) {
  Windows having;
  double sum = 0;
  for (const WindowCounters* window : windows) {
    const auto found = window->metrics.find(metric);
    if (found == window->metrics.end()) continue;
    sum += found->second;
    having.push_back(window);
  }
  if (having.empty()) return std::nullopt;
  const bool of_time = metric == kDuration || metric.find("cycles_") != std::string::npos;
  return sum / (of_time ? total_windows(having) : distinct_windows(having));
}

// Over the windows that have all it takes.
std::vector<DramUse> dram_use(const Windows& windows) {
  std::map<std::int32_t, DramUse> by_device;
  for (const WindowCounters* window : windows) {
    const auto moved = dram_bytes_of(window->metrics);
    const auto duration = value_of(*window, kDuration);
    if (!moved || !duration) continue;
    DramUse& use = by_device[window->device];
    use.device = window->device;
    use.bytes += *moved;
    use.duration_ns += *duration;
  }
  std::vector<DramUse> uses;
  for (const auto& [device, use] : by_device) uses.push_back(use);
  return uses;
}

StageCounters combine(const Windows& windows) {
  StageCounters counters;
  counters.measured_by = Meter::kCupti;
  counters.windows = static_cast<std::uint64_t>(distinct_windows(windows));
  std::set<std::string> names;
  for (const WindowCounters* window : windows)
    for (const auto& [metric, value] : window->metrics) names.insert(metric);
  for (const std::string& metric : names)
    if (const auto value = adds_up(metric) ? sum_of(windows, metric) : mean_of(windows, metric)) counters.metrics[metric] = *value;
  counters.duration_ns = first_metric(counters.metrics, {kDuration});
  counters.values = metric_values(MetricPlace::kStage, counters.metrics);
  counters.dram_use = dram_use(windows);
  return counters;
}

// Without warm-up, where more than that was measured.
StageCounters counters_of(const StageEntry& stage, const Windows& all) {
  Windows measured;
  for (const WindowCounters* window : all)
    if (window->first >= stage.warmup_windows || window->windows > stage.warmup_windows - window->first) measured.push_back(window);
  StageCounters counters = combine(measured.empty() ? all : measured);
  const auto early = [&](const WindowCounters* window) { return window->first < stage.warmup_windows; };
  if (measured.empty()) counters.note = "only warm-up windows were measured";
  else if (std::any_of(measured.begin(), measured.end(), early)) counters.note = "warm-up windows were measured together with later ones";
  return counters;
}

class CounterJoin {
 public:
  CounterJoin(const Evidence& evidence, CounterFigures figures) : evidence_(evidence), out_(std::move(figures)) {}

  CounterFigures join() {
    if (!evidence_.ncu.empty()) join_ncu(merged(evidence_.ncu));
    if (out_.ncu_rows_damaged.contains({Code::kHeaderCut}))
      out_.problems.push_back(problem_of(Remark{Code::kCountersCut, {"it ends inside the header of its table"}}));
    bool empty = !evidence_.counters.empty();
    for (const CounterReport& report : evidence_.counters) {
      join_cupti(report);
      empty = empty && report.windows.empty() && report.kernels.launches.empty();
    }
    if (empty && imported()) note_empty();
    note_unmeasured();
    return std::move(out_);
  }

 private:
  bool imported() const { return evidence_.tracer == Tracer::kImport; }

  void join_ncu(const NcuReport& report) {
    if (out_.kernels || !imported()) return match(report, Meter::kNcu);
    add_damage(out_.ncu_rows_damaged, report.rows_damaged);
    out_.kernels = ncu_kernels(report);
    out_.kernels_note.reset();
    out_.import_stats.notes.push_back({Code::kNcuAlone});
  }

  void join_cupti(const CounterReport& report) {
    std::vector<Remark>& notes = out_.import_stats.notes;
    for (const Remark& note : report.notes) add_once(notes, note);
    add_damage(out_.import_stats.rows_damaged, report.rows_damaged, "counters");
    for (Remark& note : add_stage_counters(report, out_.stages)) notes.push_back(std::move(note));
    if (!report.windows.empty()) measured_by(Meter::kCupti);
    if (!report.kernels.launches.empty()) match(report.kernels, Meter::kCupti);
    for (const Remark& note : report.notes)
      if (is_one_of(note.code, kCaptureIncomplete)) notes.push_back(note);
  }

  void match(const NcuReport& report, Meter meter) {
    const std::string name(key_of(meter));
    std::vector<KernelEntry> none;
    add_damage(out_.ncu_rows_damaged, report.rows_damaged);
    const NcuMatch match = match_ncu(report, evidence_.trace, out_.kernels ? *out_.kernels : none, meter);
    if (match.matched > 0) measured_by(meter);
    const std::string first = match.unmatched_launches.empty() ? "" : match.unmatched_launches[0];
    if (match.matched == 0 && out_.kernels && imported())
      out_.problems.push_back(
          problem_of(Remark{Code::kCountersUnmatched, {name, first.empty() ? ": its files hold no launch" : ". The first is " + first}}));
    else if (!first.empty())
      out_.import_stats.notes.push_back({Code::kLaunchesUnmatched, {std::to_string(match.unmatched_launches.size()), name, first}});
  }

  // What is imported was captured elsewhere, by whatever.
  void measured_by(Meter meter) {
    if (!imported()) out_.meter = meter;
  }

  void note_empty() {
    const Remark* trouble = find_first(evidence_.counters[0].notes, kCounterTroubles);
    const std::string words = trouble != nullptr ? ": " + text_of(*trouble) : "";
    out_.problems.push_back(problem_of(Remark{Code::kCountersEmpty, {words.ends_with('.') ? words.substr(0, words.size() - 1) : words}}));
  }

  // Every chosen kernel without counters says why.
  void note_unmeasured() {
    if (!out_.kernels) return;
    for (KernelEntry& kernel : *out_.kernels) {
      if (!kernel.selected || !kernel.ncu.empty()) continue;
      const auto never = evidence_.meter == Meter::kCupti ? never_counted(kernel) : std::nullopt;
      if (never) kernel.ncu_note = never;
      else if (evidence_.counters_missing) kernel.ncu_note = evidence_.counters_missing;
    }
  }

  const Evidence& evidence_;
  CounterFigures out_;
};

}  // namespace

std::vector<Remark> add_stage_counters(const CounterReport& report, std::vector<StageEntry>& stages) {
  std::map<std::string, Windows> by_stage;
  for (const WindowCounters& window : report.windows)
    if (const std::string stage = nvtx::stage_of(window.domain, window.name); !stage.empty()) by_stage[stage].push_back(&window);
  if (by_stage.empty()) return {};
  for (StageEntry& stage : stages) {
    const auto found = by_stage.find(stage.name);
    if (found != by_stage.end()) {
      stage.counters = counters_of(stage, found->second);
      by_stage.erase(found);
    } else {
      stage.counters.emplace();
      stage.counters->measured_by = Meter::kCupti;
      stage.counters->note = "not measured alone: its ranges are inside another stage and count there";
    }
  }
  std::vector<Remark> unknown;
  for (const auto& [stage, windows] : by_stage) unknown.push_back({Code::kCountersOfNoStage, {stage}});
  return unknown;
}

CounterFigures join_counters(const Evidence& evidence, CounterFigures figures) { return CounterJoin(evidence, std::move(figures)).join(); }

std::optional<Remark> never_counted(const KernelEntry& kernel) {
  if (kernel.time.count > 0 && kernel.graph_calls == kernel.time.count) return Remark{Code::kOnlyInGraphs};
  if (collector::talks_to_peers(kernel.symbol().c_str())) return Remark{Code::kTalksToPeers};
  return std::nullopt;
}

NcuReport merged(const std::vector<NcuReport>& reports) {
  NcuReport all;
  for (const NcuReport& report : reports) {
    if (all.page.empty()) all.page = report.page;
    all.launches.insert(all.launches.end(), report.launches.begin(), report.launches.end());
    for (const auto& [reason, rows] : report.rows_damaged) all.rows_damaged[reason] += rows;
  }
  return all;
}

}  // namespace nl::analysis
