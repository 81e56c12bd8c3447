#pragma once

#include <vector>

#include "analysis/summarise.h"
#include "model/efficiency.h"
#include "model/rule.h"
#include "model/run.h"
#include "model/trace.h"
#include "orchestrator/config/config.h"

namespace nl::orchestrator {

// What the analysis is told by files: the peaks of known GPUs, the rules for the findings, which stages matter.
struct Knowledge {
  std::vector<DeviceTableEntry> devices;
  Rules rules;
  analysis::SummaryOptions options;
};

// Before anything runs, so that a mistake in a rule file costs no capture. Error(kConfig) names file and line.
Knowledge load_knowledge(const Config& config);

analysis::SummaryOptions summary_options(const Config& config);

// Stages of a workload that marks none, added to what was read: see analysis/stages/found.
void add_unmarked_stages(const Config& config, Trace& trace);

// All that is read off a trace: stages, kernels, operators, layers.
void analyse_trace(const Trace& trace, const analysis::SummaryOptions& options, Run& run);

// All that follows from the run's own figures, with no trace at hand: peaks, MFU, DRAM %, roofline,
// findings.
void explain(const Knowledge& knowledge, Run& run);

}  // namespace nl::orchestrator
