#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/replay/changes.h"
#include "analysis/replay/replay_graph.h"
#include "analysis/staging/staged_trace.h"
#include "model/prediction.h"

// What the windows of a stage would take after changes.
namespace nl::analysis {

// A change as people write it.
struct NamedChange {
  std::string text;  // "--graph decode_step"
  Change change;
};

// What the tracer adds to a launch, as far as it is known.
struct TracerPart {
  double low_ns = 0, high_ns = 0;
};

class Predictor {
 public:
  Predictor(const StagedTrace& staged, const TracerPart& tracer);

  // How far the replay of what was measured is off, as a share of the windows of the stage: what the trace does not explain.
  double replay_error(const std::string& stage) const;

  // One change after the other, in one replay.
  Prediction predict(const std::string& stage, const std::vector<NamedChange>& changes) const;

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
  void add_windows(const ReplayGraph& graph);
  double median_window(const std::string& stage, const ReplayGraph& graph, const Replayed& replayed) const;
  Binding binding(const std::string& stage, const ReplayGraph& graph, const Replayed& replayed) const;

  // Of a stage as it is.
  struct Now {
    double measured_ns = 0, unperturbed_ns = 0, replay_error = 0;
    double least_unperturbed_ns = 0, most_unperturbed_ns = 0;  // by the range of the tracer's part; 0: it is not known
  };
  static double reach_of(const Now& now, const Prediction& prediction, double by_chance_ns);

  const StagedTrace& staged_;
  ReplayGraph unperturbed_;                        // without the tracer's part
  std::vector<std::vector<StageWindow>> windows_;  // by stage, by thread and start
  std::vector<Now> now_;                           // by stage
};

}  // namespace nl::analysis
