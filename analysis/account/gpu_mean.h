#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/account/budget.h"
#include "analysis/account/gpu_sweep.h"
#include "model/run.h"
#include "model/stage.h"

// From one GPU's figures to those of several.
namespace nl::analysis {

void add_budget(Budget& sum, const Budget& more);

// The mean of budgets of one wall time. Its bins add up to that wall time, too: the remainders of the divisions go to the bins in turn,
// so that no bin is more than a nanosecond off.
Budget mean_budget(std::span<const Budget> budgets);

// One target over all lanes: the mean over the GPUs of each process, and the processes added up, as their windows are.
struct TargetFigures {
  Budget budget;
  Ns foreign_gpu_ns = 0;    // of the GPU time: only work ran that no window of the target launched
  Ns busy_launched_ns = 0;  // union of what the windows launched on a GPU
  Ns sum_launched_ns = 0;   // their plain sum
  std::uint64_t kernels_launched = 0;
  Ns longest_gap_ns = 0, longest_gap_at_ns = 0;  // of any GPU
  std::vector<StageDevice> devices;
  std::vector<Communication> communication;
  LaunchWaitSum launch_waits;  // of all GPUs together
};

// `launched`: by lane, what the windows of the target launched; empty: the target is not a stage.
TargetFigures target_figures(const BudgetSums& sums, std::uint32_t target, std::span<const BusyTime> launched);

// Sorts as people read: by GPU, then by process.
template <class Item>
void sort_by_gpu(std::vector<Item>& items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return std::pair(a.device, a.pid) < std::pair(b.device, b.pid); });
}

// Nothing for a single GPU.
std::optional<GpuSpread> gpu_spread(const std::vector<StageDevice>& devices, const std::vector<Communication>& communication);

std::vector<Communication> communication_of(const GpuLane& lane, const CommunicationSums& sums);

}  // namespace nl::analysis
