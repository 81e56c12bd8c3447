#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/time.h"

// What the GPU's counters say of the stages and kernels of a run.
namespace nl {

// What one GPU moved to and from DRAM, and in which time. dram_pct is made of it once the peaks are known (analysis/dram_use);
// run.json has no place for it.
struct DramUse {
  std::int32_t device = 0;
  double bytes = 0;
  double duration_ns = 0;
};

// In Run: the counters of a stage, for one window on average. Warm-up windows are left out where the trace says which.
struct StageCounters {
  std::string measured_by;               // "CUPTI"
  std::uint64_t windows = 0;             // that were measured
  std::optional<double> duration_ns;     // of a window on the GPU, idle time included
  std::optional<double> dram_read_bytes, dram_write_bytes, l2_bytes;
  std::optional<double> dram_pct;        // of the device's peak, from the bytes and the duration
  std::optional<double> sm_active_pct;   // cycles with a warp on the SMs ÷ cycles
  std::optional<double> tensor_pct;      // tensor pipe cycles ÷ SM active cycles
  std::optional<double> occupancy_pct;   // warps ÷ the most, while active
  std::map<std::string, double> metrics; // all of them
  std::string note;                      // why there are none, or what to bear in mind
  std::vector<DramUse> dram_use;
};

// In Run: what samples showed during the windows of a stage, on average over them.
struct StageSampling {
  std::uint64_t samples = 0;
  std::optional<double> sm_active_pct, tensor_pct, dram_pct, occupancy_pct;
  std::optional<double> dram_read_bytes_per_s, dram_write_bytes_per_s;  // of all GPUs that the stage used, together
  std::map<std::string, double> metrics;
  std::vector<DramUse> dram_use;
};

struct StallShare {
  std::string reason;                    // "long_scoreboard"
  std::uint64_t samples = 0;
  double share = 0;                      // of the kernel's samples that were stalled or issued, 0..1
};

// In Run: a series made small enough for a report's picture.
struct ActivityCurve {
  std::int32_t device = 0;
  std::string metric;                    // "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"
  std::string title;                     // "SM active"
  Ns start_ns = 0;                       // since the start of the capture
  Ns step_ns = 0;                        // one value every so often; each is the mean of the samples it covers
  std::vector<std::optional<double>> values;
};

}  // namespace nl
