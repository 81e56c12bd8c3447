#include "tests/unit/exporters/sample_run.h"

namespace nl::test {
namespace {

// A step of 3.6 ms that the tracer made 4.26 ms of.
Prediction prediction(const std::string& stage, std::vector<std::string> changes, double predicted_ns, double low_ns, double high_ns) {
  Prediction out;
  out.changes = std::move(changes);
  out.stage = stage;
  out.measured_ns = 4.26e6;
  out.unperturbed_ns = 3.6e6;
  out.predicted_ns = predicted_ns;
  out.low_ns = low_ns;
  out.high_ns = high_ns;
  return out;
}

}  // namespace

Prediction graph_prediction(const std::string& stage) {
  Prediction out = prediction(stage, {"--graph " + stage}, 1.548e6, 1.3e6, 1.9e6);
  out.binds = Binding::kHostCode;
  out.assumptions = {Assumption::kGraphDropsHostCode, Assumption::kTracerPerLaunch};
  return out;
}

WhatIf sample_what_if(const std::string& stage) {
  WhatIf out;
  out.stage = stage;
  out.replay_error = 0.012;
  out.binds = Binding::kLaunches;
  out.unprofiled_ns = 3.55e6;
  Prediction host = prediction(stage, {"--host sample_token=0"}, 3.24e6, 2.8e6, 3.7e6);
  host.binds = Binding::kLaunches;
  host.assumptions = {Assumption::kSamplesTellTime, Assumption::kTracerPerLaunch};
  Prediction bound = prediction(stage, {"--kernel gemm=0.5"}, 3.42e6, 3.42e6, 3.6e6);
  bound.binds = Binding::kLaunches;
  bound.ceiling = true;
  bound.assumptions = {Assumption::kMeasuredCeiling};
  Prediction none = prediction(stage, {"--pinned"}, 0, 0, 0);
  none.refused = NoPrediction::kNothingToChange;
  out.predictions = {graph_prediction(stage), host, bound, none};
  Prediction both = prediction(stage, {"--graph " + stage, "--host sample_token=0"}, 1.188e6, 0.95e6, 1.5e6);
  both.binds = Binding::kWaits;
  both.assumptions = {Assumption::kGraphDropsHostCode, Assumption::kSamplesTellTime, Assumption::kTracerPerLaunch};
  out.sequence = {graph_prediction(stage), both};
  using enum Binding;
  out.now = WindowStrip{3.6e6,
                        {{0, 0.9e6, kHostCode}, {0.9e6, 2.1e6, kLaunches}, {2.1e6, 2.7e6, kHostCode}, {2.7e6, 3.6e6, kWaits}},
                        {{1.0e6, 1.3e6, kGpu}, {3.0e6, 3.5e6, kGpu}}};
  out.then = WindowStrip{1.188e6, {{0, 0.4e6, kHostCode}, {0.4e6, 0.45e6, kLaunches}, {0.45e6, 1.188e6, kWaits}}, {{0.5e6, 1.15e6, kGpu}}};
  return out;
}

}  // namespace nl::test
