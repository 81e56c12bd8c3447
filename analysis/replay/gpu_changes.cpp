#include "analysis/replay/gpu_changes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/trace/kernel_class.h"
#include "analysis/trace/operator_names.h"
#include "analysis/trace/range_index.h"
#include "analysis/trace/work_origin.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

constexpr Ns kPinnedCall = 6'000;            // of a copy that only has to be queued
constexpr double kPinnedRate = 50;           // bytes a nanosecond over PCIe 5 with 16 lanes
constexpr std::uint8_t kPageableMemory = 1;  // as CUPTI numbers kinds of memory
constexpr double kEmptyKernelNs = 2'000;     // what a kernel takes that does nothing
constexpr double kReachedPeak = 0.5;         // of the arithmetic that a data sheet promises: a usual product reaches as much

bool crosses_bus(MemOpKind kind) { return kind == MemOpKind::kHostToDevice || kind == MemOpKind::kDeviceToHost; }

}  // namespace

ChangeEffect GpuChanges::done(std::vector<Assumption> assumptions) const {
  if (touched_ == 0) return refused_change(NoPrediction::kNothingToChange);
  ChangeEffect effect;
  effect.touched = touched_;
  effect.assumptions = std::move(assumptions);
  return effect;
}

ChangeEffect GpuChanges::bound(std::vector<Assumption> assumptions) const {
  ChangeEffect effect = done(std::move(assumptions));
  effect.ceiling = effect.two_ends = true;
  return effect;
}

ChangeEffect GpuChanges::operator()(const FasterKernels& change) {
  const bool by_operator = change.by == FasterKernels::By::kOperator;
  const std::vector<bool> of_operator = by_operator ? kernels_of_operator(change.name) : std::vector<bool>{};
  const auto kind = from_key<KernelClass>(change.name);
  const std::vector<bool> named = shapes_with([&](const std::string& name) {
    return change.by == FasterKernels::By::kKind ? kind && classify_kernel(name) == *kind : name.find(change.name) != std::string::npos;
  });
  for (ReplayWork& work : graph_.works) {
    const bool wanted = by_operator ? work.kind == ReplayWorkKind::kKernel && of_operator[work.row] : is_kernel_of(named, work);
    if (!wanted) continue;
    work.duration_ns = scaled(work.duration_ns, change.factor);
    ++touched_;
  }
  return done({Assumption::kKernelsScaleAlike});
}

// By kernel: whether a range of that operator is around its launch, whichever operators it calls itself.
std::vector<bool> GpuChanges::kernels_of_operator(const std::string& name) const {
  const RangeIndex ranges(trace_);
  std::vector<bool> wanted(trace_.kernels.size());
  std::vector<std::uint32_t> around;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const WorkOrigin origin = origin_of_kernel(trace_, i);
    if (origin.thread == kNone) continue;
    around.clear();
    ranges.enclosing(origin.thread, origin.start_ns, origin.end_ns, around);
    wanted[i] = std::any_of(around.begin(), around.end(), [&](std::uint32_t range) {
      const std::string& text = trace_.strings[trace_.ranges[range].name];
      return text == name || split_operator_name(text).name == name || split_layer_name(text).name == name;
    });
  }
  return wanted;
}

ChangeEffect GpuChanges::operator()(const KernelsAtCeiling& change) {
  if (change.left.empty()) return refused_change(NoPrediction::kNoCeiling);
  for (ReplayWork& work : graph_.works) {
    if (work.kind != ReplayWorkKind::kKernel || trace_.kernels[work.row].shape >= trace_.shapes.size()) continue;
    const auto left = change.left.find(trace_.strings[trace_.shapes[trace_.kernels[work.row].shape].name]);
    if (left == change.left.end()) continue;
    if (end_ == End::kBest) work.duration_ns = scaled(work.duration_ns, std::min(1.0, left->second));
    ++touched_;
  }
  return bound({Assumption::kMeasuredCeiling});
}

// A copy to the GPU is neither staged nor waited for then; the host reads what a copy from it brings.
void GpuChanges::only_queue(const ReplayWork& copy) {
  if (trace_.mem_ops[copy.row].kind != MemOpKind::kHostToDevice || copy.call == kNone) return;
  ReplayCall& call = graph_.calls[copy.call];
  call.waits = 0;
  call.own_ns = std::min(call.own_ns, kPinnedCall);
}

ChangeEffect GpuChanges::operator()(const PinnedCopies&) {
  const double to_gpu = pinned_rate(MemOpKind::kHostToDevice), from_gpu = pinned_rate(MemOpKind::kDeviceToHost);
  for (ReplayWork& work : graph_.works) {
    if (work.kind != ReplayWorkKind::kCopy) continue;
    const MemOp& op = trace_.mem_ops[work.row];
    if (op.src_kind != kPageableMemory && op.dst_kind != kPageableMemory) continue;
    const double rate = op.kind == MemOpKind::kDeviceToHost ? from_gpu : to_gpu;
    work.duration_ns = std::min(work.duration_ns, static_cast<Ns>(static_cast<double>(op.bytes) / rate) + graph_.usual.gap_ns);
    only_queue(work);
    ++touched_;
  }
  return done({Assumption::kPinnedRate});
}

// Of the pinned copies of this trace that are large enough to show it, else of the bus.
double GpuChanges::pinned_rate(MemOpKind kind) const {
  constexpr std::uint64_t kLarge = 1 << 20;
  double bytes = 0, time = 0;
  for (const MemOp& op : trace_.mem_ops)
    if (op.kind == kind && op.bytes >= kLarge && op.src_kind != kPageableMemory && op.dst_kind != kPageableMemory) {
      bytes += static_cast<double>(op.bytes);
      time += static_cast<double>(op.end_ns - op.start_ns);
    }
  return time > 0 ? bytes / time : kPinnedRate;
}

// They follow each other in a queue of their own. What followed some of them follows what was before them, and needs those of the step before.
ChangeEffect GpuChanges::operator()(const OverlappedCopies&) {
  constexpr Ns kEventGap = 1'000;                                         // until a queue goes on that waited for another one
  std::vector<std::uint32_t> last_copy(trace_.queues.size() + 1, kNone);  // by queue
  std::vector<std::uint32_t> was_before(graph_.works.size(), kNone);      // of the copies
  std::vector<bool> moved(graph_.works.size());
  for (std::uint32_t i = 0; i < graph_.works.size(); ++i) {
    ReplayWork& work = graph_.works[i];
    std::uint32_t needed = kNone;
    while (work.before != kNone && moved[work.before]) {
      needed = graph_.works[work.before].before;
      work.before = was_before[work.before];
    }
    if (work.kind == ReplayWorkKind::kCopy && trace_.mem_ops[work.row].kind == MemOpKind::kHostToDevice) {
      only_queue(work);
      moved[i] = true;
      was_before[i] = std::exchange(work.before, std::exchange(last_copy[work.queue], i));
      ++touched_;
    } else if (needed != kNone && work.other == kNone) {
      work.other = needed;
      work.other_gap_ns = kEventGap;
    }
  }
  return done({Assumption::kCopiesOverlap});
}

ChangeEffect GpuChanges::operator()(const FusedElementwise&) {
  const std::vector<bool> elementwise =
      shapes_with([](const std::string& name) { return classify_kernel(name) == KernelClass::kElementwise; });
  std::vector<std::uint32_t> head(graph_.works.size(), kNone);  // of the chain that a work is in
  for (std::uint32_t i = 0; i < graph_.works.size(); ++i) {
    ReplayWork& work = graph_.works[i];
    if (!is_kernel_of(elementwise, work) || work.call == kNone || work.collective != kNone) continue;
    const std::uint32_t before = work.before;
    const bool follows = before != kNone && head[before] != kNone && graph_.calls[work.call].previous == graph_.works[before].call &&
                         graph_.calls[work.call].waits == 0;
    head[i] = follows ? head[before] : i;
    if (!follows) continue;
    ReplayWork& first = graph_.works[head[i]];
    first.duration_ns = std::max(first.duration_ns, work.duration_ns);
    fuse_into(first, work);
  }
  return done({Assumption::kFusedAsLongest});
}

// A softmax with a product before and one after it, a few small kernels apart (scale, mask, casts, dropout): the scores are no longer written and read.
ChangeEffect GpuChanges::operator()(const FusedAttention&) {
  constexpr int kMostBetween = 6;
  constexpr double kProductsWithoutScores = 0.25;  // of the two products, where writing and reading the scores is most of their time
  const std::vector<KernelClass> kinds = classes();
  const std::vector<bool> softmax = shapes_with([](const std::string& name) { return is_softmax(name); });
  const auto kind_of = [&](const ReplayWork& work) {
    return work.kind == ReplayWorkKind::kKernel && work.call != kNone ? kinds[trace_.kernels[work.row].shape] : KernelClass::kOther;
  };
  const auto between = [&](const ReplayWork& work) {
    const KernelClass kind = kind_of(work);
    return kind == KernelClass::kElementwise || kind == KernelClass::kCopy || is_kernel_of(softmax, work);
  };
  std::vector<std::uint32_t> next(graph_.works.size(), kNone);
  for (std::uint32_t i = 0; i < graph_.works.size(); ++i)
    if (graph_.works[i].before != kNone) next[graph_.works[i].before] = i;
  for (std::uint32_t i = 0; i < graph_.works.size(); ++i) {
    if (!is_kernel_of(softmax, graph_.works[i])) continue;
    std::uint32_t first = graph_.works[i].before, last = next[i];
    for (int n = 0; n < kMostBetween && first != kNone && between(graph_.works[first]); ++n) first = graph_.works[first].before;
    for (int n = 0; n < kMostBetween && last != kNone && between(graph_.works[last]); ++n) last = next[last];
    if (first == kNone || last == kNone || kind_of(graph_.works[first]) != KernelClass::kGemm ||
        kind_of(graph_.works[last]) != KernelClass::kGemm)
      continue;
    ReplayWork& head = graph_.works[first];
    head.duration_ns += graph_.works[last].duration_ns;
    if (end_ == End::kBest) head.duration_ns = scaled(head.duration_ns, kProductsWithoutScores);
    for (std::uint32_t part = next[first];; part = next[part]) {
      fuse_into(head, graph_.works[part]);
      if (part == last) break;
    }
  }
  ChangeEffect effect = done({Assumption::kAttentionInOne});
  effect.two_ends = true;
  return effect;
}

void GpuChanges::fuse_into(ReplayWork& head, ReplayWork& work) {
  work.duration_ns = work.gap_ns = work.latency_ns = work.delay_ns = 0;
  if (work.call != head.call) {
    ReplayCall& call = graph_.calls[work.call];
    call.own_ns = call.code_ns = 0;
  }
  ++touched_;
}

std::vector<KernelClass> GpuChanges::classes() const {
  std::vector<KernelClass> kinds;
  for (const KernelShape& shape : trace_.shapes) kinds.push_back(classify_kernel(trace_.strings[shape.name]));
  return kinds;
}

// How many times as long a kernel takes with so many times the sequences.
double GpuChanges::batch_factor(const LargerBatch& change, const Kernel& kernel, KernelClass kind) const {
  const double times = change.times, duration = static_cast<double>(std::max<std::uint64_t>(1, kernel.duration_ns));
  if (kind == KernelClass::kGemm) {
    // The weights are read once for all sequences: it takes longer only where the arithmetic does.
    if (!change.arithmetic_share) return end_ == End::kBest ? 1 : times;
    const double arithmetic = times * *change.arithmetic_share;
    return std::clamp(end_ == End::kBest ? arithmetic : arithmetic / kReachedPeak, 1.0, std::max(1.0, times));
  }
  if (end_ == End::kWorst) return 1 + (times - 1) * std::max(0.0, 1 - kEmptyKernelNs / duration);
  // At best the blocks more find room beside those there are.
  const KernelShape& shape = trace_.shapes[kernel.shape];
  const double blocks = static_cast<double>(shape.grid.x) * shape.grid.y * shape.grid.z;
  const double threads = std::max(1.0, static_cast<double>(shape.block.x) * shape.block.y * shape.block.z);
  const std::int32_t device = kernel.queue < trace_.queues.size() ? trace_.queues[kernel.queue].device : 0;
  const auto gpu = std::find_if(trace_.devices.begin(), trace_.devices.end(), [&](const Device& each) { return each.id == device; });
  if (gpu == trace_.devices.end() || gpu->sm_count == 0) return 1;
  constexpr double kThreadsOfSm = 2048, kBlocksOfSm = 32;
  const double room = gpu->sm_count * std::clamp(std::floor(kThreadsOfSm / threads), 1.0, kBlocksOfSm);
  return std::ceil(blocks * times / room) / std::ceil(blocks / room);
}

ChangeEffect GpuChanges::operator()(const LargerBatch& change) {
  const std::vector<KernelClass> kinds = classes();
  for (ReplayWork& work : graph_.works) {
    double factor = end_ == End::kBest ? 1 : change.times;
    if (work.kind == ReplayWorkKind::kKernel) {
      const Kernel& kernel = trace_.kernels[work.row];
      if (kernel.shape < kinds.size()) factor = batch_factor(change, kernel, kinds[kernel.shape]);
    }
    work.duration_ns = scaled(work.duration_ns, factor);
    ++touched_;
  }
  ChangeEffect effect = done({Assumption::kBatchByRoofline, Assumption::kHostKeepsPace});
  effect.two_ends = true;
  return effect;
}

ChangeEffect GpuChanges::operator()(const SmallerWeights& change) {
  if (!change.left) return refused_change(NoPrediction::kUnknownWeights);
  const std::vector<KernelClass> kinds = classes();
  for (ReplayWork& work : graph_.works) {
    if (work.kind != ReplayWorkKind::kKernel || trace_.kernels[work.row].shape >= kinds.size()) continue;
    if (kinds[trace_.kernels[work.row].shape] != KernelClass::kGemm) continue;
    if (end_ == End::kBest) work.duration_ns = scaled(work.duration_ns, *change.left);
    ++touched_;
  }
  return bound({Assumption::kWeightsAreRead});
}

ChangeEffect GpuChanges::operator()(const OtherCard& change) {
  if (!change.least || !change.most) return refused_change(NoPrediction::kUnknownCard);
  for (ReplayWork& work : graph_.works) {
    if (work.kind == ReplayWorkKind::kCopy && crosses_bus(trace_.mem_ops[work.row].kind)) continue;
    work.duration_ns = scaled(work.duration_ns, end_ == End::kBest ? *change.least : *change.most);
    ++touched_;
  }
  return bound({Assumption::kScalesWithPeaks});
}

}  // namespace nl::analysis
