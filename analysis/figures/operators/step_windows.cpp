#include "analysis/figures/operators/step_windows.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "model/words.h"

namespace nl::analysis {
namespace {

bool is_step(StageKind kind) {
  switch (kind) {
    case StageKind::kPrefill:
    case StageKind::kDecodeStep:
    case StageKind::kVision:
    case StageKind::kVisionEncoder:
    case StageKind::kVisionTower:
    case StageKind::kProjector: return true;
    default: return false;
  }
}

class StepFilter {
 public:
  // `windows`: those of a thread in the order of their start.
  StepFilter(const StageTable& table, const std::vector<Window>& windows) : table_(table) {
    for (const Window& window : windows) {
      if (window.derived || !is_step(kind_of(window))) continue;
      Steps& steps = steps_[window.thread];
      steps.starts.push_back(window.start_ns);
      steps.latest_end.push_back(steps.latest_end.empty() ? window.end_ns : std::max(window.end_ns, steps.latest_end.back()));
      decode_steps_ = decode_steps_ || kind_of(window) == StageKind::kDecodeStep;
    }
  }
  bool counts(const Window& window) const {
    const StageKind kind = kind_of(window);
    if (window.derived) return false;
    if (is_step(kind)) return true;
    if (kind == StageKind::kDecode) return !decode_steps_;
    return kind == StageKind::kOther && !meets_step(window);
  }

 private:
  StageKind kind_of(const Window& window) const { return stage_kind(table_.stages()[window.stage]); }
  bool meets_step(const Window& window) const {
    const auto found = steps_.find(window.thread);
    if (found == steps_.end()) return false;
    const Steps& steps = found->second;
    const auto begun = std::lower_bound(steps.starts.begin(), steps.starts.end(), window.end_ns) - steps.starts.begin();
    return begun > 0 && steps.latest_end[static_cast<std::size_t>(begun - 1)] > window.start_ns;
  }

  struct Steps {
    std::vector<Ns> starts, latest_end;  // the latest end so far
  };
  const StageTable& table_;
  std::map<std::uint32_t, Steps> steps_;  // by thread
  bool decode_steps_ = false;
};

void count_up(const StepWindows& steps, std::uint32_t window, std::vector<std::uint64_t>& counts) {
  for (; window != kNone; window = steps.parent(window)) ++counts[window];
}

std::vector<std::uint64_t> ranges_by_window(const Trace& trace, const StepWindows& steps, const RangeItems& operators) {
  std::vector<std::uint64_t> counts(steps.all().size());
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    const Range& range = trace.ranges[i];
    if (operators.item_of_range[i] != kNone) count_up(steps, steps.find(range.thread, range.start_ns, range.end_ns), counts);
  }
  return counts;
}

std::vector<std::uint64_t> replayed_by_window(const Trace& trace, const StepWindows& steps, const RangeItems& operators,
                                              const RangeIndex& index) {
  std::vector<std::uint64_t> counts(steps.all().size());
  InnermostRange innermost(index, operators);
  if (trace.graph_nodes.empty()) return counts;
  visit_work(trace, [&](const WorkRow& row) {
    if (row.origin == row.launch) return;
    const std::uint32_t window = steps.find(row.launch.thread, row.launch.start_ns, row.launch.end_ns);
    if (window != kNone && innermost.of(row.origin) != kNone) count_up(steps, window, counts);
  });
  return counts;
}

std::vector<StepWindow> steps_in(const StagedTrace& staged) {
  std::vector<Window> windows = staged.windows;
  std::sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
    return std::tuple(a.process, a.thread, a.start_ns, -a.end_ns, a.stage) <
           std::tuple(b.process, b.thread, b.start_ns, -b.end_ns, b.stage);
  });
  const StepFilter filter(staged.table, windows);
  std::map<std::uint32_t, std::uint64_t> numbers;
  std::vector<StepWindow> steps;
  for (const Window& window : windows)
    if (filter.counts(window))
      steps.push_back(
          {staged.table.stages()[window.stage], window.start_ns, window.end_ns, window.thread, numbers[window.stage]++, window.warmup});
  return steps;
}

}  // namespace

StepWindows::StepWindows(const StagedTrace& staged) : StepWindows(steps_in(staged), staged.trace.threads.size()) {}

StepWindows::StepWindows(std::vector<StepWindow> windows, std::size_t threads)
    : windows_(std::move(windows)), parents_(windows_.size(), kNone), stretches_(threads) {
  for (std::uint32_t thread = 0; thread < threads; ++thread) nest(thread);
}

// Of the windows that are open, the one that began last is the innermost.
void StepWindows::nest(std::uint32_t thread) {
  std::vector<std::tuple<Ns, bool, std::uint32_t>> edges;  // an end comes before a start of the same time
  for (std::uint32_t i = 0; i < windows_.size(); ++i) {
    if (windows_[i].thread != thread) continue;
    edges.emplace_back(windows_[i].start_ns, true, i);
    edges.emplace_back(windows_[i].end_ns, false, i);
  }
  std::sort(edges.begin(), edges.end());
  std::set<std::tuple<Ns, Ns, std::uint32_t>> open;
  for (const auto& [time_ns, begins, window] : edges) {
    const std::tuple key(windows_[window].start_ns, -windows_[window].end_ns, window);
    if (begins) {
      for (auto around = open.rbegin(); around != open.rend() && parents_[window] == kNone; ++around)
        if (windows_[std::get<2>(*around)].end_ns >= windows_[window].end_ns) parents_[window] = std::get<2>(*around);
      open.insert(key);
    } else {
      open.erase(key);
    }
    stretches_[thread].push_back({time_ns, open.empty() ? kNone : std::get<2>(*open.rbegin())});
  }
}

std::uint32_t StepWindows::find(std::uint32_t thread, Ns start_ns, Ns end_ns) const {
  if (thread >= stretches_.size()) return kNone;
  const auto& stretches = stretches_[thread];
  const auto after = std::upper_bound(stretches.begin(), stretches.end(), start_ns,
                                      [](Ns time, const Stretch& stretch) { return time < stretch.start_ns; });
  if (after == stretches.begin()) return kNone;
  const std::uint32_t window = std::prev(after)->window;
  return window != kNone && windows_[window].holds(thread, start_ns, end_ns) ? window : kNone;
}

std::vector<std::string> StepWindows::stages() const {
  std::vector<const StepWindow*> order;
  for (const StepWindow& window : windows_) order.push_back(&window);
  std::stable_sort(order.begin(), order.end(), [](const StepWindow* a, const StepWindow* b) { return a->start_ns < b->start_ns; });
  std::vector<std::string> names;
  for (const StepWindow* window : order)
    if (std::find(names.begin(), names.end(), window->stage) == names.end()) names.push_back(window->stage);
  return names;
}

void StepWindows::take_warmup_from(const StepWindows& other) {
  std::map<std::pair<std::string, std::uint64_t>, bool> warmup;
  for (const StepWindow& window : other.windows_) warmup[{window.stage, window.number}] = window.warmup;
  std::map<std::string, bool> alike;
  for (const std::string& stage : stages()) alike[stage] = count(stage) == other.count(stage);
  for (StepWindow& window : windows_) window.warmup = alike[window.stage] && warmup[{window.stage, window.number}];
}

std::uint64_t StepWindows::count(const std::string& stage) const {
  return static_cast<std::uint64_t>(
      std::count_if(windows_.begin(), windows_.end(), [&](const StepWindow& window) { return window.stage == stage; }));
}

StepWindows profile_windows(const Trace& trace) {
  constexpr std::string_view kStep = "ProfilerStep";
  std::vector<StepWindow> steps;
  std::vector<std::uint64_t> operators(trace.threads.size());
  for (const Range& range : trace.ranges) {
    if (range.thread >= trace.threads.size()) continue;
    if (trace.strings[range.domain] == kTorchDomain) ++operators[range.thread];
    if (trace.strings[range.domain].empty() && trace.strings[range.name].starts_with(kStep))
      steps.push_back({std::string(kStep), range.start_ns, range.end_ns, range.thread, steps.size(), false});
  }
  if (steps.empty() && !operators.empty()) {
    const auto busiest = std::max_element(operators.begin(), operators.end()) - operators.begin();
    steps.push_back({"profile", 0, trace.duration_ns, static_cast<std::uint32_t>(busiest), 0, false});
  }
  return {std::move(steps), trace.threads.size()};
}

WindowOperators operators_by_window(const Trace& trace, const StepWindows& steps, const RangeItems& operators, const RangeIndex& index) {
  WindowOperators out{ranges_by_window(trace, steps, operators), replayed_by_window(trace, steps, operators, index),
                      std::vector<bool>(steps.all().size())};
  for (const std::string& stage : steps.stages()) {
    const auto choose = [&](const std::vector<std::uint64_t>& counts, bool warmup) {
      bool any = false;
      for (std::size_t i = 0; i < out.chosen.size(); ++i) {
        const StepWindow& window = steps.all()[i];
        if (window.stage == stage && counts[i] > 0 && (warmup || !window.warmup)) any = out.chosen[i] = true;
      }
      return any;
    };
    choose(out.ranges, false) || choose(out.ranges, true) || choose(out.replayed, false) || choose(out.replayed, true);
  }
  return out;
}

std::uint32_t InnermostRange::of(const WorkOrigin& origin) {
  const bool node = origin.start_ns == origin.end_ns;
  if (node)
    if (const auto found = nodes_.find({origin.thread, origin.start_ns}); found != nodes_.end()) return found->second;
  index_.enclosing(origin.thread, origin.start_ns, origin.end_ns, around_);
  std::uint32_t innermost = kNone;
  for (const std::uint32_t range : around_)
    if (items_.item_of_range[range] != kNone) innermost = range;
  if (node) nodes_[{origin.thread, origin.start_ns}] = innermost;
  return innermost;
}

}  // namespace nl::analysis
