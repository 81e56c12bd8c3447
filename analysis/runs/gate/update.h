#pragma once

#include <string>
#include <vector>

#include "analysis/runs/gate/judge.h"

namespace nl::analysis {

// The expectations with what these runs reached: where it is outside the tolerance, of another capture mode or model, or new. What
// is met stays, so that small steps do not add up unseen. `patterns`: further metrics to expect, "stage.*.median_ms".
// Throws Error(kInput) where an expectation of another capture mode would stay beside them.
Expectations updated(Expectations expectations, const std::vector<GateRun>& runs, const std::vector<std::string>& patterns);

// The first whose traced figures are of another capture mode than those before it; nullptr where there is none.
const Expectation* of_other_mode(const HardwareExpectations& expectations);

}  // namespace nl::analysis
