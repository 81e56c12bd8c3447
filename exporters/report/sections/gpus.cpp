#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

std::string process_text(const Run& run, std::uint32_t pid) {
  if (const RankEntry* rank = rank_of(run.ranks, pid); rank != nullptr && number_known(*rank)) return fmt::format("rank {}", rank->rank);
  return pid > 0 ? std::to_string(pid) : kNoValue;
}

Cell part_cell(Ns part, Ns whole) { return share_cell(part_of(part, whole)); }

// Bins that a reader of several GPUs compares; together with the idle time they are the wall.
Table budgets_of_gpus(const Run& run) {
  Table table{"Budget of each GPU", texts({"Stage"}) +
                                        numbers({"GPU", "Process", "Wall", "Busy", "Compute", "Exposed communication",
                                                 "Overlapped communication", "Exposed copies", "Idle"}) +
                                        numbers({"Waiting for launches", "Blocked in sync"}, kWide)};
  for (const auto& stage : run.stages)
    for (const auto& gpu : stage.devices) {
      if (stage.devices.size() < 2 && stage.communication.empty()) continue;
      const Budget& b = gpu.budget;
      const auto share = [&](Ns part) { return part_cell(part, b.wall_ns); };
      table.rows.push_back({text_cell(stage_title(run, stage.name)), std::to_string(gpu.device), process_text(run, gpu.pid),
                            time_cell(static_cast<double>(b.wall_ns)), share(gpu.busy_ns), share(b.gpu_compute_ns),
                            share(b.communication_ns), share(gpu.overlapped_communication_ns), share(b.exposed_copy_ns),
                            share(b.wall_ns - b.busy_ns()), share(b.launch_wait_ns()), share(b.sync_blocked_ns)});
    }
  return table;
}

Table capture_of_gpus(const Run& run) {
  Table table{"GPUs in the whole capture",
              numbers({"GPU", "Process", "Busy", "Kernels, summed", "Exposed communication", "of busy", "Overlapped communication"})};
  for (const auto& gpu : run.coverage.devices)
    table.rows.push_back({std::to_string(gpu.device), process_text(run, gpu.pid), time_cell(static_cast<double>(gpu.busy_ns)),
                          time_cell(static_cast<double>(gpu.kernel_sum_ns)), time_cell(static_cast<double>(gpu.communication_ns)),
                          part_cell(gpu.communication_ns, gpu.busy_ns), time_cell(static_cast<double>(gpu.overlapped_communication_ns))});
  return table;
}

std::string spread_text(const Run& run, const StageEntry& stage) {
  const GpuSpread& spread = *stage.gpu_spread;
  std::string text =
      fmt::format("{}: the GPUs are busy {} of the time on average, the least busy {}, the busiest {}. ", stage_title(run, stage.name),
                  share_text(spread.busy_share_mean), share_text(spread.busy_share_min), share_text(spread.busy_share_max));
  const std::string slowest = gpu_name(run.ranks, spread.slowest_device, spread.slowest_pid);
  if (spread.slowest_by == SlowestBy::kArrival)
    return text +
           fmt::format("{} is the slowest: it reaches {} of the collectives last{}.", slowest, share_text(spread.slowest_last_share),
                       spread.slowest_late_share ? ", and " + share_text(spread.slowest_late_share) + " of the delay is its own" : "");
  if (spread.compute_spread < 0.005) return text + "They compute equally long.";
  return text + fmt::format("{} computes longest, {} more than the mean.", slowest, share_text(spread.compute_spread));
}

void add_communication(const Run& run, const std::string& where, const Communication& c, Table& table) {
  table.rows.push_back({text_cell(where), key_cell(c.kind), std::to_string(c.device), process_text(run, c.pid), count_cell(c.count),
                        time_cell(static_cast<double>(c.time_ns)), time_cell(static_cast<double>(c.exposed_ns)), time_cell(c.late_peer_ns),
                        time_cell(c.transfer_ns),
                        c.bytes ? Cell(bytes_text(static_cast<double>(*c.bytes)), static_cast<double>(*c.bytes)) : Cell(kNoValue),
                        c.bytes_per_s ? Cell(bytes_rate_text(*c.bytes_per_s), *c.bytes_per_s) : Cell(kNoValue)});
}

// Who is late, of the collectives that could be paired; empty: none.
std::string arrivals_text(const Run& run) {
  Ns late_ns = 0, sum_ns = 0;
  std::uint64_t arrivals = 0;
  std::map<std::pair<std::int32_t, std::uint32_t>, std::uint64_t> last;
  for (const Communication& each : run.communication) {
    if (!each.late_peer_ns) continue;
    late_ns += *each.late_peer_ns;
    sum_ns += each.sum_ns;
    arrivals += each.last_arrivals.value_or(0);
    last[{each.device, each.pid}] += each.last_arrivals.value_or(0);
  }
  if (arrivals == 0) return {};
  const auto slowest = std::max_element(last.begin(), last.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format(
      "Whole capture: the ranks wait {} of {} for the last one to arrive. {} arrives last most often, at {} of the collectives.",
      time_text(static_cast<double>(late_ns)), time_text(static_cast<double>(sum_ns)),
      gpu_name(run.ranks, slowest->first.first, slowest->first.second),
      share_text(ratio(static_cast<double>(slowest->second), static_cast<double>(arrivals))));
}

bool any_unpaired(const std::vector<Communication>& all) {
  return std::any_of(all.begin(), all.end(), [](const Communication& c) { return c.kind != Collective::kPeerCopy && !c.late_peer_ns; });
}

}  // namespace

bool several_gpus(const std::vector<KernelEntry>& kernels) {
  return std::any_of(kernels.begin(), kernels.end(), [&](const KernelEntry& kernel) { return kernel.device != kernels.front().device; });
}

Blocks gpus(const Run& run) {
  const bool several = run.coverage.devices.size() > 1 ||
                       std::any_of(run.stages.begin(), run.stages.end(), [](const StageEntry& stage) { return stage.devices.size() > 1; });
  if (!several && run.communication.empty()) return {};
  Blocks out = {Heading{"GPUs"},
                Paragraph{"One row for each GPU of a process. A figure for several GPUs elsewhere in this report is their mean."}};
  add(out, budgets_of_gpus(run));
  std::vector<std::string> spreads;
  for (const auto& stage : run.stages)
    if (stage.gpu_spread) spreads.push_back(spread_text(run, stage));
  add(out, notes(spreads));
  add(out, capture_of_gpus(run));
  return out;
}

Blocks communication(const Run& run) {
  if (run.communication.empty()) return {};
  Table table{"Communication", texts({"Where", "Kind"}) + numbers({"GPU", "Process", "n", "Time", "Exposed", "Waits for a late rank",
                                                                   "Transfer", "Bytes", "Rate"})};
  for (const auto& stage : run.stages)
    for (const auto& each : stage.communication) add_communication(run, stage_title(run, stage.name), each, table);
  for (const auto& each : run.communication) add_communication(run, "whole capture", each, table);
  Blocks out = {Heading{"Communication"},
                Paragraph{"NCCL, NVSHMEM and copies between GPUs. Exposed: no compute kernel runs on that GPU at the same time."},
                std::move(table)};
  add(out, Paragraph{arrivals_text(run)});
  if (any_unpaired(run.communication))
    out.emplace_back(
        missing("Waiting for a late rank is not known where the ranks' collectives cannot be paired: the ranks differ in their number, "
                "or a pair does not overlap in time."));
  return out;
}

}  // namespace nl::exporters::report
