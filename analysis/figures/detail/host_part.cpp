#include "analysis/figures/detail/host_part.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/trace/api_kind.h"

namespace nl::analysis {
namespace {

class CallSlices {
 public:
  explicit CallSlices(const DetailParts& parts) : parts_(parts), launches_(parts.launches), others_(parts.other_calls) {}

  // Both tables of calls, by start.
  void add_thread(std::uint32_t thread) {
    const std::uint32_t lane = parts_.lanes.of_calls(thread);
    if (lane == kNone) return;
    std::size_t launch = launches_.first(thread), other = others_.first(thread);
    while (launch < launches_.last(thread) || other < others_.last(thread)) {
      const bool first =
          other == others_.last(thread) || (launch < launches_.last(thread) && launches_[launch].start_ns <= others_[other].start_ns);
      add(lane, first ? launches_[launch++] : others_[other++], first);
    }
  }

 private:
  void add(std::uint32_t lane, const ApiCall& call, bool launches) {
    DetailSlice slice{call.start_ns, static_cast<Ns>(call.duration_ns), parts_.names.of(LaneKind::kApi, call.name)};
    parts_.filling.add(lane, call.start_ns, call.end_ns(), slice.name);
    if (!parts_.slices.shows(call.start_ns, call.end_ns())) return;
    const WorkOrigin origin{static_cast<std::uint32_t>(call.thread), call.start_ns, call.end_ns()};
    slice.operator_ = parts_.origins.operator_of(origin, origin);
    slice.layer = parts_.origins.layer_of(origin, origin);
    slice.site = parts_.sites.of(origin);
    if (launches) parts_.slices.add_call(lane, slice, static_cast<std::uint32_t>(&call - parts_.trace.api_calls.data()));
    else parts_.slices.add(lane, slice);
  }

  const DetailParts& parts_;
  const CallsByThread &launches_, &others_;
};

// The exact window that shows it whole, or kNone.
std::uint32_t shown_by(const Spans& exact, Ns start_ns, Ns end_ns) {
  const auto after =
      std::upper_bound(exact.begin(), exact.end(), start_ns, [](Ns time_ns, const auto& span) { return time_ns < span.second; });
  return after != exact.end() && after->first <= start_ns && after->second >= end_ns ? static_cast<std::uint32_t>(after - exact.begin())
                                                                                     : kNone;
}

}  // namespace

void add_host_slices(const DetailParts& parts) {
  for (const std::uint32_t i : parts.lanes.ranges_by_start()) {
    const std::uint32_t lane = parts.lanes.of_range(i);
    if (lane == kNone) continue;
    const Range& range = parts.trace.ranges[i];
    const Ns end_ns = std::max(range.start_ns, range.end_ns);
    const DetailSlice slice{range.start_ns, end_ns - range.start_ns, parts.names.of(LaneKind::kRanges, range.name)};
    parts.filling.add(lane, range.start_ns, end_ns, slice.name);
    parts.slices.add(lane, slice);
  }
  CallSlices calls(parts);
  for (std::uint32_t i = 0; i < parts.trace.threads.size(); ++i) calls.add_thread(i);
  parts.slices.end_calls();
}

std::vector<std::uint32_t> listed_steps(const std::vector<Window>& windows, const Spans& exact, std::size_t most) {
  std::vector<std::uint32_t> listed(windows.size(), kNone);
  const std::size_t each = most == 0 ? 1 : (windows.size() + most - 1) / most;
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < windows.size(); ++i)
    if (each <= 1 || i % each == 0 || (exact.size() > 1 && shown_by(exact, windows[i].start_ns, windows[i].end_ns) != kNone))
      listed[i] = count++;
  return listed;
}

std::vector<DetailStep> list_steps(const std::vector<Window>& windows, const std::vector<std::uint32_t>& listed) {
  std::vector<DetailStep> steps;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> positions;  // by thread, iteration and stage
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Window& window = windows[i];
    const std::uint32_t position = positions[{window.thread, window.iteration, window.stage}]++;
    if (listed[i] == kNone) continue;
    DetailStep& step = steps.emplace_back();
    step.stage = window.stage;
    step.start_ns = window.start_ns;
    step.wall_ns = window.wall_ns();
    step.iteration = window.iteration;
    step.position = position;
    step.warmup = window.warmup;
    step.tokens = window.tokens;
  }
  return steps;
}

void find_exact_windows(const Spans& exact, std::vector<DetailStep>& steps) {
  for (DetailStep& step : steps) step.window = shown_by(exact, step.start_ns, step.start_ns + step.wall_ns);
}

}  // namespace nl::analysis
