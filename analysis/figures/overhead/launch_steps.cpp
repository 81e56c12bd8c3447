#include "analysis/figures/overhead/launch_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analysis/statistics/time_summary.h"

namespace nl::analysis {
namespace {

constexpr double kSameOrder = 0.98;  // share of the launches in the steps whose function is the one that the trace has there
// How far the median of the steps that are found again, from launch to launch in the trace itself, may lie from that of all windows.
constexpr double kSameSteps = 0.03;

struct TracedLaunch {
  Ns time_ns = 0;
  std::uint32_t name = kNone;  // of the kernel; none: a CUDA graph
};
using LaunchList = std::vector<TracedLaunch>;

// By thread: the calls that ran a kernel or a graph. A graph's own kernels and copies belong to the call that launched it.
std::vector<LaunchList> traced_launches(const Trace& trace) {
  std::vector<std::pair<bool, std::uint32_t>> of_call(trace.api_calls.size(), {false, kNone});
  const auto mark = [&](std::uint32_t call, std::uint32_t name) {
    if (call < of_call.size()) of_call[call] = {true, name};
  };
  for (const Kernel& kernel : trace.kernels)
    mark(kernel.api, kernel.in_graph || kernel.shape >= trace.shapes.size() ? kNone : trace.shapes[kernel.shape].name.value);
  for (const MemOp& op : trace.mem_ops)
    if (op.in_graph) mark(op.api, kNone);
  for (const GraphRun& run : trace.graph_runs) mark(run.api, kNone);
  std::vector<LaunchList> threads(trace.threads.size());
  for (std::size_t i = 0; i < of_call.size(); ++i) {
    const ApiCall& call = trace.api_calls[i];
    if (of_call[i].first && call.thread < threads.size()) threads[call.thread].push_back({call.start_ns, of_call[i].second});
  }
  return threads;
}

// A window, and where the launches of its thread and of the next window begin.
struct MatchedStep {
  const Window* window = nullptr;
  std::size_t first = 0;
  std::optional<std::size_t> next;  // nothing: no window follows at once
};

std::size_t first_from(const LaunchList& launches, Ns time_ns) {
  return static_cast<std::size_t>(std::lower_bound(launches.begin(), launches.end(), time_ns,
                                                   [](const TracedLaunch& launch, Ns time) { return launch.time_ns < time; }) -
                                  launches.begin());
}

// The windows of one thread, by start. One without a launch of its thread cannot be found again.
std::vector<MatchedStep> matched_steps(const StagedTrace& traced, std::uint32_t thread, const LaunchList& launches) {
  std::vector<MatchedStep> steps;
  for (const Window& window : traced.windows) {
    if (window.thread != thread || window.stage == kNone || window.derived) continue;
    const std::size_t first = first_from(launches, window.start_ns);
    if (first == launches.size() || launches[first].time_ns >= window.end_ns) continue;
    if (!steps.empty() && steps.back().window->end_ns == window.start_ns) steps.back().next = first;
    steps.push_back({&window, first, {}});
  }
  return steps;
}

// The share of the pairs that keep to "one of the left has one of the right".
double consistent_share(const std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& pairs) {
  std::size_t all = 0, kept = 0, most = 0;
  std::optional<std::uint32_t> left;
  for (const auto& [pair, count] : pairs) {
    if (left != pair.first) kept += std::exchange(most, 0), left = pair.first;
    most = std::max(most, count);
    all += count;
  }
  return all == 0 ? 0 : static_cast<double>(kept + most) / static_cast<double>(all);
}

// Whether the pass launches what the trace launches, `shift` places later. How the pass numbers functions is not known, so that one name must
// go with one number and one number with one name.
bool same_order(const LaunchList& traced, const std::vector<Launch>& pass, std::ptrdiff_t shift, std::size_t first, std::size_t last) {
  const std::ptrdiff_t from = static_cast<std::ptrdiff_t>(first) + shift, to = static_cast<std::ptrdiff_t>(last) + shift;
  if (from < 0 || to >= static_cast<std::ptrdiff_t>(pass.size())) return false;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> by_name, by_number;
  for (std::size_t i = first; i <= last; ++i) {
    const std::uint32_t number = pass[static_cast<std::size_t>(static_cast<std::ptrdiff_t>(i) + shift)].what;
    ++by_name[{traced[i].name, number}];
    ++by_number[{number, traced[i].name}];
  }
  // Equal kernels fit anywhere: then only equal counts show which is which.
  if (traced.size() != pass.size() && by_name.size() < 2) return false;
  return consistent_share(by_name) >= kSameOrder && consistent_share(by_number) >= kSameOrder;
}

// Where the pass has the launches of the steps: at the same places, or at the same places counted from the end, because it warmed up by
// more or by fewer launches.
std::optional<std::ptrdiff_t> shift_of(const LaunchList& traced, const std::vector<Launch>& pass, const std::vector<MatchedStep>& steps) {
  const std::size_t first = steps.front().first, last = steps.back().first;
  const std::ptrdiff_t from_end = static_cast<std::ptrdiff_t>(pass.size()) - static_cast<std::ptrdiff_t>(traced.size());
  for (const std::ptrdiff_t shift : {from_end, std::ptrdiff_t{0}})
    if (same_order(traced, pass, shift, first, last)) return shift;
  return std::nullopt;
}

// What is known of one stage over all threads.
struct StageTimes {
  std::vector<Ns> pass, traced;  // of the steps that were found again, from launch to launch
  std::vector<Ns> all_traced;    // of all measured windows
  std::uint64_t windows = 0;
};
using TimesByStage = std::map<std::uint32_t, StageTimes>;

void add_times(const std::vector<MatchedStep>& steps, const LaunchList& traced, const std::vector<Launch>& pass, std::ptrdiff_t shift,
               TimesByStage& stages) {
  const auto at = [&](std::size_t launch) { return pass[static_cast<std::size_t>(static_cast<std::ptrdiff_t>(launch) + shift)].time_ns; };
  for (const MatchedStep& step : steps) {
    if (step.window->warmup || !step.next) continue;
    StageTimes& times = stages[step.window->stage];
    times.pass.push_back(at(*step.next) - at(step.first));
    times.traced.push_back(traced[*step.next].time_ns - traced[step.first].time_ns);
  }
}

struct SameThread {
  const ThreadLaunches* thread = nullptr;
  std::ptrdiff_t shift = 0;  // of its launches, as shift_of() says
};

// The thread of the pass that launches as this one of the trace does: of those that do, the one with the nearest number of launches.
std::optional<SameThread> same_thread(const LaunchList& traced, const std::vector<MatchedStep>& steps,
                                      const std::vector<ThreadLaunches>& pass, std::vector<bool>& taken) {
  std::vector<std::size_t> order(pass.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto apart = [&](std::size_t i) {
    return std::abs(static_cast<double>(pass[i].launches.size()) - static_cast<double>(traced.size()));
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return apart(a) < apart(b); });
  for (const std::size_t i : order) {
    if (taken[i]) continue;
    if (const auto shift = shift_of(traced, pass[i].launches, steps)) {
      taken[i] = true;
      return SameThread{&pass[i], *shift};
    }
  }
  return std::nullopt;
}

bool tell_the_same(StageTimes& times) {
  const double found = summarise_times(times.traced).median_ns, all = summarise_times(times.all_traced).median_ns;
  return std::abs(found - all) <= kSameSteps * all;
}

std::size_t launches_in(const std::vector<ThreadLaunches>& pass) {
  std::size_t most = 0;
  for (const ThreadLaunches& thread : pass) most = std::max(most, thread.launches.size());
  return most;
}

}  // namespace

LaunchSteps steps_by_launches(const StagedTrace& traced, const std::vector<ThreadLaunches>& pass) {
  LaunchSteps out;
  const std::vector<LaunchList> threads = traced_launches(traced.trace);
  std::vector<bool> taken(pass.size(), false);
  TimesByStage stages;
  for (const Window& window : traced.windows) {
    if (window.stage == kNone || window.derived) continue;
    StageTimes& times = stages[window.stage];
    ++times.windows;
    if (!window.warmup) times.all_traced.push_back(window.wall_ns());
  }
  for (std::uint32_t thread = 0; thread < threads.size(); ++thread) {
    const std::vector<MatchedStep> steps = matched_steps(traced, thread, threads[thread]);
    if (steps.size() < 2) continue;
    const auto same = same_thread(threads[thread], steps, pass, taken);
    if (same) add_times(steps, threads[thread], same->thread->launches, same->shift, stages);
    else
      out.trouble = fmt::format("its launches are not those of the trace in the same order ({} and {} launches of a thread)",
                                launches_in(pass), threads[thread].size());
  }
  if (!out.trouble.empty()) return out;  // a stage may have windows on several threads
  for (auto& [stage, times] : stages)
    if (!times.pass.empty() && tell_the_same(times))
      out.stages.push_back({traced.table.stages()[stage], summarise_times(times.pass).median_ns, times.windows});
  if (out.stages.empty()) out.trouble = "the trace has no steps that follow each other at once";
  return out;
}

}  // namespace nl::analysis
