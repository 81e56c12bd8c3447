#include "analysis/figures/detail/lane_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>

#include "analysis/trace/gpu_order.h"
#include "model/rank_titles.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kMostLevels = 8;  // of one thread's stages, and of its other ranges
constexpr std::size_t kMostDetailLanes = 48, kMostOfStagesAndStreams = 256;

std::string_view file_name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::uint32_t> sorted_ranges(const Trace& trace) {
  std::vector<std::uint32_t> order(trace.ranges.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Range &x = trace.ranges[a], &y = trace.ranges[b];
    return std::tuple(x.start_ns, -x.end_ns, a) < std::tuple(y.start_ns, -y.end_ns, b);
  });
  return order;
}

std::vector<std::uint64_t> calls_of_threads(const Trace& trace) {
  std::vector<std::uint64_t> counts(trace.threads.size(), 0);
  for (const auto* calls : {&trace.api_calls, &trace.other_calls})
    for (const ApiCall& call : *calls)
      if (call.thread < counts.size()) ++counts[call.thread];
  return counts;
}

}  // namespace

std::string thread_title(const Trace& trace, std::uint32_t index) {
  const Thread& thread = trace.threads[index];
  const Process* process = thread.process < trace.processes.size() ? &trace.processes[thread.process] : nullptr;
  std::string title(process != nullptr ? file_name_of(process->name) : "");
  if (const std::string rank = rank_title(trace, thread.process); !rank.empty()) title = rank;
  else if (process != nullptr && (title.empty() || trace.processes.size() > 1))
    title += fmt::format("{}process {}", title.empty() ? "" : " ", process->pid);
  const bool main = process != nullptr && process->pid == thread.tid;
  title += fmt::format("{}{}thread {}", title.empty() ? "" : " ", main ? "main " : "", thread.tid);
  const std::string_view own = thread.name;
  if (!main && !own.empty() && process != nullptr && own != file_name_of(process->name)) title += fmt::format(" ({})", own);
  return title;
}

LaneTable::LaneTable(const Trace& trace, const StageTable& stages, const CollectiveBands& bands)
    : trace_(trace), order_(sorted_ranges(trace)), range_lanes_(trace.ranges.size(), kNone), call_lanes_(trace.threads.size(), kNone),
      queue_lanes_(trace.queues.size(), kNone) {
  add_bands(bands);
  std::vector<std::vector<std::uint32_t>> ranges(trace.threads.size());
  std::vector<bool> staged(trace.threads.size(), false);
  for (const std::uint32_t i : order_) {
    const std::uint32_t thread = trace.ranges[i].thread;
    if (thread >= ranges.size()) continue;
    ranges[thread].push_back(i);
    if (stages.stage_of_range(i) != kNone) staged[thread] = true;
  }
  const std::vector<std::uint64_t> calls = calls_of_threads(trace);
  for (const bool first : {true, false})
    for (std::uint32_t i = 0; i < trace.threads.size(); ++i)
      if (staged[i] == first) {
        add_thread(i, stages, ranges[i], calls[i] > 0);
        if (call_lanes_[i] != kNone) slices_[call_lanes_[i]] = calls[i];
      }
  add_queues();
  leave_out_smallest();
}

void LaneTable::add_bands(const CollectiveBands& bands) {
  const auto add = [&](std::vector<std::uint32_t>& lanes, const std::string& title) {
    lanes.push_back(static_cast<std::uint32_t>(lanes_.size()));
    lanes_.push_back({LaneKind::kRanges, title, 0, 0, 0, 0, false, true});
    slices_.push_back(0);
  };
  for (std::uint32_t level = 0; level < bands.levels(); ++level) {
    const std::string which = level == 0 ? "" : fmt::format(", level {}", level + 1);
    add(band_lanes_, "Collectives of the ranks" + which);
    if (bands.any_awaited(level)) add(wait_lanes_, "Waiting for the last rank" + which);
    else wait_lanes_.push_back(kNone);
  }
  slices_left_out_ += bands.left_out;
}

void LaneTable::add_thread(std::uint32_t thread, const StageTable& stages, const std::vector<std::uint32_t>& ranges, bool calls) {
  place_ranges(thread, stages, ranges, true);
  place_ranges(thread, stages, ranges, false);
  if (!calls) return;
  call_lanes_[thread] = static_cast<std::uint32_t>(lanes_.size());
  const std::uint32_t process = trace_.threads[thread].process;
  lanes_.push_back({LaneKind::kApi, thread_title(trace_, thread) + ": CUDA calls",
                    process < trace_.processes.size() ? trace_.processes[process].pid : 0, trace_.threads[thread].tid, 0, 0});
  slices_.push_back(0);
}

// Each range goes to the first level that is free when it starts.
void LaneTable::place_ranges(std::uint32_t thread, const StageTable& stages, const std::vector<std::uint32_t>& ranges, bool staged) {
  std::vector<std::pair<Ns, std::uint32_t>> levels;  // free from, and its lane
  for (const std::uint32_t i : ranges) {
    if ((stages.stage_of_range(i) != kNone) != staged) continue;
    const Range& range = trace_.ranges[i];
    auto level = std::find_if(levels.begin(), levels.end(), [&](const auto& free) { return free.first <= range.start_ns; });
    if (level == levels.end()) {
      if (levels.size() == kMostLevels) {
        ++slices_left_out_;
        continue;
      }
      const std::uint32_t process = trace_.threads[thread].process;
      const std::string what =
          fmt::format("{}{}", staged ? "stages" : "ranges", levels.empty() ? "" : fmt::format(", level {}", levels.size() + 1));
      level = levels.insert(levels.end(), {0, static_cast<std::uint32_t>(lanes_.size())});
      lanes_.push_back({LaneKind::kRanges, thread_title(trace_, thread) + ": " + what,
                        process < trace_.processes.size() ? trace_.processes[process].pid : 0, trace_.threads[thread].tid, 0, 0, staged});
      slices_.push_back(0);
    }
    level->first = std::max(range.start_ns, range.end_ns);
    range_lanes_[i] = level->second;
    ++slices_[level->second];
  }
}

void LaneTable::add_queues() {
  struct Content {
    std::uint64_t kernels = 0, copies = 0;
  };
  std::vector<Content> contents(trace_.queues.size());
  const auto count = [&](const auto& rows, std::uint64_t Content::* kind) {
    for (const auto& row : rows)
      if (row.queue < contents.size()) ++(contents[row.queue].*kind);
  };
  count(trace_.kernels, &Content::kernels);
  count(trace_.graph_runs, &Content::kernels);
  count(trace_.mem_ops, &Content::copies);
  for (std::uint32_t i = 0; i < contents.size(); ++i) {
    const Content& content = contents[i];
    if (content.kernels + content.copies == 0) continue;
    const Queue& queue = trace_.queues[i];
    const char* what = content.copies == 0 ? "kernels" : content.kernels == 0 ? "copies" : "kernels and copies";
    const std::uint32_t pid = queue.process < trace_.processes.size() ? trace_.processes[queue.process].pid : 0;
    const std::string owner = trace_.processes.size() > 1 ? " of " + rank_or_process(trace_, queue.process) : "";
    queue_lanes_[i] = static_cast<std::uint32_t>(lanes_.size());
    lanes_.push_back({LaneKind::kGpu, fmt::format("GPU {} stream {}{}: {}", queue.device, queue.stream, owner, what), pid, 0, queue.device,
                      queue.stream});
    slices_.push_back(content.kernels + content.copies);
  }
}

void LaneTable::leave_out_smallest() {
  if (lanes_.size() <= kMostDetailLanes) return;
  std::vector<std::uint32_t> order(lanes_.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto stays = [&](std::uint32_t lane) { return lanes_[lane].bands || lanes_[lane].stages || lanes_[lane].kind == LaneKind::kGpu; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return std::tuple(stays(b), slices_[b]) < std::tuple(stays(a), slices_[a]); });
  std::vector<bool> kept(lanes_.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i)
    kept[order[i]] = lanes_[order[i]].bands || i < (stays(order[i]) ? kMostOfStagesAndStreams : kMostDetailLanes);
  std::vector<std::uint32_t> moved(lanes_.size(), kNone);
  std::vector<DetailLane> lanes;
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    if (!kept[i]) {
      ++lanes_left_out_;
      slices_left_out_ += slices_[i];
      continue;
    }
    moved[i] = static_cast<std::uint32_t>(lanes.size());
    lanes.push_back(std::move(lanes_[i]));
  }
  lanes_ = std::move(lanes);
  for (auto* table : {&range_lanes_, &call_lanes_, &queue_lanes_, &band_lanes_, &wait_lanes_})
    for (std::uint32_t& lane : *table)
      if (lane != kNone) lane = moved[lane];
}

}  // namespace nl::analysis
