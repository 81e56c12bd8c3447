#include "analysis/account/gpu_mean.h"

#include <algorithm>

namespace nl::analysis {
namespace {

constexpr Ns Budget::* kBins[] = {&Budget::gpu_compute_ns,    &Budget::communication_ns, &Budget::exposed_copy_ns,
                                  &Budget::queue_wait_ns,     &Budget::sync_blocked_ns,  &Budget::launch_starved_ns,
                                  &Budget::launch_latency_ns, &Budget::other_host_ns,    &Budget::residual_ns};

// The lanes of one process: its figures are their mean.
class ProcessFigures {
 public:
  ProcessFigures(const BudgetSums& sums, std::uint32_t target, std::span<const BusyTime> launched, TargetFigures& out)
      : sums_(sums), target_(target), launched_(launched), out_(out) {}

  void add(std::size_t lane) {
    const BudgetSum& sum = sums_.sums[lane][target_];
    budgets_.push_back(sum.budget);
    foreign_ns_ += sum.budget.busy_ns() - sum.own_gpu_ns;
    const BusyTime launched = lane < launched_.size() ? launched_[lane] : BusyTime{};
    busy_launched_ns_ += launched.busy_ns();
    sum_launched_ns_ += launched.sum_ns;
    out_.kernels_launched += launched.kernels;
    out_.launch_waits.add(sum.launch_waits);
    if (sum.longest_gap_ns > out_.longest_gap_ns) {
      out_.longest_gap_ns = sum.longest_gap_ns;
      out_.longest_gap_at_ns = sum.longest_gap_at_ns;
    }
    const GpuLane& where = sums_.lanes[lane];
    if (where.device == kNoDevice || sum.budget.wall_ns == 0) return;
    out_.devices.push_back({where.device, sum.budget.busy_ns(), where.pid, sum.windows, launched.busy_ns(), sum.kernel_sum_ns,
                            sum.overlapped_communication_ns, sum.budget});
    for (Communication& each : communication_of(where, sum.communication)) out_.communication.push_back(each);
  }
  void finish() {
    if (budgets_.empty()) return;
    const auto lanes = static_cast<Ns>(budgets_.size());
    add_budget(out_.budget, mean_budget(budgets_));
    out_.foreign_gpu_ns += foreign_ns_ / lanes;
    out_.busy_launched_ns += busy_launched_ns_ / lanes;
    out_.sum_launched_ns += sum_launched_ns_ / lanes;
  }

 private:
  const BudgetSums& sums_;
  std::uint32_t target_;
  std::span<const BusyTime> launched_;
  TargetFigures& out_;
  std::vector<Budget> budgets_;
  Ns foreign_ns_ = 0, busy_launched_ns_ = 0, sum_launched_ns_ = 0;
};

double part_of(Ns part, Ns whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0; }

double compute_of_window(const StageDevice& device) {
  return device.windows > 0 ? static_cast<double>(device.budget.gpu_compute_ns) / static_cast<double>(device.windows) : 0;
}

// By how long each GPU was behind all others at the collectives: to be last by a little costs little time. By its computing where they are not
// paired.
void name_slowest(const std::vector<StageDevice>& devices, const std::vector<Communication>& communication, GpuSpread& spread) {
  const StageDevice* slowest = &devices.front();
  for (const StageDevice& device : devices)
    if (compute_of_window(device) > compute_of_window(*slowest)) slowest = &device;
  std::uint64_t slowest_last = 0, all = 0;
  Ns most_ns = 0, all_ns = 0;
  for (const StageDevice& device : devices) {
    std::uint64_t last = 0;
    Ns behind_ns = 0;
    for (const Communication& each : communication) {
      if (each.device != device.device || each.pid != device.pid) continue;
      last += each.last_arrivals.value_or(0);
      behind_ns += each.behind_ns.value_or(0);
    }
    all += last;
    all_ns += behind_ns;
    if (behind_ns <= most_ns) continue;
    most_ns = behind_ns;
    slowest_last = last;
    slowest = &device;
  }
  spread.slowest_device = slowest->device;
  spread.slowest_pid = slowest->pid;
  if (all == 0) return;
  spread.slowest_by = SlowestBy::kArrival;
  spread.slowest_last_share = static_cast<double>(slowest_last) / static_cast<double>(all);
  spread.slowest_late_share = static_cast<double>(most_ns) / static_cast<double>(all_ns);
}

}  // namespace

void add_budget(Budget& sum, const Budget& more) {
  sum.wall_ns += more.wall_ns;
  for (const auto bin : kBins) sum.*bin += more.*bin;
}

Budget mean_budget(std::span<const Budget> budgets) {
  Budget sum, mean;
  for (const Budget& each : budgets) add_budget(sum, each);
  const auto count = static_cast<Ns>(budgets.size());
  if (count == 0) return mean;
  mean.wall_ns = sum.wall_ns / count;
  Ns before = 0;
  for (const auto bin : kBins) {
    const Ns after = before + sum.*bin;
    mean.*bin = after / count - before / count;
    before = after;
  }
  return mean;
}

std::vector<Communication> communication_of(const GpuLane& lane, const CommunicationSums& sums) {
  std::vector<Communication> list;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const CommunicationSum& sum = sums[i];
    if (sum.count == 0 && sum.time_ns == 0) continue;
    Communication& out = list.emplace_back();
    out.kind = static_cast<Collective>(i);
    out.device = lane.device;
    out.pid = lane.pid;
    out.count = sum.count;
    out.sum_ns = sum.sum_ns;
    out.time_ns = sum.time_ns;
    out.exposed_ns = sum.exposed_ns;
    if (out.kind == Collective::kPeerCopy) {
      out.bytes = sum.bytes;
      if (sum.sum_ns > 0) out.bytes_per_s = static_cast<double>(sum.bytes) * 1e9 / static_cast<double>(sum.sum_ns);
    }
    if (sum.paired == 0 || sum.paired != sum.count) continue;
    out.late_peer_ns = sum.late_peer_ns;
    out.transfer_ns = sum.sum_ns - sum.late_peer_ns;
    out.last_arrivals = sum.last;
    out.behind_ns = sum.behind_ns;
  }
  return list;
}

TargetFigures target_figures(const BudgetSums& sums, std::uint32_t target, std::span<const BusyTime> launched) {
  TargetFigures out;
  std::size_t lane = 0;
  // The lanes of a process stand together.
  while (lane < sums.lanes.size()) {
    const std::uint32_t process = sums.lanes[lane].process;
    ProcessFigures figures(sums, target, launched, out);
    for (; lane < sums.lanes.size() && sums.lanes[lane].process == process; ++lane) figures.add(lane);
    figures.finish();
  }
  sort_by_gpu(out.devices);
  sort_by_gpu(out.communication);
  return out;
}

std::optional<GpuSpread> gpu_spread(const std::vector<StageDevice>& devices, const std::vector<Communication>& communication) {
  const bool one = std::all_of(devices.begin(), devices.end(), [&](const StageDevice& each) { return each.device == devices[0].device; });
  if (one) return std::nullopt;  // which several processes may share
  GpuSpread spread;
  spread.busy_share_min = 1;
  double compute = 0, most = 0;
  for (const StageDevice& device : devices) {
    const double busy = part_of(device.busy_ns, device.budget.wall_ns);
    spread.busy_share_mean += busy / static_cast<double>(devices.size());
    spread.busy_share_min = std::min(spread.busy_share_min, busy);
    spread.busy_share_max = std::max(spread.busy_share_max, busy);
    compute += compute_of_window(device) / static_cast<double>(devices.size());
    most = std::max(most, compute_of_window(device));
  }
  if (compute > 0) spread.compute_spread = most / compute - 1;
  name_slowest(devices, communication, spread);
  return spread;
}

}  // namespace nl::analysis
