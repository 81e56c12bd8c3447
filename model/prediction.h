#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/codes.h"

// What a stage would take after a change, by a replay of the trace.
namespace nl {

struct Prediction {
  std::vector<std::string> changes;  // as arguments of `nl-stage whatif`
  std::string stage;
  double measured_ns = 0;     // the median window
  double unperturbed_ns = 0;  // without the tracer's part
  double predicted_ns = 0, low_ns = 0, high_ns = 0;
  Binding binds = Binding::kGpu;  // what binds then
  std::vector<Assumption> assumptions;
  std::optional<NoPrediction> refused;  // then there are no times but those measured
};

struct WhatIf {
  std::string name;                     // of the run
  std::string stage;                    // of the predictions
  double replay_error = 0;              // of what was measured, as a share: what the trace does not explain
  Binding binds = Binding::kGpu;        // as it is now
  std::optional<double> unprofiled_ns;  // the median window of passes without a tracer
  std::vector<Prediction> predictions;  // those asked for, or all that apply, the largest saving first
  std::vector<Prediction> sequence;     // the best change, then the best on top of it; each has all changes up to it
};

}  // namespace nl
