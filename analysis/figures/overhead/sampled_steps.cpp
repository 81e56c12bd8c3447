#include "analysis/figures/overhead/sampled_steps.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/staging/traced_steps.h"
#include "analysis/statistics/confidence.h"
#include "analysis/statistics/time_summary.h"

namespace nl::analysis {
namespace {

using RowSums = std::map<std::uint32_t, RowSum>;  // by span

bool counts_traced(const SampledWindow& window) { return window.tracing == WindowTracing::kTraced && !window.warmup; }

std::vector<StringId> stages_of(const DutyCycle& duty) {
  std::vector<StringId> stages;
  for (const SampledWindow& window : duty.windows)
    if (std::find(stages.begin(), stages.end(), window.stage) == stages.end()) stages.push_back(window.stage);
  return stages;
}

// GPU time by the window of one stage that launched it. A thread without windows works for those of its process.
class LaunchedTime {
 public:
  LaunchedTime(const Trace& trace, StringId stage) : trace_(trace) {
    for (const SampledWindow& window : trace.duty->windows) {
      if (window.stage != stage || !counts_traced(window)) continue;
      threads_.insert(window.thread);
      by_thread_[{window.thread, window.start_ns}] = by_process_[{process_of(window.thread), window.start_ns}] = &window;
    }
  }

  RowSums rows() {
    RowSums rows;
    for (const auto& [start, window] : by_thread_) ++rows[window->span].windows;
    for (const Kernel& kernel : trace_.kernels) add(kernel.api, static_cast<Ns>(kernel.duration_ns), rows);
    for (const MemOp& op : trace_.mem_ops) add(op.api, op.end_ns - op.start_ns, rows);
    for (const GraphRun& run : trace_.graph_runs) add(run.api, run.end_ns - run.start_ns, rows);
    return rows;
  }

 private:
  using ByStart = std::map<std::pair<std::uint32_t, Ns>, const SampledWindow*>;

  std::uint32_t process_of(std::uint32_t thread) const { return thread < trace_.threads.size() ? trace_.threads[thread].process : kNone; }

  static const SampledWindow* find(const ByStart& windows, std::uint32_t owner, Ns time_ns) {
    const auto after = windows.upper_bound({owner, time_ns});
    if (after == windows.begin() || std::prev(after)->first.first != owner) return nullptr;
    const SampledWindow* window = std::prev(after)->second;
    return time_ns < window->start_ns + window->wall_ns ? window : nullptr;
  }

  void add(std::uint32_t api, Ns time_ns, RowSums& rows) const {
    if (api >= trace_.api_calls.size()) return;
    const ApiCall& call = trace_.api_calls[api];
    const auto thread = static_cast<std::uint32_t>(call.thread);
    const SampledWindow* window =
        threads_.contains(thread) ? find(by_thread_, thread, call.start_ns) : find(by_process_, process_of(thread), call.start_ns);
    if (window != nullptr) rows[window->span].sum += static_cast<double>(time_ns);
  }

  const Trace& trace_;
  std::set<std::uint32_t> threads_;
  ByStart by_thread_, by_process_;
};

std::vector<RowSum> as_list(const RowSums& rows) {
  std::vector<RowSum> list;
  for (const auto& [span, row] : rows) list.push_back(row);
  return list;
}

std::optional<double> mean_of_rows(const std::vector<RowSum>& rows) {
  RowSum all;
  for (const RowSum& row : rows) all.windows += row.windows, all.sum += row.sum;
  return all.windows > 0 ? std::optional(all.sum / static_cast<double>(all.windows)) : std::nullopt;
}

// Where those that came first are needed, too, their row is one of the sample; they are no random choice, and no error is told.
bool begins_untraced(const DutyCycle& duty, StringId stage) {
  const auto first = std::find_if(duty.windows.begin(), duty.windows.end(), [&](const SampledWindow& each) { return each.stage == stage; });
  return first == duty.windows.end() || !counts_traced(*first);
}

SampledStage sampled_stage(const Trace& trace, StringId stage) {
  SampledStage out;
  out.stage = trace.strings[stage];
  RowSums walls;
  RowSum untraced;
  for (const SampledWindow& window : trace.duty->windows) {
    if (window.stage != stage || window.warmup) continue;
    ++out.windows;
    out.traced += counts_traced(window);
    out.always += window.tracing == WindowTracing::kAlways;
    out.unseen += window.tracing == WindowTracing::kUnseen;
    if (!counts_traced(window) && window.tracing != WindowTracing::kUntraced) continue;
    RowSum& row = counts_traced(window) ? walls[window.span] : untraced;
    ++row.windows;
    row.sum += static_cast<double>(window.wall_ns);
  }
  const std::vector<RowSum> rows = as_list(walls);
  out.rows = rows.size();
  out.wall_ns = mean_of_rows(rows);
  if (untraced.windows > 0) out.untraced_ns = mean_of_rows({untraced});
  const bool random = out.always > 0 || begins_untraced(*trace.duty, stage);
  if (random) out.wall_error = sampling_error(rows, out.windows - out.always);
  if (!trace.has_kernel_data || !trace.has_api_data || out.traced == 0) return out;
  const std::vector<RowSum> gpu = as_list(LaunchedTime(trace, stage).rows());
  out.gpu_ns = mean_of_rows(gpu);
  if (random) out.gpu_error = sampling_error(gpu, out.windows - out.always);
  if (out.gpu_ns && (out.gpu_error || out.traced == out.windows)) out.gpu_total_ns = *out.gpu_ns * static_cast<double>(out.windows);
  return out;
}

double median_of_windows(const std::vector<const SampledWindow*>& windows) {
  std::vector<Ns> walls;
  for (const SampledWindow* window : windows) walls.push_back(window->wall_ns);
  return summarise_times(walls).median_ns;
}

using Sequence = std::vector<const SampledWindow*>;  // of one stage on one thread, by time

// The untraced windows next to windows [first, last), at most as many on either side.
Sequence untraced_beside(const Sequence& all, std::size_t first, std::size_t last) {
  const std::size_t most = last - first;
  Sequence found;
  const auto take = [&](std::size_t i) {
    if (all[i]->tracing != WindowTracing::kUntraced || all[i]->warmup) return false;
    found.push_back(all[i]);
    return true;
  };
  for (std::size_t i = first; i > 0 && first - i < most && take(i - 1);) --i;
  for (std::size_t i = last; i < all.size() && i - last < most && take(i);) ++i;
  return found;
}

void add_turns(const Sequence& all, StageSlowdown& row) {
  for (std::size_t first = 0, last = 0; first < all.size(); first = std::max(last, first + 1)) {
    last = first;
    while (last < all.size() && counts_traced(*all[last]) && all[last]->span == all[first]->span) ++last;
    if (last == first) continue;
    const Sequence beside = untraced_beside(all, first, last);
    if (beside.empty()) continue;
    row.bare_ns.push_back(median_of_windows(beside));
    row.profiled_ns.push_back(
        median_of_windows({all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(last)}));
  }
}

// The mean of the rows' ratios, each of which has its own untraced windows beside it.
bool compare_turns(StageSlowdown& row, const OverheadRule& rule) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < row.bare_ns.size(); ++i)
    if (row.bare_ns[i] > 0 && row.profiled_ns[i] > 0) ratios.push_back(std::log(row.profiled_ns[i] / row.bare_ns[i]));
  if (ratios.size() < kEnoughRows) return false;
  const auto rows = static_cast<double>(ratios.size());
  double mean = 0, squares = 0;
  for (const double ratio : ratios) mean += ratio / rows;
  for (const double ratio : ratios) squares += (ratio - mean) * (ratio - mean);
  const double half = student_t(rule.confidence(), rows - 1) * std::sqrt(squares / (rows - 1) / rows);
  row.slowdown = std::exp(mean) - 1;
  row.low = std::exp(mean - half) - 1;
  row.high = std::exp(mean + half) - 1;
  return true;
}

}  // namespace

std::optional<double> sampling_error(const std::vector<RowSum>& rows, std::uint64_t windows) {
  const auto count = static_cast<double>(rows.size());
  double drawn = 0, sum = 0;
  for (const RowSum& row : rows) drawn += static_cast<double>(row.windows), sum += row.sum;
  if (rows.size() < kEnoughRows || sum <= 0 || drawn >= static_cast<double>(windows)) return std::nullopt;
  double squares = 0;
  for (const RowSum& row : rows) {
    const double off = row.sum - sum / drawn * static_cast<double>(row.windows);
    squares += off * off;
  }
  const double unseen = 1 - drawn / static_cast<double>(windows);
  const double deviation = std::sqrt(unseen * count / (count - 1) * squares) / drawn;
  return student_t(0.95, count - 1) * deviation / (sum / drawn);
}

std::vector<SampledStage> sampled_stages(const Trace& trace) {
  std::vector<SampledStage> out;
  if (!has_traced_steps(trace)) return out;
  for (const StringId stage : stages_of(*trace.duty)) out.push_back(sampled_stage(trace, stage));
  std::erase_if(out, [](const SampledStage& stage) { return stage.windows == 0; });
  return out;
}

std::vector<StageSlowdown> slowdown_by_turns(const Trace& trace, const OverheadRule& rule) {
  std::vector<StageSlowdown> out;
  if (!has_traced_steps(trace)) return out;
  for (const StringId stage : stages_of(*trace.duty)) {
    std::map<std::uint32_t, Sequence> threads;  // the windows come by thread and time
    for (const SampledWindow& window : trace.duty->windows)
      if (window.stage == stage) threads[window.thread].push_back(&window);
    StageSlowdown row;
    row.profiler = PassKind::kCollector;
    row.stage = trace.strings[stage];
    for (const auto& [thread, windows] : threads) add_turns(windows, row);
    if (compare_turns(row, rule)) out.push_back(std::move(row));
  }
  return out;
}

}  // namespace nl::analysis
