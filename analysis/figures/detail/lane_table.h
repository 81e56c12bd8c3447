#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/figures/detail/collective_bands.h"
#include "analysis/staging/stage_table.h"
#include "model/detail.h"
#include "model/trace.h"

namespace nl::analysis {

// "python main thread 973", "process 812 thread 973"
std::string thread_title(const Trace& trace, std::uint32_t thread);

// The lanes of the whole capture: those of the collectives of ranks, and of who is waited for in them; of each thread its stages and its
// other ranges, nested ones below each other, then its CUDA calls; then the GPUs' streams. Threads with stages come first. Where there are
// too many, lanes of collectives, stages and streams stay, and of the others those with most in them.
class LaneTable {
 public:
  LaneTable(const Trace& trace, const StageTable& stages, const CollectiveBands& bands);

  const std::vector<DetailLane>& lanes() const { return lanes_; }
  // kNone: there are too many lanes, and this one is not shown.
  std::uint32_t of_range(std::uint32_t range) const { return range_lanes_[range]; }
  std::uint32_t of_calls(std::uint32_t thread) const { return call_lanes_[thread]; }
  std::uint32_t of_queue(std::uint64_t queue) const { return queue < queue_lanes_.size() ? queue_lanes_[queue] : kNone; }
  std::uint32_t of_band(std::uint32_t level) const { return band_lanes_[level]; }
  std::uint32_t of_band_waits(std::uint32_t level) const { return wait_lanes_[level]; }  // kNone: no rank is waited for there
  std::uint64_t lanes_left_out() const { return lanes_left_out_; }
  std::uint64_t slices_left_out() const { return slices_left_out_; }
  // All ranges by start, longest first.
  const std::vector<std::uint32_t>& ranges_by_start() const { return order_; }

 private:
  void add_bands(const CollectiveBands& bands);
  void add_thread(std::uint32_t thread, const StageTable& stages, const std::vector<std::uint32_t>& ranges, bool calls);
  void place_ranges(std::uint32_t thread, const StageTable& stages, const std::vector<std::uint32_t>& ranges, bool staged);
  void add_queues();
  void leave_out_smallest();

  const Trace& trace_;
  std::vector<std::uint32_t> order_;
  std::vector<DetailLane> lanes_;
  std::vector<std::uint64_t> slices_;  // by lane
  std::vector<std::uint32_t> range_lanes_, call_lanes_, queue_lanes_, band_lanes_, wait_lanes_;
  std::uint64_t lanes_left_out_ = 0, slices_left_out_ = 0;
};

}  // namespace nl::analysis
