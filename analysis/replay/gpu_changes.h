#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/replay/changes.h"
#include "analysis/replay/replay_graph.h"
#include "model/trace.h"

// Changes of what runs on the GPU: kernels, copies, the batch, the card.
namespace nl::analysis {

inline Ns scaled(Ns time, double factor) { return static_cast<Ns>(static_cast<double>(time) * factor); }

inline ChangeEffect refused_change(NoPrediction why) {
  ChangeEffect effect;
  effect.refused = why;
  return effect;
}

class GpuChanges {
 public:
  GpuChanges(const Trace& trace, ReplayGraph& graph, End end) : trace_(trace), graph_(graph), end_(end) {}

  ChangeEffect operator()(const FasterKernels& change);
  ChangeEffect operator()(const KernelsAtCeiling& change);
  ChangeEffect operator()(const PinnedCopies&);
  ChangeEffect operator()(const OverlappedCopies&);
  ChangeEffect operator()(const FusedElementwise&);
  ChangeEffect operator()(const FusedAttention&);
  ChangeEffect operator()(const LargerBatch& change);
  ChangeEffect operator()(const SmallerWeights& change);
  ChangeEffect operator()(const OtherCard& change);

 private:
  ChangeEffect done(std::vector<Assumption> assumptions) const;
  ChangeEffect bound(std::vector<Assumption> assumptions) const;
  std::vector<bool> kernels_of_operator(const std::string& name) const;
  std::vector<KernelClass> classes() const;
  double batch_factor(const LargerBatch& change, const Kernel& kernel, KernelClass kind) const;
  double pinned_rate(MemOpKind kind) const;
  void only_queue(const ReplayWork& copy);
  void fuse_into(ReplayWork& head, ReplayWork& work);

  template <class Wanted>
  std::vector<bool> shapes_with(Wanted wanted) const {
    std::vector<bool> shapes(trace_.shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) shapes[i] = wanted(trace_.strings[trace_.shapes[i].name]);
    return shapes;
  }
  bool is_kernel_of(const std::vector<bool>& shapes, const ReplayWork& work) const {
    if (work.kind != ReplayWorkKind::kKernel) return false;
    const std::uint32_t shape = trace_.kernels[work.row].shape;
    return shape < shapes.size() && shapes[shape];
  }

  const Trace& trace_;
  ReplayGraph& graph_;
  End end_;
  std::size_t touched_ = 0;
};

}  // namespace nl::analysis
