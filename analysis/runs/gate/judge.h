#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/gate.h"
#include "model/run.h"

namespace nl::analysis {

// What a gate needs of a run.
struct GateRun {
  std::string run_id, hardware;
  ExpectationSource from;  // captured_by: of its traced figures
  std::vector<RunMetric> metrics;
  const RunMetric* find(const std::string& metric) const;
};
GateRun gate_run(const Run& run);

// The first fact in which they are of different workloads. What is not known differs from nothing, and a mean length of prompts not
// from one close to it.
std::optional<WorkloadDifference> workload_difference(const ExpectationSource& expected, const ExpectationSource& given);

// Who recorded what traced figures are of: "nsys", "collector (CUPTI)", "import (kineto)".
std::string capture_mode(const Run& run);

// The runs by their hardware, each metric by the median of its runs. Figures are compared only with those of the same capture
// mode and model: throws Error(kInput) where the runs, or the runs and the expectations, differ in it.
std::vector<GateResult> judge(const Expectations& expectations, const std::vector<GateRun>& runs);

// The value and source of a metric in runs of one hardware, as a line without expectation; no value where no run has it.
GateLine measured(const std::string& metric, const std::vector<const GateRun*>& runs);
using RunsByHardware = std::vector<std::pair<std::string, std::vector<const GateRun*>>>;
RunsByHardware by_hardware(const std::vector<GateRun>& runs);  // in the order of the first of each

}  // namespace nl::analysis
