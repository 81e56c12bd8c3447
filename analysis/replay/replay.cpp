#include <algorithm>
#include <utility>

#include "analysis/replay/replay_graph.h"

namespace nl::analysis {
namespace {

class Player {
 public:
  explicit Player(const ReplayGraph& graph) : graph_(graph) {
    for (const ReplayCall& call : graph.calls) {
      times_.call_start_ns.push_back(call.start_ns);
      times_.call_end_ns.push_back(call.end_ns);
    }
    for (const ReplayWork& work : graph.works) {
      times_.work_start_ns.push_back(work.start_ns);
      times_.work_end_ns.push_back(work.end_ns());
    }
    last_arrival_.resize(graph.collectives.size());
  }

  Replayed play() {
    for (const ReplayEvent& event : graph_.order) {
      switch (event.what) {
        case ReplayEvent::What::kCallBegins: begin(event.index); break;
        case ReplayEvent::What::kWork: work(event.index); break;
        case ReplayEvent::What::kCallEnds: end(event.index); break;
      }
    }
    return std::move(times_);
  }

 private:
  void begin(std::uint32_t index) {
    const ReplayCall& call = graph_.calls[index];
    const std::uint32_t after = call.handed_by != kNone ? call.handed_by : call.previous;
    Ns start = after != kNone ? times_.call_end_ns[after] + call.code_ns : call.start_ns;
    // Of two calls of one thread the later one does not begin first, also where another thread handed over.
    if (call.handed_by != kNone && call.previous != kNone) start = std::max(start, times_.call_end_ns[call.previous]);
    times_.call_start_ns[index] = start;
  }

  void end(std::uint32_t index) {
    const ReplayCall& call = graph_.calls[index];
    Ns end = times_.call_start_ns[index] + call.own_ns;
    for (std::uint32_t i = call.first_wait; i < call.first_wait + call.waits; ++i)
      end = std::max(end, times_.work_end_ns[graph_.waited[i]] + call.return_ns);
    times_.call_end_ns[index] = end;
  }

  void work(std::uint32_t index) {
    const ReplayWork& work = graph_.works[index];
    Ns start = work.call != kNone ? times_.call_start_ns[work.call] + work.latency_ns : work.start_ns;
    if (work.before != kNone) start = std::max(start, times_.work_end_ns[work.before] + work.gap_ns);
    if (work.other != kNone) start = std::max(start, times_.work_end_ns[work.other] + work.other_gap_ns);
    start += work.delay_ns;
    times_.work_start_ns[index] = start;
    times_.work_end_ns[index] = start + work.duration_ns;
    if (work.collective != kNone) arrive(work.collective, start);
  }

  // All of a collective go on together: what depends on its end comes after all of them in the order.
  void arrive(std::uint32_t collective, Ns start) {
    Ns& last = last_arrival_[collective];
    last = std::max(last, start);
    for (const std::uint32_t member : graph_.collectives[collective]) times_.work_end_ns[member] = last + graph_.works[member].duration_ns;
  }

  const ReplayGraph& graph_;
  Replayed times_;
  std::vector<Ns> last_arrival_;
};

}  // namespace

Replayed replay(const ReplayGraph& graph) { return Player(graph).play(); }

CallSpan calls_between(const ReplayGraph& graph, std::uint32_t thread, Ns start_ns, Ns end_ns) {
  if (thread + std::size_t{1} >= graph.first_call.size()) return {};
  const auto begin = graph.calls.begin() + graph.first_call[thread], end = graph.calls.begin() + graph.first_call[thread + 1];
  const auto at = [&](Ns time) {
    const auto found = std::partition_point(begin, end, [&](const ReplayCall& call) { return call.start_ns < time; });
    return static_cast<std::uint32_t>(found - graph.calls.begin());
  };
  return {at(start_ns), at(end_ns)};
}

std::vector<std::vector<std::uint32_t>> works_by_call(const ReplayGraph& graph) {
  std::vector<std::vector<std::uint32_t>> works(graph.calls.size());
  for (std::uint32_t i = 0; i < graph.works.size(); ++i)
    if (graph.works[i].call != kNone) works[graph.works[i].call].push_back(i);
  return works;
}

Ns replayed_time(const ReplayGraph& graph, const Replayed& replayed, std::uint32_t thread, Ns time_ns) {
  if (thread + std::size_t{1} >= graph.first_call.size()) return time_ns;
  const auto begin = graph.calls.begin() + graph.first_call[thread], end = graph.calls.begin() + graph.first_call[thread + 1];
  const auto after = std::partition_point(begin, end, [&](const ReplayCall& call) { return call.start_ns <= time_ns; });
  if (after == begin) return time_ns;
  const auto call = static_cast<std::size_t>(after - graph.calls.begin()) - 1;
  const auto between = [&](Ns from, Ns to, Ns replayed_from, Ns replayed_to) {
    const double part = to > from ? static_cast<double>(time_ns - from) / static_cast<double>(to - from) : 0;
    return replayed_from + static_cast<Ns>(part * static_cast<double>(replayed_to - replayed_from));
  };
  const ReplayCall& last = graph.calls[call];
  if (time_ns < last.end_ns) return between(last.start_ns, last.end_ns, replayed.call_start_ns[call], replayed.call_end_ns[call]);
  if (after == end) return replayed.call_end_ns[call] + (time_ns - last.end_ns);
  return between(last.end_ns, after->start_ns, replayed.call_end_ns[call], replayed.call_start_ns[call + 1]);
}

}  // namespace nl::analysis
