#include "analysis/figures/serving/costs.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "analysis/staging/traced_steps.h"
#include "analysis/statistics/time_summary.h"
#include "analysis/trace/gpu_order.h"

namespace nl::analysis::serving {
namespace {

constexpr std::size_t kLeastSingles = 5;

// Which step launched a piece of work: that of the launching thread, or of the only worker of the process.
class StepFinder {
 public:
  StepFinder(const Trace& trace, Events& events) : trace_(trace), events_(events) {
    for (std::uint32_t i = 0; i < events.workers.size(); ++i) {
      by_thread_[events.workers[i].thread] = i;
      const auto [found, is_new] = by_process_.try_emplace(process_of(events.workers[i].thread), i);
      if (!is_new) found->second = kNoWorker;
    }
  }

  template <class Work>
  Step* of(const Work& work) {
    if (work.api < trace_.api_calls.size()) {
      const ApiCall& call = trace_.api_calls[work.api];
      const auto thread = static_cast<std::uint32_t>(call.thread);
      if (const auto found = by_thread_.find(thread); found != by_thread_.end()) return at(found->second, call.start_ns);
      return in_process(process_of(thread), call.start_ns);
    }
    const auto queue = static_cast<std::size_t>(work.queue);
    return in_process(queue < trace_.queues.size() ? trace_.queues[queue].process : kNone, work.start_ns);
  }

 private:
  std::uint32_t process_of(std::uint32_t thread) const { return thread < trace_.threads.size() ? trace_.threads[thread].process : kNone; }

  Step* in_process(std::uint32_t process, Ns time_ns) {
    const auto found = by_process_.find(process);
    return found != by_process_.end() ? at(found->second, time_ns) : nullptr;
  }

  Step* at(std::uint32_t worker, Ns time_ns) {
    if (worker == kNoWorker) return nullptr;
    auto& steps = events_.workers[worker].steps;
    const auto after =
        std::upper_bound(steps.begin(), steps.end(), time_ns, [](Ns time, const Step& step) { return time < step.start_ns; });
    if (after == steps.begin()) return nullptr;
    return time_ns < std::prev(after)->end_ns ? &*std::prev(after) : nullptr;
  }

  const Trace& trace_;
  Events& events_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_thread_, by_process_;
};

}  // namespace

std::vector<std::int64_t> divided(std::int64_t whole, std::span<const std::uint64_t> weights) {
  __extension__ using Wide = unsigned __int128;
  const Wide sum = std::accumulate(weights.begin(), weights.end(), Wide{0});
  const Wide total = sum > 0 ? sum : Wide{weights.size()};
  std::vector<std::int64_t> parts(weights.size());
  std::vector<std::pair<Wide, std::size_t>> lost;
  std::int64_t left = whole;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Wide exact = static_cast<Wide>(whole) * (sum > 0 ? weights[i] : 1);
    parts[i] = static_cast<std::int64_t>(exact / total);
    left -= parts[i];
    lost.emplace_back(exact % total, i);
  }
  std::stable_sort(lost.begin(), lost.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < static_cast<std::size_t>(left); ++i) ++parts[lost[i].second];
  return parts;
}

std::optional<Ns> find_gpu_work(const Trace& trace, const Window& window, Events& events) {
  if (trace.kernels.empty() && trace.graph_runs.empty()) return std::nullopt;
  for (Worker& worker : events.workers) {
    const std::uint32_t process = worker.thread < trace.threads.size() ? trace.threads[worker.thread].process : kNone;
    for (Step& step : worker.steps)
      if (is_traced(trace, process, step.start_ns, step.end_ns)) step.gpu_ns = 0;
  }
  Ns other_ns = 0;
  StepFinder steps(trace, events);
  each_gpu_work(trace, [&](const auto& work) {
    const Ns time_ns = end_of(work) - work.start_ns;
    if (Step* step = steps.of(work); step != nullptr && step->gpu_ns) *step->gpu_ns += time_ns;
    else if (work.start_ns >= window.start_ns && work.start_ns < window.end_ns) other_ns += time_ns;
  });
  return other_ns;
}

std::optional<Ns> wall_of(const Step& step) { return step.end_ns - step.start_ns; }
std::optional<Ns> gpu_of(const Step& step) { return step.gpu_ns; }

std::optional<Ns> floor_of(const std::vector<Worker>& workers, std::optional<Ns> (*of)(const Step&)) {
  std::vector<Ns> times;
  for (const Worker& worker : workers)
    for (const Step& step : worker.steps)
      if (const auto ns = of(step); ns && step.tokens() == 1) times.push_back(*ns);
  if (times.size() < kLeastSingles) return std::nullopt;
  return static_cast<Ns>(median_in_place(times));
}

Ns time_in(const Step& step, const Window& window) {
  return std::max<Ns>(0, std::min(step.end_ns, window.end_ns) - std::max(step.start_ns, window.start_ns));
}

std::vector<ServingCost> costs_of(const Events& events, const Window& window, std::optional<Ns> floor,
                                  std::optional<Ns> (*of)(const Step&)) {
  std::vector<ServingCost> costs(events.requests.size());
  std::vector<std::uint64_t> tokens;
  for (const Worker& worker : events.workers)
    for (const Step& step : worker.steps) {
      const Ns whole_ns = of == wall_of ? time_in(step, window) : of(step).value_or(0);
      const Ns shared_ns = std::min(whole_ns, floor.value_or(0));
      tokens.clear();
      for (const StepEntry& entry : step.entries) tokens.push_back(entry.tokens);
      const auto shared = divided(shared_ns, tokens), own = divided(whole_ns - shared_ns, tokens);
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        costs[step.entries[i].request].shared_ns += shared[i];
        costs[step.entries[i].request].own_ns += own[i];
      }
    }
  return costs;
}

}  // namespace nl::analysis::serving
