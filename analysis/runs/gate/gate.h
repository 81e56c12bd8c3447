#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/difference.h"
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

// How much runs of one build differ in a metric, where that is recorded.
using WanderOfMetric = std::function<std::optional<Wander>(const std::string& metric)>;

// The runs by their hardware, each metric by the median of its runs. A metric is regressed or improved where its figure is outside of the
// tolerance beyond what runs of one build differ by, with 95 % confidence for all metrics of the file together. Figures are compared only with those of the same capture
// mode and model: throws Error(kInput) where the runs, or the runs and the expectations, differ in it.
std::vector<GateResult> judge(const Expectations& expectations, const std::vector<GateRun>& runs, const WanderOfMetric& recorded = {});

// Whether the key of a metric is one of "stage.*.median_ms".
bool key_matches(const std::string& key, const std::string& pattern);

// The expectations, with the values of these runs where these are outside the tolerance, of another capture mode or model, or new. An
// expectation that is met stays, so that small steps do not add up unseen. `patterns`: further metrics to expect, "stage.*.median_ms".
// Throws Error(kInput) where an expectation of another capture mode would stay beside them.
Expectations updated(Expectations expectations, const std::vector<GateRun>& runs, const std::vector<std::string>& patterns);

// The first expectation whose traced figures have another capture mode than those before it; nullptr where there is none.
const Expectation* of_other_mode(const HardwareExpectations& expectations);

}  // namespace nl::analysis
