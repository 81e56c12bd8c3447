#pragma once

#include <algorithm>
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
  kCopiesOverlap,       // nothing that is launched after a copy needs what it copies before the next window
  kAttentionInOne,      // fused attention takes between a quarter and all of the time of its two products
  kMeasuredCeiling,     // kernels run as fast as the best of their kind was measured on this card
  kBatchByRoofline,     // kernels that fill the GPU take longer in proportion to the batch, others as long as before
  kHostKeepsPace,       // the host does the same for the larger batch
  kWeightsAreRead,      // kernels that read weights take as long as the bytes they read
  kScalesWithPeaks,     // kernels of the other card are faster by its memory or by its arithmetic, whichever is faster
};

// Why there is no prediction.
enum class NoPrediction : std::uint8_t {
  kNotReplayed,      // the replay of what was measured is off by more than 5 %
  kNothingToChange,  // the trace has nothing that the change is about
  kAlreadyGraph,     // the stage is launched as CUDA graphs
  kNoStacks,         // the code of the host was not sampled
  kNoStage,          // the trace has no windows of that stage
  kPartial,          // the capture is not complete
  kNoCeiling,        // the ceilings of this card were not measured
  kUnknownCard,      // the peaks of the card are not known
  kUnknownWeights,   // the precision of the weights is not known
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
  bool ceiling = false;           // a bound of what is possible: predicted_ns is the least that it may take
  std::vector<Assumption> assumptions;
  std::optional<NoPrediction> refused;  // then there are no times but those measured
  double saving() const { return unperturbed_ns > 0 ? std::clamp(1 - predicted_ns / unperturbed_ns, 0.0, 1.0) : 0; }  // of the time
};

// What happens in one window, in times since its begin.
struct StripPart {
  double start_ns = 0, end_ns = 0;
  Binding what = Binding::kGpu;
};
struct WindowStrip {
  double length_ns = 0;
  std::vector<StripPart> host;  // of its thread: code, launching, waiting
  std::vector<StripPart> gpu;   // while work runs on a GPU of its process; short pieces and pauses by their shares
};

struct WhatIf {
  std::string name;                     // of the run
  std::string stage;                    // of the predictions
  double replay_error = 0;              // of what was measured, as a share: what the trace does not explain
  Binding binds = Binding::kGpu;        // as it is now
  std::optional<double> unprofiled_ns;  // the median window of passes without a tracer
  std::vector<Prediction> predictions;  // those asked for, or all that apply, the largest saving first
  std::vector<Prediction> sequence;     // the best change, then the best on top of it; each has all changes up to it
  std::vector<Prediction> stages;       // each as it is, without the tracer's part: what an unprofiled run would take
  std::optional<WindowStrip> now;       // a window of median length as captured, without the tracer's part,
  std::optional<WindowStrip> then;      // and the same one after the sequence
};

}  // namespace nl
