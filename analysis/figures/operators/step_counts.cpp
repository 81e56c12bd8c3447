#include "analysis/figures/operators/step_counts.h"

namespace nl::analysis {
namespace {

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

}  // namespace

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
