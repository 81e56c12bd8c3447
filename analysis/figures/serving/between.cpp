#include "analysis/figures/serving/between.h"

#include <algorithm>
#include <limits>
#include <map>

#include "analysis/figures/host/blame.h"
#include "analysis/staging/traced_steps.h"
#include "analysis/trace/covered_time.h"

namespace nl::analysis::serving {
namespace {

constexpr std::size_t kMostCode = 12;
constexpr std::size_t kMostPieces = 500;  // of one gap

// Engines name the threads of their processes ("nl-serve schedu"), which all run one executable ("python3.11").
std::string process_name(const Trace& trace, std::uint32_t thread) {
  if (thread >= trace.threads.size()) return {};
  const std::uint32_t process = trace.threads[thread].process;
  if (!trace.threads[thread].name.empty() || process >= trace.processes.size()) return trace.threads[thread].name;
  return trace.processes[process].name;
}

// Of what `spans` cover what `holes` do not; both by time, none touching another.
Spans without(const Spans& spans, const Spans& holes) {
  Spans out;
  auto hole = holes.begin();
  for (auto [start, end] : spans) {
    while (hole != holes.end() && hole->second <= start) ++hole;
    for (auto each = hole; each != holes.end() && each->first < end; ++each) {
      if (each->first > start) out.emplace_back(start, each->first);
      start = std::max(start, each->second);
    }
    if (start < end) out.emplace_back(start, end);
  }
  return out;
}

Ns length_of(const Spans& spans) {
  Ns sum = 0;
  for (const auto& [start, end] : spans) sum += end - start;
  return sum;
}

struct Piece {
  Ns start_ns = 0, end_ns = 0;
  int rank = 0;             // the lowest counts
  std::uint32_t range = 0;  // index into the ranges of CodeSums
};

using CodeKey = std::pair<std::string, std::string>;  // range, process

struct Found {
  Ns ns = 0;
  std::vector<Piece> pieces;
};

class CodeSums {
 public:
  CodeSums(const Trace& trace, const Events& events) : trace_(trace), events_(events) {
    each_range(trace, [this](const Range& range) { ranges_.push_back(&range); });
  }

  void add(const Worker& worker, const Spans& between) {
    std::vector<std::vector<Piece>> by_gap(between.size());
    for (std::uint32_t i = 0; i < ranges_.size(); ++i) place(worker, between, i, by_gap);
    for (std::size_t gap = 0; gap < between.size(); ++gap) divide(by_gap[gap]);
  }

  std::vector<ServingCode> take() {
    std::vector<ServingCode> out;
    for (const auto& [key, found] : found_) out.push_back({key.first, key.second, found.ns, std::nullopt});
    std::stable_sort(out.begin(), out.end(), [](const ServingCode& a, const ServingCode& b) { return a.ns > b.ns; });
    if (out.size() > kMostCode) out.resize(kMostCode);
    if (!trace_.host.samples.empty()) name_functions(out);
    return out;
  }

 private:
  void place(const Worker& worker, const Spans& between, std::uint32_t index, std::vector<std::vector<Piece>>& by_gap) const {
    const Range& range = *ranges_[index];
    if (range.open || range.end_ns <= range.start_ns || range.thread >= trace_.threads.size()) return;
    const auto step = std::lower_bound(worker.steps.begin(), worker.steps.end(), range.start_ns,
                                       [](const Step& each, Ns time_ns) { return each.start_ns < time_ns; });
    if (step != worker.steps.end() && step->end_ns <= range.end_ns) return;  // it has a whole step in it
    auto gap = std::lower_bound(between.begin(), between.end(), range.start_ns,
                                [](const auto& each, Ns time_ns) { return each.second <= time_ns; });
    for (; gap != between.end() && gap->first < range.end_ns; ++gap)
      by_gap[static_cast<std::size_t>(gap - between.begin())].push_back(
          {std::max(range.start_ns, gap->first), std::min(range.end_ns, gap->second), rank_of(worker, range.thread), index});
  }

  int rank_of(const Worker& worker, std::uint32_t thread) const {
    const auto& scheduler = events_.scheduler_threads;
    if (std::find(scheduler.begin(), scheduler.end(), thread) != scheduler.end()) return 0;
    return thread == worker.thread ? 1 : 2;
  }

  // Each moment of the gap to one of its pieces.
  void divide(std::vector<Piece>& pieces) {
    std::stable_sort(pieces.begin(), pieces.end(), [this](const Piece& a, const Piece& b) { return before(a, b); });
    if (pieces.size() > kMostPieces) pieces.resize(kMostPieces);
    std::vector<Ns> edges;
    for (const Piece& piece : pieces) edges.push_back(piece.start_ns), edges.push_back(piece.end_ns);
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
      const auto best = std::find_if(pieces.begin(), pieces.end(),
                                     [&](const Piece& piece) { return piece.start_ns <= edges[i] && piece.end_ns >= edges[i + 1]; });
      if (best == pieces.end()) continue;
      const Range& range = *ranges_[best->range];
      Found& found = found_[{trace_.strings[range.name], process_name(trace_, range.thread)}];
      found.ns += edges[i + 1] - edges[i];
      found.pieces.push_back({edges[i], edges[i + 1], best->rank, best->range});
    }
  }

  bool before(const Piece& a, const Piece& b) const {
    if (a.rank != b.rank) return a.rank < b.rank;
    return ranges_[a.range]->start_ns > ranges_[b.range]->start_ns;
  }

  void name_functions(std::vector<ServingCode>& code) const {
    const BlameTable blame(trace_);
    const auto& samples = trace_.host.samples;
    for (ServingCode& each : code) {
      std::vector<std::uint32_t> inside;
      for (const Piece& piece : found_.at({each.range, each.process}).pieces) {
        const Thread& thread = trace_.threads[ranges_[piece.range]->thread];
        const std::uint32_t pid = thread.process < trace_.processes.size() ? trace_.processes[thread.process].pid : 0;
        auto sample = std::lower_bound(samples.begin(), samples.end(), piece.start_ns,
                                       [](const HostSample& at, Ns time_ns) { return at.time_ns < time_ns; });
        for (; sample != samples.end() && sample->time_ns < piece.end_ns; ++sample)
          if (sample->pid == pid && sample->tid == thread.tid) inside.push_back(static_cast<std::uint32_t>(sample - samples.begin()));
      }
      if (inside.size() < kMinHostSamples) continue;
      if (const auto told = blame.of(inside)) each.function = told->function;
    }
  }

  const Trace& trace_;
  const Events& events_;
  std::vector<const Range*> ranges_;
  std::map<CodeKey, Found> found_;
};

}  // namespace

ServingWorker worker_times(const Trace& trace, const Worker& worker, const std::vector<Life>& lives, std::uint32_t number,
                           const Window& window, std::vector<std::pair<Ns, Ns>>& between) {
  ServingWorker out;
  out.process = process_name(trace, worker.thread);
  if (worker.thread < trace.threads.size() && trace.threads[worker.thread].process < trace.processes.size())
    out.pid = trace.processes[trace.threads[worker.thread].process].pid;
  out.steps = worker.steps.size();
  Spans steps, alive;
  for (const Step& step : worker.steps) {
    const Ns start = std::max(step.start_ns, window.start_ns), end = std::min(step.end_ns, window.end_ns);
    if (start < end) steps.emplace_back(start, end), out.step_ns += end - start;
  }
  for (const Life& life : lives)
    if (life.worker == number && life.left_ns > life.start_ns) alive.emplace_back(life.start_ns, life.left_ns);
  between = without(union_of(std::move(alive)), union_of(std::move(steps)));
  out.between_ns = length_of(between);
  out.idle_ns = window.end_ns - window.start_ns - out.step_ns - out.between_ns;
  return out;
}

std::vector<ServingCode> code_between(const Trace& trace, const Events& events,
                                      const std::vector<std::vector<std::pair<Ns, Ns>>>& between) {
  CodeSums sums(trace, events);
  for (std::size_t i = 0; i < between.size(); ++i) sums.add(events.workers[i], between[i]);
  return sums.take();
}

}  // namespace nl::analysis::serving
