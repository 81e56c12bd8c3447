#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/codes.h"
#include "model/metrics.h"
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
  Meter measured_by = Meter::kNone;
  std::uint64_t windows = 0;              // that were measured
  std::optional<double> duration_ns;      // of a window on the GPU, idle time included
  MetricValues values;                    // MetricPlace::kStage
  std::map<std::string, double> metrics;  // all of them
  std::string note;                       // why there are none, or what to bear in mind
  std::vector<DramUse> dram_use;
};

// In Run: what samples showed during the windows of a stage, on average over them.
struct StageSampling {
  std::uint64_t samples = 0;
  MetricValues values;  // MetricPlace::kSampled
  std::map<std::string, double> metrics;
  std::vector<DramUse> dram_use;
};

struct StallShare {
  std::string reason;  // "long_scoreboard"
  std::uint64_t samples = 0;
  double share = 0;                                     // of the kernel's samples that were stalled or issued, 0..1
  bool issued() const { return reason == "selected"; }  // CUPTI's word for a warp that did not stall
};

// In Run: a series made small enough for a report's picture.
struct ActivityCurve {
  std::int32_t device = 0;
  std::string metric;  // "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"
  std::string title;   // "SM active"
  Ns start_ns = 0;     // since the start of the capture
  Ns step_ns = 0;      // one value every so often; each is the mean of the samples it covers
  std::vector<std::optional<double>> values;
};

}  // namespace nl
