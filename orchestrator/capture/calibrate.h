#pragma once

#include <span>

#include "orchestrator/capture/capture.h"
#include "orchestrator/capture/pass_runner.h"

namespace nl::orchestrator {

inline constexpr const char* kCalibrationFolder = "calibration";  // in the bundle

// Our own program times a loop of launches: bare, under nsys as the capture uses it, and under the collector. Not planned where there is no
// GPU or nothing is traced.
void add_calibration_passes(Plan& plan);

// Runs them where it matters (perturbation.calibrate), and capture.calibration from them: calibration/costs.json has the same. What the
// tracers recorded of the loop is not kept. Trouble is noted and fails nothing.
void calibrate(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, Capture& capture);

}  // namespace nl::orchestrator
