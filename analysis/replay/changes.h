#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/replay/replay_graph.h"
#include "analysis/staging/staged_trace.h"
#include "model/prediction.h"

// Changes that people make to a program, each as what becomes of its replay graph. Several are made one after the other.
namespace nl::analysis {

// The launches of a stage become one, between the waits in it.
struct StageAsGraph {
  std::string stage;
};
// Calls of that name, or those that are made by a line of the program ("model.py:42"), wait for nothing.
struct WithoutWait {
  std::string where;
};
// The time in a function of the program, by the samples of its stacks.
struct FasterFunction {
  std::string name;
  double factor = 0;  // of its time that is left
};
// The function runs on another thread: its caller goes on at once, but for the next call waits until the one before has ended.
struct AsyncFunction {
  std::string name;
};
// Kernels whose name contains this.
struct FasterKernels {
  std::string name;
  double factor = 1;  // of their time that is left
};
struct FasterHost {
  double times = 1;  // 1.3: so many times as fast
};
// Copies from and to pageable memory.
struct PinnedCopies {};
// Elementwise kernels that follow each other become one.
struct FusedElementwise {};
// What the tracer added to each launch.
struct WithoutTracer {
  double launch_ns = 0;
};
using Change = std::variant<StageAsGraph, WithoutWait, FasterFunction, AsyncFunction, FasterKernels, FasterHost, PinnedCopies,
                            FusedElementwise, WithoutTracer>;

// What became of a change.
struct ChangeEffect {
  std::size_t touched = 0;  // calls or works
  // Of code that is known by samples of the stacks, by stage: how much of all its measured windows goes, and how many samples say so.
  struct Sampled {
    Ns time_ns = 0;
    std::size_t samples = 0;
  };
  std::map<std::uint32_t, Sampled> sampled;
  bool runs_beside = false;  // what was sampled still runs, on another thread
  std::vector<Assumption> assumptions;
  std::optional<NoPrediction> refused;  // then the graph is as before
};

ChangeEffect make_change(const Change& change, const StagedTrace& staged, ReplayGraph& graph);

}  // namespace nl::analysis
