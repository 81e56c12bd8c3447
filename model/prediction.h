#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What a stage would take after a change, by a replay of the trace.
namespace nl {

// What a prediction takes for granted.
enum class Assumption : std::uint8_t {
  kGraphDropsHostCode,  // the code between the launches of a graph is gone, and what the launching function does around them, by samples
  kGraphInputsCopied,   // a copy of the inputs is added for each graph
  kWaitNotNeeded,       // nothing that follows needs the result that was waited for
  kSamplesTellTime,     // the time in the function is its share of the samples
  kRunsBeside,          // the function runs beside the thread that called it, and nothing waits for its result before it is called again
  kKernelsScaleAlike,   // all these kernels change by the same factor, and no other
  kHostScalesAlike,     // all code of the host and of the driver is faster by the same factor
  kPinnedRate,          // copies run at the rate of pinned copies of this trace, or of the bus
  kFusedAsLongest,      // a fused kernel takes as long as the longest of its parts
  kTracerPerLaunch,     // the tracer adds the same to each launch
};

// Why there is no prediction.
enum class NoPrediction : std::uint8_t {
  kNotReplayed,      // the replay of what was measured is off by more than 5 %
  kNothingToChange,  // the trace has nothing that the change is about
  kAlreadyGraph,     // the stage is launched as CUDA graphs
  kNoStacks,         // the code of the host was not sampled
  kNoStage,          // the trace has no windows of that stage
  kPartial,          // the capture is not complete
};

// What most of a window's time goes to.
enum class Binding : std::uint8_t { kGpu, kHostCode, kLaunches, kWaits };

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
