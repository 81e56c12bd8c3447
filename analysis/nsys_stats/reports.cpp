#include "analysis/nsys_stats/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/nsys_stats/range_work.h"
#include "analysis/statistics/time_summary.h"
#include "model/error.h"
#include "model/parallel.h"
#include "model/run.h"

namespace nl::analysis {
namespace {

struct NamedTimes {
  std::string name;
  std::string style;  // only of ranges
  TimeSummary time;
};

// "Time (%) … StdDev" and then the names for each entry, longest total first. Entries must come in the order in which ties are to stay.
StatTable time_table(const std::vector<std::string>& names, std::string instances, std::vector<NamedTimes> entries) {
  StatTable table;
  table.columns = {"Time (%)", "Total Time (ns)", std::move(instances), "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)"};
  table.columns.insert(table.columns.end(), names.begin(), names.end());
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
  return table;
}

std::vector<ApiStat> kernels_by_name(const Trace& trace) {
  DurationsByName all;
  for (const Kernel& kernel : trace.kernels) all.add(trace.shapes[kernel.shape].name, static_cast<Ns>(kernel.duration_ns));
  return all.take();
}

StatTable kernel_sum(const StatSums& sums) {
  std::vector<NamedTimes> entries(sums.kernels.size());
  each_in_parallel(entries.size(), [&](std::size_t i) {
    entries[i] = {sums.trace.strings[sums.kernels[i].name], {}, summarise_times(sums.kernels[i].durations)};
  });
  std::sort(entries.begin(), entries.end(),
            [](const NamedTimes& a, const NamedTimes& b) { return std::tie(a.time.count, a.name) < std::tie(b.time.count, b.name); });
  return time_table({"Name"}, "Instances", std::move(entries));
}

StatTable api_sum(const StatSums& sums) {
  const std::vector<ApiStat>& calls = sums.trace.api_stats;
  std::vector<NamedTimes> entries(calls.size());
  each_in_parallel(entries.size(),
                   [&](std::size_t i) { entries[i] = {sums.trace.strings[calls[i].name], {}, summarise_times(calls[i].durations)}; });
  return time_table({"Name"}, "Num Calls", std::move(entries));
}

StatTable mem_time_sum(const StatSums& sums) {
  const Trace& trace = sums.trace;
  std::map<std::string, Durations> by_label;
  for (const MemOp& op : trace.mem_ops)
    if (op.label != 0) by_label[trace.strings[StringId{op.label}]].add(op.end_ns - op.start_ns);
  std::vector<NamedTimes> entries;
  for (auto& [label, durations] : by_label) entries.push_back({label, {}, summarise_times(durations)});
  return time_table({"Operation"}, "Count", std::move(entries));
}

StatTable range_sum(const StatSums& sums) {
  const Trace& trace = sums.trace;
  std::map<std::pair<std::string, std::string_view>, Durations> by_name;
  for (const Range& range : trace.ranges) {
    if (is_found_stage(trace, range)) continue;
    // nsys ends what was never closed with the last annotation of any kind.
    Ns end = range.open ? trace.last_range_event_ns.value_or(range.end_ns) : range.end_ns;
    by_name[{range_tag(trace, range), style_name(range.style)}].add(end - range.start_ns);
  }
  std::vector<NamedTimes> entries;
  for (auto& [key, durations] : by_name) entries.push_back({key.first, std::string(key.second), summarise_times(durations)});
  return time_table({"Style", "Range"}, "Instances", std::move(entries));
}

struct Need {
  bool Trace::* there;
  const char* otherwise;
  bool Trace::* instead = nullptr;  // the report can be made from this, too
};

constexpr Need kKernels{&Trace::has_kernel_data,
                        "the capture has no CUDA kernel data; capture with nsys profile --trace=cuda on a machine with a GPU"};
constexpr Need kApi{&Trace::has_api_data, "the capture has no CUDA API calls; capture with nsys profile --trace=cuda"};
constexpr Need kRanges{&Trace::has_range_data,
                       "the capture has no NVTX ranges; capture with nsys profile --trace=nvtx a program that marks them"};
constexpr Need kMemOps{&Trace::has_mem_data, "the capture has no copies to, from or on a GPU; capture with nsys profile --trace=cuda"};
constexpr Need kGpuWork{&Trace::has_kernel_data,
                        "the capture has no GPU work; capture with nsys profile --trace=cuda on a machine with a GPU",
                        &Trace::has_mem_data};

struct Report {
  std::string_view name, title;
  std::vector<Need> needs;
  StatTable (*make)(const StatSums&);
  bool range_work = false;  // it joins ranges to GPU work
};

const std::vector<Report>& reports() {
  static const std::vector<Report> all = {
      {"cuda_gpu_kern_sum", "CUDA GPU Kernel Summary", {kKernels}, kernel_sum},
      {"cuda_api_sum", "CUDA API Summary", {kApi}, api_sum},
      {"cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)", {kMemOps}, mem_time_sum},
      {"nvtx_sum", "NVTX Range Summary", {kRanges}, range_sum},
      {"nvtx_gpu_proj_sum",
       "NVTX GPU Projection Summary",
       {kRanges, kApi, kGpuWork},
       [](const StatSums& sums) { return range_projection_sum(sums.trace, *sums.work); },
       true},
      {"nvtx_kern_sum",
       "NVTX Range Kernel Summary",
       {kRanges, kKernels, kApi},
       [](const StatSums& sums) { return range_kernel_sum(sums.trace, *sums.work); },
       true},
  };
  return all;
}

const Report& report_named(std::string_view name) {
  const auto found = std::find_if(reports().begin(), reports().end(), [&](const Report& report) { return report.name == name; });
  if (found != reports().end()) return *found;
  throw Error(ErrorKind::kUsage, fmt::format("unknown report {}", name), {},
              fmt::format("the reports are {}", fmt::join(stats_report_names(), ", ")));
}

// Which of its needs the capture does not fill.
std::string lacking(const Trace& trace, const Report& report) {
  for (const Need& need : report.needs)
    if (!(trace.*need.there) && (need.instead == nullptr || !(trace.*need.instead))) return need.otherwise;
  return {};
}

}  // namespace

std::string_view style_name(RangeStyle style) { return style == RangeStyle::kPushPop ? "PushPop" : "StartEnd"; }

std::string range_tag(const Trace& trace, const Range& range) { return trace.strings[range.domain] + ":" + trace.strings[range.name]; }

Ns last_range_time(const Trace& trace) {
  Ns last = 0;
  for (const Range& range : trace.ranges)
    if (!is_found_stage(trace, range)) last = std::max(last, range.open ? range.start_ns : range.end_ns);
  return last;
}

const std::vector<std::string_view>& stats_report_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Report& report : reports()) all.push_back(report.name);
    return all;
  }();
  return names;
}

bool needs_range_work(std::string_view report) { return report_named(report).range_work; }

StatTable make_stats_report(const StatSums& sums, std::string_view name) {
  const Report& report = report_named(name);
  StatTable table;
  table.missing = lacking(sums.trace, report);
  if (table.missing.empty()) table = report.make(sums);
  if (table.missing.empty() && table.rows.empty()) table.missing = "the capture covers this, but nothing happened";
  table.report = report.name;
  table.title = report.title;
  return table;
}

StatTable make_stats_report(const Trace& trace, std::string_view name) {
  const Report& report = report_named(name);
  const bool made = lacking(trace, report).empty();
  const std::vector<ApiStat> kernels = made && report.make == kernel_sum ? kernels_by_name(trace) : std::vector<ApiStat>();
  std::optional<RangeWork> work;
  if (made && report.range_work) add_trace(trace, work.emplace(trace, 1, 1));
  return make_stats_report({trace, kernels, work ? &*work : nullptr}, name);
}

}  // namespace nl::analysis
