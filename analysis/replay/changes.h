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
#include "model/precision.h"
#include "model/prediction.h"

// Changes that people make to a program, each as what becomes of its replay graph. Several are made one after the other.
namespace nl::analysis {

// The launches of a stage become one, between the waits in it.
struct StageAsGraph {
  std::string stage;
};
// Calls of that name, or those that are made by a line of the program ("model.py:42"), wait for nothing.
inline constexpr const char* kEveryWait = "all";
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
// Kernels by their name, by what they do, or by the operator that launched them.
struct FasterKernels {
  enum class By : std::uint8_t { kName, kKind, kOperator };
  std::string name;   // contained in the kernel's; "gemm"; "aten::mm"
  double factor = 1;  // of their time that is left
  By by = By::kName;
};
// Kernels whose name contains this run as fast as this card does such work at best.
struct KernelsAtCeiling {
  std::string name;
  std::map<std::string, double> left = {};  // by the whole name: of its time; of kernels whose work was counted
};
struct FasterHost {
  double times = 1;  // 1.3: so many times as fast
};
// Copies from and to pageable memory.
struct PinnedCopies {};
// Copies to the GPU run beside its other work, a step ahead.
struct OverlappedCopies {};
// Elementwise kernels that follow each other become one.
struct FusedElementwise {};
// A product, a softmax and a product become one kernel, with all between them.
struct FusedAttention {};
// So many times as many sequences in each step.
struct LargerBatch {
  double times = 1;
  std::optional<double> arithmetic_share = {};  // of the GPU's time now: what the arithmetic of the model takes at the card's peak
};
// Weights of other types.
struct SmallerWeights {
  DataType to = DataType::kNone;
  std::optional<double> left = {};  // of their bytes
};
// Another card: what is left of a kernel's time, where it gains the most and where the least.
struct OtherCard {
  std::string name;
  std::optional<double> least = {}, most = {};
};
// What the tracer added to each launch.
struct WithoutTracer {
  double launch_ns = 0;
};
using Change =
    std::variant<StageAsGraph, WithoutWait, FasterFunction, AsyncFunction, FasterKernels, KernelsAtCeiling, FasterHost, PinnedCopies,
                 OverlappedCopies, FusedElementwise, FusedAttention, LargerBatch, SmallerWeights, OtherCard, WithoutTracer>;

// Of a change whose size is not known.
enum class End : std::uint8_t { kBest, kWorst };

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
  bool two_ends = false;     // the worst end differs from the best one
  bool ceiling = false;      // the best end is a bound, not what is to be expected
  std::vector<Assumption> assumptions;
  std::optional<NoPrediction> refused;  // then the graph is as before
};

ChangeEffect make_change(const Change& change, const StagedTrace& staged, ReplayGraph& graph, End end = End::kBest);

}  // namespace nl::analysis
