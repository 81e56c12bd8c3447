#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/nsys_stats/reports.h"
#include "analysis/statistics/time_summary.h"
#include "analysis/trace/range_index.h"

namespace nl::analysis {
namespace {

constexpr std::int64_t kNoThread = -1;

struct Row {
  bool in_range = false;
  std::string tag;
  std::string_view style;
  std::int64_t pid = kNoThread, tid = kNoThread;
  std::int64_t range_instances = 0, kernel_instances = 0;
  TimeSummary time;
  std::string kernel;
};

struct Tally {
  StringId kernel;
  Durations durations;
  std::int64_t range_instances = 0, kernel_instances = 0;
  std::uint32_t last_range = kNone;
};

// The tallies of one group of ranges, by kernel name.
class Tallies {
 public:
  explicit Tallies(const Trace& trace) : trace_(trace), slots_(trace.strings.size(), kNone) {}

  Tally& of(const Kernel& kernel) {
    StringId name = trace_.shapes[kernel.shape].name;
    std::uint32_t& slot = slots_[name.value];
    if (slot == kNone) {
      slot = static_cast<std::uint32_t>(tallies_.size());
      tallies_.push_back({name, {}});
    }
    return tallies_[slot];
  }
  // Makes a row of each, like `like`, and starts over.
  void move_to(std::vector<Row>& rows, const Row& like) {
    for (Tally& tally : tallies_) {
      Row row = like;
      row.range_instances = tally.range_instances;
      row.kernel_instances = tally.kernel_instances;
      row.time = summarise_times(std::exchange(tally.durations, {}));
      row.kernel = trace_.strings[tally.kernel];
      rows.push_back(std::move(row));
      slots_[tally.kernel.value] = kNone;
    }
    tallies_.clear();
  }

 private:
  const Trace& trace_;
  std::vector<std::uint32_t> slots_;  // by name
  std::vector<Tally> tallies_;
};

// Ranges that share a line of the report but for the kernel, next to each other.
struct GroupKey {
  std::int64_t pid = 0, tid = 0;
  std::uint32_t tag = 0;
  RangeStyle style = RangeStyle::kPushPop;
  auto operator<=>(const GroupKey&) const = default;
};

std::pair<std::int64_t, std::int64_t> ids_of(const Trace& trace, std::uint32_t thread) {
  if (thread >= trace.threads.size()) return {kNoThread, kNoThread};
  const Thread& t = trace.threads[thread];
  return {t.process < trace.processes.size() ? trace.processes[t.process].pid : 0, t.tid};
}

class RangeKernels {
 public:
  explicit RangeKernels(const Trace& trace) : trace_(trace), order_(trace), tallies_(trace), group_of_kernel_(trace.kernels.size(), 0) {}
  std::vector<Row> rows() {
    Ns last = last_range_time(trace_);
    std::vector<Row> rows;
    auto grouped = grouped_ranges();
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < grouped.size(); ++i) {
      const auto& [key, range] = grouped[i];
      if (i == 0 || key != grouped[i - 1].first) ++group;
      add_range(range, trace_.ranges[range].open ? last : trace_.ranges[range].end_ns, group);
      if (i + 1 == grouped.size() || key != grouped[i + 1].first)
        tallies_.move_to(rows, {true, tags_[key.tag], style_name(key.style), key.pid, key.tid, 0, 0, {}, {}});
    }
    add_unenclosed(rows);
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      auto key = [](const Row& r) {
        return std::tuple(r.in_range, std::string_view(r.tag), r.pid, r.tid, -r.time.total_ns, r.style, std::string_view(r.kernel));
      };
      return key(a) < key(b);
    });
    return rows;
  }

 private:
  std::vector<std::pair<GroupKey, std::uint32_t>> grouped_ranges() {
    std::vector<std::pair<GroupKey, std::uint32_t>> grouped;
    std::map<std::string, std::uint32_t> tag_ids;
    for (std::uint32_t i = 0; i < trace_.ranges.size(); ++i) {
      const Range& range = trace_.ranges[i];
      if (range.end_thread != kNone || is_found_stage(trace_, range)) continue;
      auto [tag, added] = tag_ids.try_emplace(range_tag(trace_, range), static_cast<std::uint32_t>(tags_.size()));
      if (added) tags_.push_back(tag->first);
      auto [pid, tid] = ids_of(trace_, range.thread);
      grouped.push_back({{pid, tid, tag->second, range.style}, i});
    }
    std::sort(grouped.begin(), grouped.end());
    return grouped;
  }

  void add_range(std::uint32_t range, Ns end_ns, std::uint32_t group) {
    const Range& r = trace_.ranges[range];
    order_.kernels_within(r.thread, r.start_ns, end_ns, [&](std::uint32_t i) {
      const Kernel& kernel = trace_.kernels[i];
      Tally& tally = tallies_.of(kernel);
      tally.durations.add(static_cast<Ns>(kernel.duration_ns));
      if (std::exchange(tally.last_range, range) != range) ++tally.range_instances;
      if (std::exchange(group_of_kernel_[i], group) != group) ++tally.kernel_instances;
    });
  }

  // Kernels that no range encloses have lines of their own, by thread.
  void add_unenclosed(std::vector<Row>& rows) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::uint32_t>> by_thread;
    for (std::uint32_t i = 0; i < trace_.kernels.size(); ++i) {
      if (group_of_kernel_[i] != 0) continue;
      std::uint32_t call = trace_.kernels[i].api;
      by_thread[call == kNone ? std::pair(kNoThread, kNoThread) : ids_of(trace_, static_cast<std::uint32_t>(trace_.api_calls[call].thread))]
          .push_back(i);
    }
    for (const auto& [ids, kernels] : by_thread) {
      for (std::uint32_t i : kernels) {
        Tally& tally = tallies_.of(trace_.kernels[i]);
        tally.durations.add(static_cast<Ns>(trace_.kernels[i].duration_ns));
        ++tally.kernel_instances;
      }
      Row like;
      like.pid = ids.first;
      like.tid = ids.second;
      tallies_.move_to(rows, like);
    }
  }

  const Trace& trace_;
  LaunchOrder order_;
  Tallies tallies_;
  std::vector<std::string> tags_;
  std::vector<std::uint32_t> group_of_kernel_;  // the last group it was counted in, from 1; 0: no range encloses it
};

StatTable::Cell id_cell(std::int64_t id) {
  if (id == kNoThread) return std::monostate();
  return id;
}

StatTable::Cell text_cell(bool there, std::string_view text) {
  if (!there) return std::monostate();
  return std::string(text);
}

}  // namespace

StatTable range_kernel_sum(const Trace& trace) {
  StatTable table;
  table.columns = {"NVTX Range", "Style",    "PID",      "TID",      "NVTX Inst",   "Kern Inst",  "Total Time (ns)",
                   "Avg (ns)",   "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)", "Kernel Name"};
  for (const Row& row : RangeKernels(trace).rows())
    table.rows.push_back({text_cell(row.in_range, row.tag), text_cell(row.in_range, row.style), id_cell(row.pid), id_cell(row.tid),
                          row.range_instances, row.kernel_instances, row.time.total_ns, StatTable::Tenth{row.time.mean_ns},
                          StatTable::Tenth{row.time.median_ns}, row.time.min_ns, row.time.max_ns, StatTable::Tenth{row.time.stddev_ns},
                          row.kernel});
  return table;
}

}  // namespace nl::analysis
