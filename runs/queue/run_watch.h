#pragma once

#include <chrono>
#include <filesystem>
#include <vector>

#include "orchestrator/machine/gpu_activity.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {

// Looks after a run while it runs: is it still getting on, and is it alone on the GPU?
class RunWatch {
 public:
  // `gpu` may be null. 0 s: nothing counts as stalled.
  RunWatch(std::filesystem::path log, double stall_s, double look_s, GpuActivity* gpu);

  // Asked a few times a second. True: it has stalled, and is to be ended.
  bool must_end();

  bool stalled() const { return stalled_; }
  const std::vector<int>& intruders() const { return intruders_; }  // processes of others, on its GPUs while it ran

 private:
  using Clock = std::chrono::steady_clock;

  void look_for_intruders(const GpuReading& reading, const std::vector<int>& own);
  bool gets_on(const GpuReading& reading, double processor_s);

  std::filesystem::path log_;
  double stall_s_, look_s_;
  GpuActivity* gpu_;
  std::vector<int> intruders_, seen_before_;
  Clock::time_point looked_ = Clock::now(), got_on_ = looked_;
  std::uintmax_t log_bytes_ = 0;
  double processor_s_ = 0;
  bool stalled_ = false;
};

}  // namespace nl::runs
