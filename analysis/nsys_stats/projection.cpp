#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "analysis/nsys_stats/reports.h"
#include "analysis/statistics/time_summary.h"
#include "analysis/trace/range_index.h"

namespace nl::analysis {
namespace {

// A range as the GPU saw it: from the first start to the last end of the work launched inside it.
struct Projection {
  Ns start_ns = std::numeric_limits<Ns>::max();
  Ns end_ns = std::numeric_limits<Ns>::min();
  std::int64_t launches = 0;  // calls, so a graph of many kernels counts once
};

struct Group {
  Durations projected;
  Ns range_ns = 0;
  std::int64_t launches = 0, levels = 0, ranges_with_level = 0, children = 0;
};

class Projector {
 public:
  explicit Projector(const Trace& trace) : trace_(trace), order_(trace), has_kernel_(trace.api_calls.size()) {
    for (const Kernel& kernel : trace.kernels)
      if (kernel.api != kNone) has_kernel_[kernel.api] = true;
  }
  Projection project(std::uint32_t thread, Ns start_ns, Ns end_ns) const {
    Projection found;
    std::uint32_t last_call = kNone;
    auto widen = [&](Ns start, Ns end) {
      found.start_ns = std::min(found.start_ns, start);
      found.end_ns = std::max(found.end_ns, end);
    };
    order_.kernels_within(thread, start_ns, end_ns, [&](std::uint32_t i) {
      const Kernel& kernel = trace_.kernels[i];
      widen(kernel.start_ns, kernel.end_ns());
      if (std::exchange(last_call, kernel.api) != kernel.api) ++found.launches;
    });
    order_.mem_ops_within(thread, start_ns, end_ns, [&](std::uint32_t i) {
      const MemOp& op = trace_.mem_ops[i];
      widen(op.start_ns, op.end_ns);
      if (std::exchange(last_call, op.api) != op.api && !has_kernel_[op.api]) ++found.launches;
    });
    return found;
  }

 private:
  const Trace& trace_;
  LaunchOrder order_;
  std::vector<bool> has_kernel_;  // by API call
};

constexpr std::int64_t kNoLevel = -1;
constexpr std::size_t kTotalColumn = 2;

// How deep each range lies. Two ranges with the same times are each other's parent in nsys' book; they and
// all below them then have no level.
class Levels {
 public:
  Levels(const Trace& trace, const RangeIndex& index) : parents_(trace.ranges.size(), kNone), levels_(trace.ranges.size(), kUnknown) {
    for (std::uint32_t i = 0; i < trace.ranges.size(); ++i)
      if (trace.ranges[i].end_thread == kNone && !is_found_stage(trace, trace.ranges[i])) parents_[i] = index.parent_of(i);
    for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) settle(i);
  }
  std::uint32_t parent(std::uint32_t range) const { return parents_[range]; }
  std::int64_t level(std::uint32_t range) const { return levels_[range]; }

 private:
  static constexpr std::int64_t kUnknown = -2, kBeingSettled = -3;
  void settle(std::uint32_t range) {
    std::vector<std::uint32_t> path;
    std::uint32_t at = range;
    while (at != kNone && levels_[at] == kUnknown) {
      levels_[at] = kBeingSettled;
      path.push_back(at);
      at = parents_[at];
    }
    std::int64_t above = at == kNone ? kNoLevel : levels_[at];
    bool endless = at != kNone && above < 0;
    while (!path.empty()) {
      levels_[path.back()] = endless ? kNoLevel : ++above;
      path.pop_back();
    }
  }

  std::vector<std::uint32_t> parents_;
  std::vector<std::int64_t> levels_;
};

StatTable::Cell tenth(double sum, std::int64_t count) {
  if (count == 0) return std::monostate();
  return StatTable::Tenth{sum / static_cast<double>(count)};
}

std::vector<StatTable::Cell> row_of(const std::string& name, std::string_view style, const Group& group) {
  TimeSummary time = summarise_times(group.projected);
  auto count = static_cast<std::int64_t>(time.count);
  return {name,
          std::string(style),
          time.total_ns,
          group.range_ns,
          count,
          StatTable::Tenth{time.mean_ns},
          StatTable::Tenth{time.median_ns},
          time.min_ns,
          time.max_ns,
          StatTable::Tenth{time.stddev_ns},
          group.launches,
          tenth(static_cast<double>(group.launches), count),
          tenth(static_cast<double>(group.levels), group.ranges_with_level),
          tenth(static_cast<double>(group.children), count)};
}

using ProjectedGroups = std::map<std::pair<std::string, std::string_view>, Group>;

ProjectedGroups project_all(const Trace& trace) {
  RangeIndex index(trace, last_range_time(trace), RangeIndex::Of::kWorkload);
  Projector projector(trace);
  Levels levels(trace, index);
  std::vector<Projection> projections(trace.ranges.size());
  std::vector<std::int64_t> children(trace.ranges.size(), 0);
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const Range& range = trace.ranges[i];
    if (range.end_thread != kNone || is_found_stage(trace, range)) continue;
    projections[i] = projector.project(range.thread, range.start_ns, index.end_ns(i));
    if (projections[i].launches > 0 && levels.parent(i) != kNone) ++children[levels.parent(i)];
  }
  ProjectedGroups groups;
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    if (projections[i].launches == 0) continue;
    const Range& range = trace.ranges[i];
    Group& group = groups[{range_tag(trace, range), style_name(range.style)}];
    group.projected.add(projections[i].end_ns - projections[i].start_ns);
    group.range_ns += index.end_ns(i) - range.start_ns;
    group.launches += projections[i].launches;
    group.children += children[i];
    if (levels.level(i) == kNoLevel) continue;
    group.levels += levels.level(i);
    ++group.ranges_with_level;
  }
  return groups;
}

}  // namespace

StatTable range_projection_sum(const Trace& trace) {
  StatTable table;
  table.columns = {"Range",         "Style",         "Total Proj Time (ns)", "Total Range Time (ns)", "Range Instances",
                   "Proj Avg (ns)", "Proj Med (ns)", "Proj Min (ns)",        "Proj Max (ns)",         "Proj StdDev (ns)",
                   "Total GPU Ops", "Avg GPU Ops",   "Avg Range Lvl",        "Avg Num Child"};
  ProjectedGroups groups = project_all(trace);
  for (const auto& [key, group] : groups) table.rows.push_back(row_of(key.first, key.second, group));
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    return std::get<std::int64_t>(a[kTotalColumn]) > std::get<std::int64_t>(b[kTotalColumn]);
  });
  return table;
}

}  // namespace nl::analysis
