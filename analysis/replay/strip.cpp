#include "analysis/replay/strip.h"

#include <algorithm>
#include <array>
#include <vector>

#include "analysis/trace/covered_time.h"
#include "analysis/trace/gpu_lanes.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kCells = 400;  // about as many as a page has pixels for, two to each

// What takes the most of each cell of a window.
class StripCells {
 public:
  explicit StripCells(const std::pair<Ns, Ns>& span) : start_ns_(span.first), length_ns_(span.second - span.first), times_(kCells) {}

  void add(Ns from, Ns to, Binding what) {
    if (length_ns_ <= 0) return;
    const double first = place(from), last = place(to);
    for (double at = first; at < last;) {
      const auto cell = std::min(kCells - 1, static_cast<std::size_t>(at));
      const double until = std::min(last, static_cast<double>(cell + 1));
      times_[cell][static_cast<std::size_t>(what)] += until - at;
      at = std::max(until, static_cast<double>(cell + 1));
    }
  }

  std::vector<StripPart> parts() const {
    std::vector<StripPart> parts;
    const double width = static_cast<double>(length_ns_) / kCells;
    for (std::size_t cell = 0; cell < kCells; ++cell) {
      const auto most = std::max_element(times_[cell].begin(), times_[cell].end());
      double all = 0;
      for (const double time : times_[cell]) all += time;
      if (all < 0.5) continue;
      const auto what = static_cast<Binding>(most - times_[cell].begin());
      const double start = static_cast<double>(cell) * width;
      if (!parts.empty() && parts.back().what == what && parts.back().end_ns > start - width / 2) parts.back().end_ns = start + width;
      else parts.push_back({start, start + width, what});
    }
    return parts;
  }

 private:
  // In cells.
  double place(Ns time) const {
    return std::clamp(static_cast<double>(time - start_ns_) / static_cast<double>(length_ns_), 0.0, 1.0) * static_cast<double>(kCells);
  }

  Ns start_ns_, length_ns_;
  std::vector<std::array<double, 4>> times_;  // by cell and Binding, of the cell
};

}  // namespace

WindowStrip window_strip(const Trace& trace, const ReplayGraph& graph, const Replayed& replayed, const Window& window,
                         const std::pair<Ns, Ns>& span) {
  StripCells host(span), gpu(span);
  const CallSpan calls = calls_between(graph, window.thread, window.start_ns, window.end_ns);
  for (std::uint32_t i = calls.first; i < calls.last; ++i) {
    const Ns begin = replayed.call_start_ns[i], end = replayed.call_end_ns[i];
    const Ns own = graph.calls[i].kind == CallKind::kWait ? begin : std::min(end, begin + graph.calls[i].own_ns);
    host.add(graph.calls[i].previous != kNone ? replayed.call_end_ns[graph.calls[i].previous] : span.first, begin, Binding::kHostCode);
    host.add(begin, own, Binding::kLaunches);
    host.add(own, end, Binding::kWaits);
  }
  const Ns last = calls.last > calls.first ? replayed.call_end_ns[calls.last - 1] : span.first;
  host.add(last, replayed_time(graph, replayed, window.thread, window.end_ns), Binding::kHostCode);
  Spans works;
  for (std::size_t i = 0; i < graph.works.size(); ++i) {
    const std::uint32_t queue = graph.works[i].queue;
    if (process_slot_of_queue(trace, queue) != window.process) continue;
    if (replayed.work_start_ns[i] < span.second && replayed.work_end_ns[i] > span.first)
      works.emplace_back(replayed.work_start_ns[i], replayed.work_end_ns[i]);
  }
  for (const auto& [start, end] : union_of(std::move(works))) gpu.add(start, end, Binding::kGpu);
  return {static_cast<double>(span.second - span.first), host.parts(), gpu.parts()};
}

}  // namespace nl::analysis
