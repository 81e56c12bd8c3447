#include "analysis/replay/strip.h"

#include <algorithm>
#include <vector>

#include "analysis/trace/covered_time.h"
#include "analysis/trace/gpu_lanes.h"
#include "analysis/trace/strip_cells.h"

namespace nl::analysis {
namespace {

using Cells = StripCells<4>;  // kinds: Binding

std::vector<StripPart> parts_of(const Cells& cells) {
  std::vector<StripPart> parts;
  for (const Cells::Part& part : cells.parts())
    if (part.kind != Cells::kNothing) parts.push_back({part.start_ns, part.end_ns, static_cast<Binding>(part.kind)});
  return parts;
}

void add(Cells& cells, Ns from, Ns to, Binding what) { cells.add(from, to, static_cast<std::size_t>(what)); }

}  // namespace

WindowStrip window_strip(const Trace& trace, const ReplayGraph& graph, const Replayed& replayed, const Window& window,
                         const std::pair<Ns, Ns>& span) {
  Cells host(span.first, span.second), gpu(span.first, span.second);
  const CallSpan calls = calls_between(graph, window.thread, window.start_ns, window.end_ns);
  for (std::uint32_t i = calls.first; i < calls.last; ++i) {
    const Ns begin = replayed.call_start_ns[i], end = replayed.call_end_ns[i];
    const Ns own = graph.calls[i].kind == CallKind::kWait ? begin : std::min(end, begin + graph.calls[i].own_ns);
    add(host, graph.calls[i].previous != kNone ? replayed.call_end_ns[graph.calls[i].previous] : span.first, begin, Binding::kHostCode);
    add(host, begin, own, Binding::kLaunches);
    add(host, own, end, Binding::kWaits);
  }
  const Ns last = calls.last > calls.first ? replayed.call_end_ns[calls.last - 1] : span.first;
  add(host, last, replayed_time(graph, replayed, window.thread, window.end_ns), Binding::kHostCode);
  Spans works;
  for (std::size_t i = 0; i < graph.works.size(); ++i) {
    const std::uint32_t queue = graph.works[i].queue;
    if (process_slot_of_queue(trace, queue) != window.process) continue;
    if (replayed.work_start_ns[i] < span.second && replayed.work_end_ns[i] > span.first)
      works.emplace_back(replayed.work_start_ns[i], replayed.work_end_ns[i]);
  }
  for (const auto& [start, end] : union_of(std::move(works))) add(gpu, start, end, Binding::kGpu);
  return {static_cast<double>(span.second - span.first), parts_of(host), parts_of(gpu)};
}

}  // namespace nl::analysis
