#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/metrics.h"
#include "model/trace.h"

// What the GPU's counters say, launch by launch (Nsight Compute, or CUPTI) and window by window (CUPTI). Metrics have the names
// that ncu gives them, in base units (ns, bytes, Hz, %).
namespace nl {

struct NcuRange {
  std::string domain;  // empty: the default domain
  std::string name;
  RangeStyle style = RangeStyle::kPushPop;
};

struct NcuLaunch {
  std::uint64_t id = 0;
  std::uint32_t pid = 0;
  std::string kernel_name;  // as ncu printed it: demangled, shortened or mangled
  std::int32_t device = 0;
  std::uint32_t context = 0, stream = 0;
  Dim3 grid, block;
  std::vector<NcuRange> ranges;                     // open on the launching thread, outermost first
  std::map<std::string, double> metrics;            // metric → value in base units
  std::map<std::string, std::string> text_metrics;  // those that are not numbers
};

struct NcuReport {   // of one file of ncu
  std::string page;  // "raw" or "details"
  std::vector<NcuLaunch> launches;
  DamagedRows rows_damaged;
  std::vector<std::string> tool_messages;  // the ==…== lines met between the rows
};

// One window of a stage, or several together.
struct WindowCounters {
  std::string domain, name;  // of its range
  std::int32_t device = 0;
  std::uint64_t first = 0;  // the number of the (first) window among those of its range, from 0
  std::uint64_t windows = 1;
  Ns start_ns = 0, end_ns = 0;            // of the counter pass, not of the trace
  std::map<std::string, double> metrics;  // sums over the windows; percentages and averages as the GPU gives them
};

struct CounterReport {  // what a pass for counters left behind, measured through CUPTI
  std::vector<WindowCounters> windows;
  NcuReport kernels;          // one launch each, under its mangled name
  std::vector<Remark> notes;  // what went wrong
  DamagedRows rows_damaged;
};

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
