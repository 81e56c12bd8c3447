#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/replay/change_text.h"
#include "analysis/replay/replay_graph.h"
#include "analysis/staging/staged_trace.h"
#include "analysis/trace/covered_time.h"
#include "model/prediction.h"

// What the windows of a stage would take after changes.
namespace nl::analysis {

// What the tracer adds to a launch, as far as it is known.
struct TracerPart {
  double low_ns = 0, high_ns = 0;
};

// What the median window of a stage takes without a tracer, where that was measured.
struct UnprofiledWindow {
  std::string stage;
  double ns = 0;
};

struct PredictorOptions {
  TracerPart tracer = {};
  // With it the tracer's part is what brings the replay to it; what remains is a host or a GPU that was faster or slower then, and all times are
  // scaled by it.
  std::optional<UnprofiledWindow> unprofiled = {};
  // Of a trace with more work, an excerpt is replayed with at most as much of it, around a window in the middle of this stage.
  std::size_t most_works = std::numeric_limits<std::size_t>::max();
  std::string around = {};
  double interval_scale = 1;  // of the logarithm of every interval
};

class Predictor {
 public:
  explicit Predictor(const StagedTrace& staged, const PredictorOptions& options = {});

  // How much work of the GPUs a part around the middle of this stage has at least.
  static std::size_t works_in_middle_window(const StagedTrace& staged, const std::string& stage);

  // How far the replay of what was measured is off, as a share of the windows of the stage: what the trace does not explain.
  double replay_error(const std::string& stage) const;

  // One change after the other, in one replay.
  Prediction predict(const std::string& stage, const std::vector<NamedChange>& changes) const;

  // A window of median length as it would be drawn after these changes; nothing where they are refused.
  std::optional<WindowStrip> strip(const std::string& stage, const std::vector<NamedChange>& changes) const;

  // What may be changed in any trace: a stage as a graph, calls that wait, copies, fused kernels.
  std::vector<NamedChange> candidates(const std::string& stage) const;

  // Each of these alone, the largest saving first; without those that save next to nothing.
  std::vector<Prediction> ranked(const std::string& stage, const std::vector<NamedChange>& changes) const;

  // The best change, then the best on top of it, and once more; each row has all changes up to it.
  std::vector<Prediction> best_sequence(const std::string& stage, std::vector<NamedChange> changes, std::size_t most = 3) const;

 private:
  // A measured window, and the last work that was launched in it into each queue.
  struct StageWindow {
    const Window* window = nullptr;
    std::vector<std::uint32_t> last_works;
  };
  // The graph after changes, at one end of what they may bring, and what the stage takes then.
  struct Changed {
    ReplayGraph graph;
    Replayed replayed;
    double window_ns = 0;
    double by_chance_ns = 0;  // one standard error of what samples say
    Binding binds = Binding::kGpu;
    bool two_ends = false;
  };
  std::vector<Prediction> each_on_top(const std::string& stage, const std::vector<NamedChange>& made,
                                      const std::vector<NamedChange>& changes) const;
  Changed changed(std::uint32_t stage, const std::vector<NamedChange>& changes, End end, Prediction& prediction) const;
  static std::optional<std::pair<Ns, Ns>> part_of(const StagedTrace& staged, const PredictorOptions& options);
  static ReplayGraph graph_of(const StagedTrace& staged, const PredictorOptions& options);
  void add_windows(const ReplayGraph& graph);
  Spans window_spans(std::uint32_t stage, const ReplayGraph& graph, const Replayed& replayed) const;
  double median_window(std::uint32_t stage, const ReplayGraph& graph, const Replayed& replayed) const;
  Binding binding(std::uint32_t stage, const ReplayGraph& graph, const Replayed& replayed) const;

  // Of a stage as it is.
  struct Now {
    double measured_ns = 0, unperturbed_ns = 0, replay_error = 0;
    double least_unperturbed_ns = 0, most_unperturbed_ns = 0;  // by the range of the tracer's part; 0: it is not known
  };
  // What the tracer added to each launch, so that without it the window takes as long as this.
  double fitted_launch_ns(const UnprofiledWindow& unprofiled, const TracerPart& tracer) const;
  double reach_of(const Now& now, const Prediction& prediction, double by_chance_ns) const;

  const StagedTrace& staged_;
  ReplayGraph unperturbed_;                        // without the tracer's part
  std::vector<std::vector<StageWindow>> windows_;  // by stage, by thread and start
  std::vector<Now> now_;                           // by stage
  double interval_scale_;                          // of the logarithm of every interval
  double scale_ = 1;                               // of all times
};

}  // namespace nl::analysis
