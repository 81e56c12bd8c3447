#pragma once

#include <vector>

#include "model/efficiency.h"
#include "model/rule.h"
#include "model/run.h"
#include "model/trace.h"
#include "orchestrator/config/config.h"

namespace nl::orchestrator {

// What the analysis is told by files: the peaks of known GPUs, and the rules for the findings.
struct Knowledge {
  std::vector<DeviceTableEntry> devices;
  Rules rules;
};

// Before anything runs, so that a mistake in a rule file costs no capture. Error(kConfig) names file and line.
Knowledge load_knowledge(const Config& config);

// All that is read off a trace: stages, kernels, operators, layers.
void analyse_trace(const Trace& trace, const Config& config, Run& run);

// All that follows from the run's own figures, with no trace at hand: peaks, MFU, DRAM %, roofline,
// findings.
void explain(const Knowledge& knowledge, Run& run);

}  // namespace nl::orchestrator
