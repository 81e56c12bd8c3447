#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/verdicts/rules/subject.h"

// Several GPUs as one of them sees it, so that a time of GPU work can be compared with the wall.
namespace nl::analysis::rules {
namespace {

using A = StageActivity;

constexpr std::uint64_t A::* kHostCounts[] = {&A::launches, &A::graph_launches, &A::sync_calls};
constexpr Ns A::* kHostTimes[] = {&A::launch_call_ns, &A::sync_call_ns};
constexpr std::uint64_t A::* kGpuCounts[] = {
    &A::kernels,         &A::graph_kernels,      &A::small_kernels,     &A::elementwise_kernels, &A::h2d_bytes,
    &A::d2h_bytes,       &A::d2d_bytes,          &A::h2d_copies,        &A::d2h_copies,          &A::d2d_copies,
    &A::pageable_copies, &A::gemm_kernels,       &A::attention_kernels, &A::reduce_kernels,      &A::norm_kernels,
    &A::copy_kernels,    &A::cache_copy_kernels, &A::memsets,           &A::graph_runs,          &A::communication_kernels,
    &A::peer_bytes,      &A::peer_copies};
constexpr Ns A::* kGpuTimes[] = {
    &A::kernel_sum_ns,  &A::small_kernel_ns, &A::elementwise_ns, &A::gemm_ns,       &A::attention_ns,
    &A::copy_kernel_ns, &A::h2d_ns,          &A::d2h_ns,         &A::d2d_ns,        &A::memset_ns,
    &A::pageable_ns,    &A::reduce_ns,       &A::norm_ns,        &A::cache_copy_ns, &A::communication_kernel_ns,
    &A::peer_ns};

// How many GPUs each window's process uses: ranks with one GPU each have windows of their own.
double gpus_of(const std::vector<StageDevice>& devices, Ns wall_ns) {
  double walls = 0;
  for (const StageDevice& gpu : devices) walls += static_cast<double>(gpu.budget.wall_ns);
  return wall_ns > 0 ? std::max(1.0, walls / static_cast<double>(wall_ns)) : 1;
}

StageActivity of_one_gpu(StageActivity activity, double gpus) {
  if (gpus == 1) return activity;
  for (const auto member : kGpuCounts)
    activity.*member = static_cast<std::uint64_t>(std::llround(static_cast<double>(activity.*member) / gpus));
  for (const auto member : kGpuTimes) activity.*member = static_cast<Ns>(std::llround(static_cast<double>(activity.*member) / gpus));
  activity.streams_used = static_cast<std::uint32_t>(std::ceil(activity.streams_used / gpus));
  return activity;
}

double overlapped_of(const std::vector<StageDevice>& devices, double gpus) {
  double sum = 0;
  for (const StageDevice& gpu : devices) sum += static_cast<double>(gpu.overlapped_communication_ns);
  return sum / gpus;
}

std::string gpu_text(const GpuSpread& spread) {
  if (spread.slowest_pid == 0) return fmt::format("GPU {}", spread.slowest_device);
  return fmt::format("GPU {} (process {})", spread.slowest_device, spread.slowest_pid);
}

StageTotals stage_totals(const StageEntry& stage) {
  StageTotals out;
  if (stage.budget) out.gpus = gpus_of(stage.devices, stage.budget->wall_ns);
  if (stage.activity) out.activity = of_one_gpu(*stage.activity, out.gpus);
  out.communication.overlapped_ns = overlapped_of(stage.devices, out.gpus);
  for (const Communication& each : stage.communication) {
    out.communication.count += each.count;
    if (each.late_peer_ns)
      out.communication.late_peer_ns = out.communication.late_peer_ns.value_or(0) + static_cast<double>(*each.late_peer_ns) / out.gpus;
  }
  if (stage.gpu_spread) out.slowest_gpu = gpu_text(*stage.gpu_spread);
  return out;
}

CaptureTotals capture_totals(const Run& run) {
  CaptureTotals out;
  for (const CaptureDevice& gpu : run.coverage.devices) {
    out.busy_ns += static_cast<double>(gpu.busy_ns);
    out.exposed_ns += static_cast<double>(gpu.communication_ns);
    out.overlapped_ns += static_cast<double>(gpu.overlapped_communication_ns);
  }
  for (const Communication& each : run.communication) {
    out.paired = out.paired || each.late_peer_ns;
    out.late_peer_ns += static_cast<double>(each.late_peer_ns.value_or(0));
  }
  return out;
}

}  // namespace

void add_activity(StageActivity& sum, const StageActivity& more) {
  for (const auto member : kHostCounts) sum.*member += more.*member;
  for (const auto member : kGpuCounts) sum.*member += more.*member;
  for (const auto member : kHostTimes) sum.*member += more.*member;
  for (const auto member : kGpuTimes) sum.*member += more.*member;
  sum.longest_elementwise_chain = std::max(sum.longest_elementwise_chain, more.longest_elementwise_chain);
  sum.streams_used = std::max(sum.streams_used, more.streams_used);
  if (more.longest_gap_ns <= sum.longest_gap_ns) return;
  sum.longest_gap_ns = more.longest_gap_ns;
  sum.longest_gap_at_ns = more.longest_gap_at_ns;
}

void total_gpus(const Run& run, RunTotals& totals) {
  for (const StageEntry& stage : run.stages) totals.stages.push_back(stage_totals(stage));
  totals.communication.overlapped_ns = overlapped_of(run.phases.devices, gpus_of(run.phases.devices, run.phases.span_ns));
  totals.capture = capture_totals(run);
}

std::optional<double> kernel_time_ns(const Run& run) {
  if (run.coverage.devices.empty())
    return run.coverage.kernel_sum_ns ? std::optional(static_cast<double>(*run.coverage.kernel_sum_ns)) : std::nullopt;
  std::map<std::uint32_t, std::pair<double, int>> processes;  // time, GPUs
  for (const CaptureDevice& gpu : run.coverage.devices) {
    processes[gpu.pid].first += static_cast<double>(gpu.kernel_sum_ns);
    ++processes[gpu.pid].second;
  }
  double sum = 0;
  for (const auto& [pid, process] : processes) sum += process.first / process.second;
  return sum;
}

}  // namespace nl::analysis::rules
