#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/codes.h"
#include "model/time.h"

// The overhead of the capture, and what the meters of the GPUs read.
namespace nl {

// One stage in unprofiled passes (timed by its NVTX ranges, or by its launches where no range marks it) and in profiled passes of the
// same workload.
struct StageSlowdown {
  PassKind profiler = PassKind::kNsys;  // kNsys, kCollector or kNcu
  std::string stage;
  std::vector<double> bare_ns;      // the median window of each unprofiled pass
  std::vector<double> profiled_ns;  // of each profiled pass
  std::optional<double> slowdown;   // 0.07: 7 % slower
  std::optional<double> low, high;  // 95 % interval of it
  std::optional<SlowdownVerdict> verdict;
  std::string summary;  // in one sentence, for the reports
  std::string note;     // the reason where there is no number
};

// What a tracer adds to a window of the stage that people quote.
struct TracingCost {
  PassKind profiler = PassKind::kNsys;  // kNsys or kCollector
  CostBasis basis = CostBasis::kMeasured;
  std::string stage;
  double low = 0, high = 0;  // 0.28 and 0.42: a window takes 28 to 42 % longer than unprofiled; equal where passes tell one figure
  std::optional<double> launches_per_window;  // that an estimate counts
};

// What a tracer adds to one call on this machine: a loop of such calls, traced and not.
struct CallCost {
  PassKind profiler = PassKind::kNsys;  // kNsys or kCollector
  std::string version;                  // of the tool
  std::string options;                  // that it traced with, as they were written
  CalibratedCall call = CalibratedCall::kLaunch;
  double ns = 0, low_ns = 0, high_ns = 0;  // added to one call: the difference of the medians, and its 95 % interval
  double bare_ns = 0;                      // what a call takes untraced, the median
  std::uint64_t blocks = 0;                // of calls that were timed, traced and as many untraced
};

struct Calibration {
  std::vector<CallCost> costs;
  std::string note;  // why there are none
};

inline constexpr double kOverheadLimit = 0.05;  // perturbation.limit, where nothing else is configured

// Whether the passes were enough to tell the overhead of tracing from the limit.
struct OverheadDecision {
  RepeatsEnd end = RepeatsEnd::kFixed;
  std::vector<std::string> stages;           // that were to be decided
  std::vector<std::string> undecided;        // of them
  std::uint64_t passes = 0;                  // unprofiled, and as many traced
  std::optional<std::uint64_t> more_passes;  // of each kind, that would probably decide the rest; nothing: none, or too many to say
  std::string summary;                       // in one sentence, for the reports
};

struct Perturbation {
  std::vector<StageSlowdown> stages;      // the "whole run" of ncu among them
  std::string order;                      // "bare nsys bare nsys bare": as they were run
  std::vector<std::string> notes;         // stages over the limit, passes that were left out or failed
  std::string note;                       // why nothing was measured
  std::vector<TracingCost> tracing = {};  // of this run's tracer first, then of the one that could take its place; empty: not known
  Calibration calibration = {};
  double limit = kOverheadLimit;                  // a slowdown of more is warned of
  std::optional<OverheadDecision> decision = {};  // nothing: no unprofiled pass was compared
};

struct PowerSample {  // one reading of NVML
  std::int64_t utc_ns = 0;
  std::int32_t device = 0;  // NVML's index
  std::optional<double> power_w;
  std::optional<double> energy_j;  // counter since the driver was loaded
  std::optional<double> sm_clock_mhz, memory_clock_mhz, temperature_c;
  std::optional<double> gpu_utilisation;          // 0..1
  std::optional<std::uint64_t> throttle_reasons;  // NVML's bits
  std::optional<double> power_limit_w = {};       // that is enforced
};

struct StageEnergy {
  std::string stage;
  std::optional<double> joules_per_window;
  std::optional<double> joules_per_token;
  std::optional<double> mean_power_w;
  std::uint64_t samples = 0;  // readings with a new value that fell into its windows
  std::string note;           // why there is no number
};

struct ClockSummary {
  std::int32_t device = 0;
  std::uint64_t samples = 0;
  std::optional<double> power_mean_w, power_max_w;
  std::optional<double> power_limit_w = {};  // enforced; the lowest that was read
  std::optional<double> sm_clock_min_mhz, sm_clock_median_mhz, sm_clock_max_mhz;
  std::optional<double> temperature_max_c;
  std::optional<double> throttled_share;      // of the samples under load with a reason that slows
  std::vector<std::string> throttle_reasons;  // in words, most frequent first
};

struct Energy {
  std::string pass;  // which passes the numbers are of: "bare", "nsys", "collector"
  EnergySource source = EnergySource::kNone;
  std::vector<StageEnergy> stages;
  std::vector<ClockSummary> devices;
  std::string note;  // why nothing was sampled
};

}  // namespace nl
