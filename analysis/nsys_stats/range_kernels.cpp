#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/nsys_stats/range_work.h"
#include "analysis/nsys_stats/reports.h"
#include "analysis/statistics/time_summary.h"
#include "model/parallel.h"

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

  Tally& of(StringId name) {
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
  RangeKernels(const Trace& trace, const RangeWork& work) : trace_(trace), work_(work) {}
  std::vector<Row> rows() {
    const auto grouped = grouped_ranges();
    std::vector<std::size_t> groups;  // where each begins
    for (std::size_t i = 0; i < grouped.size(); ++i)
      if (i == 0 || grouped[i].first != grouped[i - 1].first) groups.push_back(i);
    groups.push_back(grouped.size());
    std::vector<std::vector<Row>> parts(std::min(groups.size() - 1, kMostParts) + 1);
    each_in_parallel(parts.size(), [&](std::size_t part) {
      Tallies tallies(trace_);
      if (part == 0) return add_unenclosed(tallies, parts[part]);
      std::vector<std::uint32_t> counted(work_.contexts(), 0);  // the last group that a context was counted in, from 1
      const std::size_t last = part * (groups.size() - 1) / (parts.size() - 1);
      for (std::size_t group = (part - 1) * (groups.size() - 1) / (parts.size() - 1); group < last; ++group) {
        const GroupKey& key = grouped[groups[group]].first;
        for (std::size_t i = groups[group]; i < groups[group + 1]; ++i)
          add_range(grouped[i].second, static_cast<std::uint32_t>(group + 1), tallies, counted);
        tallies.move_to(parts[part], {true, tags_[key.tag], style_name(key.style), key.pid, key.tid, 0, 0, {}, {}});
      }
    });
    return in_order(std::move(parts));
  }

 private:
  static constexpr std::size_t kMostParts = 64;
  static std::vector<Row> in_order(std::vector<std::vector<Row>>&& parts) {
    std::vector<Row> rows;
    for (auto& part : parts) std::move(part.begin(), part.end(), std::back_inserter(rows));
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
      auto key = [](const Row& r) {
        return std::tuple(r.in_range, std::string_view(r.tag), r.pid, r.tid, -r.time.total_ns, r.style, std::string_view(r.kernel));
      };
      return key(a) < key(b);
    });
    return rows;
  }

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

  // A kernel counts once in a group, and its time in each of the group's ranges around it.
  void add_range(std::uint32_t range, std::uint32_t group, Tallies& tallies, std::vector<std::uint32_t>& counted) const {
    work_.each_context(range, [&](std::uint32_t context) {
      const bool counts = std::exchange(counted[context], group) != group;
      work_.each_kernel(context, [&](StringId name, Ns duration_ns) {
        Tally& tally = tallies.of(name);
        tally.durations.add(duration_ns);
        if (std::exchange(tally.last_range, range) != range) ++tally.range_instances;
        if (counts) ++tally.kernel_instances;
      });
    });
  }

  // Kernels that no range encloses have lines of their own, by thread.
  void add_unenclosed(Tallies& tallies, std::vector<Row>& rows) const {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::uint32_t>> by_thread;
    for (const auto& [thread, context] : work_.outside()) by_thread[ids_of(trace_, thread)].push_back(context);
    for (const auto& [ids, contexts] : by_thread) {
      for (const std::uint32_t context : contexts)
        work_.each_kernel(context, [&](StringId name, Ns duration_ns) {
          Tally& tally = tallies.of(name);
          tally.durations.add(duration_ns);
          ++tally.kernel_instances;
        });
      Row like;
      like.pid = ids.first;
      like.tid = ids.second;
      tallies.move_to(rows, like);
    }
  }

  const Trace& trace_;
  const RangeWork& work_;
  std::vector<std::string> tags_;
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

StatTable range_kernel_sum(const Trace& trace, const RangeWork& work) {
  StatTable table;
  table.columns = {"NVTX Range", "Style",    "PID",      "TID",      "NVTX Inst",   "Kern Inst",  "Total Time (ns)",
                   "Avg (ns)",   "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)", "Kernel Name"};
  for (const Row& row : RangeKernels(trace, work).rows())
    table.rows.push_back({text_cell(row.in_range, row.tag), text_cell(row.in_range, row.style), id_cell(row.pid), id_cell(row.tid),
                          row.range_instances, row.kernel_instances, row.time.total_ns, StatTable::Tenth{row.time.mean_ns},
                          StatTable::Tenth{row.time.median_ns}, row.time.min_ns, row.time.max_ns, StatTable::Tenth{row.time.stddev_ns},
                          row.kernel});
  return table;
}

}  // namespace nl::analysis
