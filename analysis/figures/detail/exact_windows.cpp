#include "analysis/figures/detail/exact_windows.h"

#include <limits>
#include <map>
#include <tuple>

#include "analysis/trace/gpu_order.h"

namespace nl::analysis {
namespace {

template <class Visit>
void each_slice(const Trace& trace, Visit visit) {
  each_gpu_work(trace, [&](const auto& work) { visit(work.start_ns, end_of(work)); });
  for (const auto* calls : {&trace.api_calls, &trace.other_calls})
    for (const ApiCall& call : *calls) visit(call.start_ns, call.end_ns());
  for (const Range& range : trace.ranges) visit(range.start_ns, range.end_ns);
}

std::size_t slices_of(const Trace& trace) {
  return trace.kernels.size() + trace.mem_ops.size() + trace.graph_runs.size() + trace.api_calls.size() + trace.other_calls.size() +
         trace.ranges.size();
}

// About how many slices start in a stretch of time: never fewer than do.
class SliceDensity {
 public:
  SliceDensity(const Trace& trace, const CaptureSpan& capture)
      : start_ns_(capture.start_ns), cell_ns_((capture.end_ns - capture.start_ns) / kCells + 1), before_(kCells + 1, 0) {
    each_slice(trace, [&](Ns start_ns, Ns) { ++before_[cell_of(start_ns) + 1]; });
    for (std::size_t i = 1; i < before_.size(); ++i) before_[i] += before_[i - 1];
  }
  std::uint64_t within(Ns start_ns, Ns end_ns) const { return before_[cell_of(end_ns) + 1] - before_[cell_of(start_ns)]; }
  // The latest end with which a stretch has at most so many.
  Ns end_with(Ns start_ns, Ns end_ns, std::uint64_t most) const {
    const std::size_t first = cell_of(start_ns);
    std::size_t last = cell_of(end_ns);
    while (last > first && before_[last + 1] - before_[first] > most) --last;
    return std::min(end_ns, start_ns_ + static_cast<Ns>(last + 1) * cell_ns_ - 1);
  }

 private:
  static constexpr Ns kCells = 1 << 16;
  std::size_t cell_of(Ns time_ns) const {
    return static_cast<std::size_t>(std::clamp<Ns>((time_ns - start_ns_) / cell_ns_, 0, kCells - 1));
  }

  Ns start_ns_, cell_ns_;
  std::vector<std::uint64_t> before_;
};

constexpr std::size_t kMostSpans = 400;  // each costs a list for every lane, here and in the page

class WindowChoice {
 public:
  WindowChoice(const Trace& trace, const CaptureSpan& capture, std::size_t most)
      : density_(trace, capture), capture_(capture), room_(most), most_(most) {}

  // What does not fit whole is shown from its start.
  void cite(Ns start_ns, Ns end_ns) {
    start_ns = std::max(start_ns, capture_.start_ns);
    end_ns = std::min(end_ns, capture_.end_ns);
    if (end_ns <= start_ns) return;
    const std::uint64_t most = std::min<std::uint64_t>(room_, most_ / 4);
    if (most == 0) return;
    take(start_ns, density_.within(start_ns, end_ns) <= most ? end_ns : std::max(start_ns + 1, density_.end_with(start_ns, end_ns, most)));
  }
  void add(Ns start_ns, Ns end_ns) {
    if (end_ns > start_ns && density_.within(start_ns, end_ns) <= room_) take(start_ns, end_ns);
  }
  void add(const Window& window) { add(window.start_ns, window.end_ns); }
  std::uint64_t cost_of(const Window& window) const { return density_.within(window.start_ns, window.end_ns); }
  std::uint64_t room() const { return room_; }
  std::size_t spans_left() const { return kMostSpans - std::min(kMostSpans, spans_.size()); }
  Spans chosen() const { return {spans_.begin(), spans_.end()}; }

 private:
  // Spans that touch become one.
  void take(Ns start_ns, Ns end_ns) {
    auto next = spans_.upper_bound(start_ns);
    if (next != spans_.begin() && std::prev(next)->second >= start_ns) --next;
    const bool joins = next != spans_.end() && next->first <= end_ns;
    if (joins && next->first <= start_ns && next->second >= end_ns) return;  // shown already
    if (!joins && spans_left() == 0) return;
    room_ -= std::min(room_, density_.within(start_ns, end_ns));
    for (; next != spans_.end() && next->first <= end_ns; next = spans_.erase(next)) {
      start_ns = std::min(start_ns, next->first);
      end_ns = std::max(end_ns, next->second);
    }
    spans_.emplace(start_ns, end_ns);
  }

  SliceDensity density_;
  CaptureSpan capture_;
  std::map<Ns, Ns> spans_;  // start to end, disjoint
  std::uint64_t room_, most_;
};

using WindowsOfStage = std::vector<const Window*>;

// By stage, those with the shortest windows first: a stage around others would leave no room for them.
std::vector<WindowsOfStage> windows_by_stage(const std::vector<Window>& windows) {
  std::map<std::uint32_t, WindowsOfStage> stages;
  for (const Window& window : windows)
    if (!window.warmup) stages[window.stage].push_back(&window);
  std::vector<WindowsOfStage> out;
  for (auto& [stage, list] : stages) {
    std::sort(list.begin(), list.end(),
              [](const Window* a, const Window* b) { return std::tuple(a->start_ns, a->end_ns) < std::tuple(b->start_ns, b->end_ns); });
    out.push_back(std::move(list));
  }
  const auto mean_ns = [](const WindowsOfStage& list) {
    Ns sum_ns = 0;
    for (const Window* window : list) sum_ns += window->wall_ns();
    return sum_ns / static_cast<Ns>(list.size());
  };
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return mean_ns(a) < mean_ns(b); });
  return out;
}

void add_typical(const WindowsOfStage& list, WindowChoice& choice) {
  WindowsOfStage by_wall = list;
  std::stable_sort(by_wall.begin(), by_wall.end(), [](const Window* a, const Window* b) { return a->wall_ns() < b->wall_ns(); });
  choice.add(*by_wall[(by_wall.size() - 1) / 2]);
  choice.add(*by_wall.back());
  choice.add(*list.front());
}

// Where there is room for more windows than there may be spans, runs of them, with what lies between.
void add_evenly(const WindowsOfStage& list, std::uint64_t room, WindowChoice& choice) {
  std::uint64_t cost = 0;
  for (const Window* window : list) cost += choice.cost_of(*window);
  const std::uint64_t mean = std::max<std::uint64_t>(1, cost / list.size());
  const std::size_t count = std::min<std::size_t>(list.size(), room / mean);
  const std::size_t runs = std::min(count, choice.spans_left());
  for (std::size_t i = 0; i < runs; ++i) {
    const std::size_t first = i * list.size() / runs, next = (i + 1) * list.size() / runs;
    const std::size_t last = count == list.size() ? next : std::min(next, first + std::max<std::size_t>(1, count / runs));
    Ns end_ns = list[first]->end_ns;
    for (std::size_t j = first; j < last; ++j) end_ns = std::max(end_ns, list[j]->end_ns);
    choice.add(list[first]->start_ns, end_ns);
  }
}

// The exact window that shows it whole, or kNone.
std::uint32_t shown_by(const Spans& exact, Ns start_ns, Ns end_ns) {
  const auto after = first_ending_after(exact, start_ns);
  return after != exact.end() && after->first <= start_ns && after->second >= end_ns ? static_cast<std::uint32_t>(after - exact.begin())
                                                                                     : kNone;
}

// What lasts no time is shown where it stands.
bool reaches(Spans::const_iterator window, Spans::const_iterator end, Ns start_ns, Ns end_ns) {
  return window != end && window->first < std::max(end_ns, start_ns + 1);
}

}  // namespace

CaptureSpan capture_span(const Trace& trace) {
  CaptureSpan span{std::numeric_limits<Ns>::max(), std::numeric_limits<Ns>::min()};
  each_slice(trace, [&](Ns start_ns, Ns end_ns) {
    span.start_ns = std::min(span.start_ns, start_ns);
    span.end_ns = std::max({span.end_ns, start_ns, end_ns});
  });
  if (span.start_ns > span.end_ns) return {};
  ++span.end_ns;  // what happens at the very last moment lies inside, too
  return span;
}

Spans exact_windows(const Trace& trace, const CaptureSpan& capture, const std::vector<Window>& windows, const Spans& cited,
                    std::size_t most_slices) {
  if (slices_of(trace) <= most_slices) return {{capture.start_ns, capture.end_ns}};
  WindowChoice choice(trace, capture, most_slices);
  for (const auto& [start_ns, end_ns] : cited) choice.cite(start_ns, end_ns);
  const std::vector<WindowsOfStage> stages = windows_by_stage(windows);
  for (const WindowsOfStage& list : stages) add_typical(list, choice);
  for (std::size_t i = 0; i < stages.size(); ++i) add_evenly(stages[i], choice.room() / (stages.size() - i), choice);
  if (stages.empty()) choice.cite(capture.start_ns + (capture.end_ns - capture.start_ns) / 2, capture.end_ns);
  return choice.chosen();
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

std::vector<DetailStep> list_steps(const std::vector<Window>& windows, const std::vector<std::uint32_t>& listed, const Spans& exact) {
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
    step.window = shown_by(exact, window.start_ns, window.start_ns + step.wall_ns);
  }
  return steps;
}

SliceCollector::SliceCollector(const Spans& exact, std::size_t lanes) : exact_(exact), windows_(exact.size()) {
  for (Shown& window : windows_) {
    window.lanes.resize(lanes);
    for (std::uint32_t i = 0; i < lanes; ++i) window.lanes[i].lane = i;
  }
}

bool SliceCollector::shows(Ns start_ns, Ns end_ns) const {
  return reaches(first_ending_after(exact_, start_ns), exact_.end(), start_ns, end_ns);
}

template <class Visit>
void SliceCollector::each(std::uint32_t lane, const DetailSlice& slice, Visit visit) {
  const Ns end_ns = slice.start_ns + slice.duration_ns;
  for (auto window = first_ending_after(exact_, slice.start_ns); reaches(window, exact_.end(), slice.start_ns, end_ns); ++window) {
    Shown& shown = windows_[static_cast<std::size_t>(window - exact_.begin())];
    visit(shown, shown.lanes[lane].slices);
  }
}

void SliceCollector::add(std::uint32_t lane, const DetailSlice& slice) {
  each(lane, slice, [&](Shown&, DetailSliceList& slices) { slices.push_back(slice); });
}

void SliceCollector::add_call(std::uint32_t lane, const DetailSlice& slice, std::uint32_t api) {
  each(lane, slice, [&](Shown& window, DetailSliceList& slices) {
    window.calls.push_back({api, lane, static_cast<std::uint32_t>(slices.size())});
    slices.push_back(slice);
  });
}

void SliceCollector::end_calls() {
  for (Shown& window : windows_)
    std::sort(window.calls.begin(), window.calls.end(), [](const Call& a, const Call& b) { return a.api < b.api; });
}

void SliceCollector::add_work(std::uint32_t lane, DetailSlice slice, std::uint32_t api) {
  each(lane, slice, [&](Shown& window, DetailSliceList& slices) {
    const auto call = std::lower_bound(window.calls.begin(), window.calls.end(), api,
                                       [](const Call& each, std::uint32_t wanted) { return each.api < wanted; });
    const bool shown = call != window.calls.end() && call->api == api;
    slice.launch_lane = shown ? call->lane : kNone;
    slice.launch_slice = shown ? call->slice : kNone;
    slices.push_back(slice);
  });
}

std::vector<DetailWindow> SliceCollector::take() {
  std::vector<DetailWindow> out;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    DetailWindow& window = out.emplace_back();
    window.start_ns = exact_[i].first;
    window.end_ns = exact_[i].second;
    std::vector<std::uint32_t> place(windows_[i].lanes.size(), kNone);
    for (DetailSlices& lane : windows_[i].lanes) {
      if (lane.slices.empty()) continue;
      place[lane.lane] = static_cast<std::uint32_t>(window.lanes.size());
      window.lanes.push_back(std::move(lane));
    }
    for (DetailSlices& lane : window.lanes)
      for (DetailSlice& slice : lane.slices)
        if (slice.launch_lane != kNone) slice.launch_lane = place[slice.launch_lane];
  }
  return out;
}

}  // namespace nl::analysis
