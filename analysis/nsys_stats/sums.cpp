#include <algorithm>
#include <map>
#include <utility>

#include "analysis/nsys_stats/rows.h"
#include "analysis/statistics/time_summary.h"

namespace nl::analysis {
namespace {

StatTable time_table(std::vector<std::string> names, std::string instances) {
  StatTable table;
  table.columns = {"Time (%)", "Total Time (ns)", std::move(instances), "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)"};
  table.columns.insert(table.columns.end(), names.begin(), names.end());
  return table;
}

}  // namespace

std::string_view style_name(RangeStyle style) { return style == RangeStyle::kPushPop ? "PushPop" : "StartEnd"; }

std::string range_tag(const Trace& trace, const Range& range) { return trace.strings[range.domain] + ":" + trace.strings[range.name]; }

Ns last_range_time(const Trace& trace) {
  Ns last = 0;
  for (const Range& range : trace.ranges) last = std::max(last, range.open ? range.start_ns : range.end_ns);
  return last;
}

void add_time_rows(std::vector<NamedTimes> entries, StatTable& table) {
  Ns all = 0;
  for (const NamedTimes& entry : entries) all += entry.time.total_ns;
  std::stable_sort(entries.begin(), entries.end(),
                   [](const NamedTimes& a, const NamedTimes& b) { return a.time.total_ns > b.time.total_ns; });
  for (NamedTimes& entry : entries) {
    const TimeSummary& time = entry.time;
    StatTable::Cell share;
    if (all == 0) share = std::monostate();
    else share = StatTable::Tenth{static_cast<double>(time.total_ns) * 100.0 / static_cast<double>(all)};
    std::vector<StatTable::Cell> row{
        share,       time.total_ns, static_cast<std::int64_t>(time.count), StatTable::Tenth{time.mean_ns}, StatTable::Tenth{time.median_ns},
        time.min_ns, time.max_ns,   StatTable::Tenth{time.stddev_ns}};
    if (!entry.style.empty()) row.emplace_back(std::move(entry.style));
    row.emplace_back(std::move(entry.name));
    table.rows.push_back(std::move(row));
  }
}

StatTable kernel_sum(const Trace& trace) {
  std::vector<Durations> by_name(trace.strings.size());
  for (const Kernel& kernel : trace.kernels) by_name[trace.shapes[kernel.shape].name.value].add(static_cast<Ns>(kernel.duration_ns));
  std::vector<NamedTimes> entries;
  for (std::uint32_t id = 0; id < by_name.size(); ++id)
    if (by_name[id].count() > 0) entries.push_back({trace.strings[StringId{id}], {}, summarise_times(std::exchange(by_name[id], {}))});
  std::sort(entries.begin(), entries.end(),
            [](const NamedTimes& a, const NamedTimes& b) { return std::tie(a.time.count, a.name) < std::tie(b.time.count, b.name); });
  StatTable table = time_table({"Name"}, "Instances");
  add_time_rows(std::move(entries), table);
  return table;
}

StatTable api_sum(const Trace& trace) {
  std::vector<NamedTimes> entries;
  for (const ApiStat& api : trace.api_stats) entries.push_back({trace.strings[api.name], {}, summarise_times(api.durations)});
  StatTable table = time_table({"Name"}, "Num Calls");
  add_time_rows(std::move(entries), table);
  return table;
}

StatTable mem_time_sum(const Trace& trace) {
  std::map<std::string, Durations> by_label;
  for (const MemOp& op : trace.mem_ops)
    if (op.label != 0) by_label[trace.strings[StringId{op.label}]].add(op.end_ns - op.start_ns);
  std::vector<NamedTimes> entries;
  for (auto& [label, durations] : by_label) entries.push_back({label, {}, summarise_times(durations)});
  StatTable table = time_table({"Operation"}, "Count");
  add_time_rows(std::move(entries), table);
  return table;
}

StatTable range_sum(const Trace& trace) {
  std::map<std::pair<std::string, std::string_view>, Durations> by_name;
  for (const Range& range : trace.ranges) {
    // nsys ends what was never closed with the last annotation of any kind.
    Ns end = range.open ? trace.last_range_event_ns.value_or(range.end_ns) : range.end_ns;
    by_name[{range_tag(trace, range), style_name(range.style)}].add(end - range.start_ns);
  }
  std::vector<NamedTimes> entries;
  for (auto& [key, durations] : by_name) entries.push_back({key.first, std::string(key.second), summarise_times(durations)});
  StatTable table = time_table({"Style", "Range"}, "Instances");
  add_time_rows(std::move(entries), table);
  return table;
}

}  // namespace nl::analysis
