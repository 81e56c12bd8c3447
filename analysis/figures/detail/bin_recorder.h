#pragma once

#include <cstdint>
#include <vector>

#include "analysis/account/budget.h"
#include "analysis/figures/detail/buckets.h"
#include "analysis/figures/detail/innermost.h"
#include "model/detail.h"

namespace nl::analysis {

// Which bin each moment inside the stages falls into, as each lane sees it. A BudgetSweep over all windows says why a GPU is
// idle; add() says what it does otherwise, in the order of start and with the work that the sweep gets.
class BinRecorder : public IdleListener {
 public:
  // The windows by start; `exact` by start. `listed`: by window, its place in the list of steps, or kNone.
  BinRecorder(const std::vector<Window>& windows, std::uint32_t processes, const Buckets& buckets, const Spans& exact,
              std::vector<std::uint32_t> listed);

  void set_lanes(const std::vector<GpuLane>& lanes);
  void add(std::uint32_t lane, const LaneWork& work);
  void idle(std::uint32_t lane, std::uint32_t window, BudgetBin bin, Ns start_ns, Ns end_ns) override;
  // After all work, before the results are taken.
  void finish();

  // What it found, by lane.
  void put_overview(DetailOverview& overview) const;
  std::vector<DetailInterval> take_intervals(std::size_t exact, std::uint32_t lane);
  void put_bins(std::vector<DetailStep>& steps) const;

 private:
  // What a lane does from the latest start on, as far as is known.
  struct Lane {
    std::uint32_t process = 0;
    Ns at_ns = std::numeric_limits<Ns>::min();
    Ns compute_until_ns = at_ns, communication_until_ns = at_ns, busy_until_ns = at_ns;
    std::size_t next_window = 0;
    std::vector<std::uint32_t> open;
    std::vector<Ns> busy;
    std::array<std::vector<Ns>, kBudgetBins> bins;
    std::vector<std::vector<DetailInterval>> exact;
  };
  void advance(Lane& lane, Ns time_ns);
  void busy(Lane& lane, BudgetBin bin, Ns start_ns, Ns end_ns);
  void record(Lane& lane, BudgetBin bin, Ns start_ns, Ns end_ns);
  void add_to_step(std::uint32_t window, const Lane& lane, BudgetBin bin, Ns time_ns);

  const std::vector<Window>& windows_;
  const InnermostStages innermost_;
  const Buckets& buckets_;
  const Spans& exact_;
  const std::vector<std::uint32_t> listed_;
  std::vector<std::vector<std::uint32_t>> windows_of_process_;
  std::vector<Lane> lanes_;
  std::vector<std::vector<std::pair<std::uint32_t, BinTimes>>> step_bins_;  // by step: lane and times
};

}  // namespace nl::analysis
