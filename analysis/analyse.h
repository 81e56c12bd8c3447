#pragma once

#include <vector>

#include "analysis/figures/kernels/kernel_list.h"
#include "analysis/figures/latency/latency.h"
#include "analysis/figures/overhead/decision.h"
#include "analysis/figures/overhead/tracing_cost.h"
#include "analysis/staging/iterations.h"
#include "model/ceilings.h"
#include "model/efficiency.h"
#include "model/evidence.h"
#include "model/rule.h"
#include "model/run.h"

namespace nl::analysis {

struct AnalysisOptions {
  KernelChoice kernels = {};
  WarmupRule warmup = {};
  TokenCounts tokens = {};     // as the model's configuration has them
  OverheadRule overhead = {};  // when tracing slows a stage too much
};

// What files tell the analysis: the peaks of known GPUs, the rules for the findings, which stages matter, what a tracer adds to a launch.
struct Knowledge {
  std::vector<DeviceTableEntry> devices;
  Rules rules;
  AnalysisOptions options;
  TracingKnowledge tracing = {};
  std::vector<DeviceCeilings> ceilings = {};  // of the cards that were measured here
};

// All of a run but its findings, and what a change would bring.
Run figures_of(const Evidence& evidence, const Knowledge& knowledge, const StagedTrace& staged);

// Makes a run of the evidence, captured here or imported. It is the only place that builds a Run, and reads no clock, no files and no
// environment.
Run analyse(const Evidence& evidence, const Knowledge& knowledge);

// What a trace alone shows: stages, phases, iterations, latency, timeline, kernels, calls, ranges, coverage, activity and clock. Figures of
// stages and phases leave warm-up iterations out; kernels, calls and ranges are those of the whole capture.
Run traced_run(const StagedTrace& staged, const AnalysisOptions& options);

// A run with all that follows from its own figures, without a trace at hand: peaks, MFU, DRAM %, roofline, findings, summary.
Run explained(Run run, const Knowledge& knowledge);

// A run with the findings of other rules.
Run judged(Run run, const Rules& rules);

}  // namespace nl::analysis
