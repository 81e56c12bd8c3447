#include <algorithm>
#include <map>
#include <utility>

#include "analysis/nsys_stats/range_work.h"
#include "analysis/nsys_stats/reports.h"
#include "analysis/statistics/time_summary.h"
#include "analysis/trace/range_index.h"

namespace nl::analysis {
namespace {

struct Group {
  Durations projected;
  Ns range_ns = 0;
  std::int64_t launches = 0, levels = 0, ranges_with_level = 0, children = 0;
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

ProjectedGroups project_all(const Trace& trace, const RangeWork& work) {
  const RangeIndex index(trace, last_range_time(trace), RangeIndex::Of::kWorkload);
  const Levels levels(trace, index);
  std::vector<RangeWork::Projection> projections(trace.ranges.size());
  std::vector<std::int64_t> children(trace.ranges.size(), 0);
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    projections[i] = work.projection(i);
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

StatTable range_projection_sum(const Trace& trace, const RangeWork& work) {
  StatTable table;
  table.columns = {"Range",         "Style",         "Total Proj Time (ns)", "Total Range Time (ns)", "Range Instances",
                   "Proj Avg (ns)", "Proj Med (ns)", "Proj Min (ns)",        "Proj Max (ns)",         "Proj StdDev (ns)",
                   "Total GPU Ops", "Avg GPU Ops",   "Avg Range Lvl",        "Avg Num Child"};
  ProjectedGroups groups = project_all(trace, work);
  for (const auto& [key, group] : groups) table.rows.push_back(row_of(key.first, key.second, group));
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    return std::get<std::int64_t>(a[kTotalColumn]) > std::get<std::int64_t>(b[kTotalColumn]);
  });
  return table;
}

}  // namespace nl::analysis
