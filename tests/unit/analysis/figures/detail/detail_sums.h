#pragma once

#include <map>
#include <string>
#include <utility>

#include "analysis/figures/detail/detail.h"
#include "model/run.h"
#include "model/stage.h"
#include "tests/catch.h"

// What the parts of a detail add up to, against the figures of the run.
namespace nl::test {

inline BinTimes bins_of_budget(const Budget& budget) {
  BinTimes out{};
  for (std::size_t i = 0; i < kBudgetBins; ++i) out[i] = budget.*kBudgetBinKeys[i].time_ns;
  return out;
}

inline void add_bins(BinTimes& sum, const BinTimes& more) {
  for (std::size_t i = 0; i < kBudgetBins; ++i) sum[i] += more[i];
}

inline Ns total_of(const BinTimes& bins) {
  Ns sum = 0;
  for (const Ns each : bins) sum += each;
  return sum;
}

// The measured steps of each stage, GPU by GPU: what run.json says of it.
inline std::size_t check_step_bins(const Detail& detail, const Run& run) {
  std::size_t checked = 0;
  for (const StageEntry& stage : run.stages)
    for (const StageDevice& gpu : stage.devices) {
      BinTimes sum{};
      for (const DetailStep& step : detail.steps) {
        if (step.warmup || detail.stages[step.stage] != stage.name) continue;
        for (const auto& [device, bins] : step.bins)
          if (detail.devices[device].device == gpu.device && detail.devices[device].pid == gpu.pid) add_bins(sum, bins);
      }
      INFO(stage.name << " on GPU " << gpu.device);
      REQUIRE(sum == bins_of_budget(gpu.budget));
      ++checked;
    }
  return checked;
}

inline void check_step_walls(const Detail& detail) {
  for (const DetailStep& step : detail.steps)
    for (const auto& [device, bins] : step.bins) REQUIRE(total_of(bins) == step.wall_ns);
}

// The overview, and where the whole capture is one exact window, its intervals: the same.
inline void check_bins_agree(const Detail& detail) {
  for (std::size_t device = 0; device < detail.devices.size(); ++device) {
    BinTimes overview{}, exact{};
    for (std::size_t bin = 0; bin < kBudgetBins; ++bin)
      for (const Ns each : detail.overview.bins[device][bin]) overview[bin] += each;
    REQUIRE(detail.windows.size() == 1);
    Ns until_ns = detail.start_ns;
    for (const DetailInterval& each : detail.windows[0].bins[device]) {
      REQUIRE(each.start_ns >= until_ns);
      REQUIRE(each.end_ns > each.start_ns);
      until_ns = each.end_ns;
      exact[static_cast<std::size_t>(each.bin)] += each.end_ns - each.start_ns;
    }
    REQUIRE(overview == exact);
  }
}

using KernelSums = std::map<std::pair<std::string, std::int32_t>, std::pair<Ns, std::uint64_t>>;

inline KernelSums kernels_of_overview(const Detail& detail) {
  KernelSums sums;
  for (const BucketSum& each : detail.overview.kernels.sums) {
    auto& [time_ns, calls] = sums[{detail.names[detail.kernels[each.what].name], *detail.devices[each.device].device}];
    time_ns += each.time_ns;
    calls += each.calls;
  }
  return sums;
}

inline KernelSums kernels_of_run(const Run& run) {
  KernelSums sums;
  if (run.kernels)
    for (const KernelEntry& kernel : *run.kernels) sums[{kernel.name, kernel.device}] = {kernel.time.total_ns, kernel.time.count};
  return sums;
}

inline std::map<std::string, Ns> operators_of_overview(const Detail& detail) {
  std::map<std::string, Ns> sums;
  for (const BucketSum& each : detail.overview.operators.sums) sums[detail.operators[each.what]] += each.time_ns;
  return sums;
}

inline std::map<std::string, Ns> operators_of_run(const Run& run) {
  std::map<std::string, Ns> sums;
  if (!run.operators.empty())
    for (const OperatorEntry& entry : run.operators[0].entries)
      if (entry.cuda_self_ns.value_or(0) > 0) sums[entry.name] = *entry.cuda_self_ns;
  return sums;
}

inline std::size_t slices_of_windows(const Detail& detail) {
  std::size_t count = 0;
  for (const DetailWindow& window : detail.windows)
    for (const DetailSlices& lane : window.lanes) count += lane.slices.size();
  return count;
}

}  // namespace nl::test
