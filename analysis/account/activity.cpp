#include "analysis/account/activity.h"

#include <algorithm>
#include <limits>

#include "analysis/trace/api_kind.h"

namespace nl::analysis {
namespace {

constexpr Ns kSmallKernelNs = 10'000;
constexpr std::uint8_t kPageable = 1;  // as CUPTI numbers memory kinds

void add_class(StageActivity& a, KernelClass kind, Ns duration_ns) {
  const auto add = [&](Ns& time_ns, std::uint64_t& kernels) {
    time_ns += duration_ns;
    ++kernels;
  };
  switch (kind) {
    case KernelClass::kGemm: add(a.gemm_ns, a.gemm_kernels); break;
    case KernelClass::kAttention: add(a.attention_ns, a.attention_kernels); break;
    case KernelClass::kElementwise: add(a.elementwise_ns, a.elementwise_kernels); break;
    case KernelClass::kReduce: add(a.reduce_ns, a.reduce_kernels); break;
    case KernelClass::kNorm: add(a.norm_ns, a.norm_kernels); break;
    case KernelClass::kCacheCopy: add(a.cache_copy_ns, a.cache_copy_kernels); [[fallthrough]];
    case KernelClass::kCopy: add(a.copy_kernel_ns, a.copy_kernels); break;
    case KernelClass::kCommunication: add(a.communication_kernel_ns, a.communication_kernels); break;
    case KernelClass::kOther: break;
  }
}

void add_copy(StageActivity& a, const MemOp& op) {
  const Ns duration_ns = std::max<Ns>(0, op.end_ns - op.start_ns);
  const auto add = [&](Ns& time_ns, std::uint64_t& bytes, std::uint64_t& copies) {
    time_ns += duration_ns;
    bytes += op.bytes;
    ++copies;
  };
  switch (op.kind) {
    case MemOpKind::kHostToDevice: add(a.h2d_ns, a.h2d_bytes, a.h2d_copies); break;
    case MemOpKind::kDeviceToHost: add(a.d2h_ns, a.d2h_bytes, a.d2h_copies); break;
    case MemOpKind::kPeerToPeer: add(a.peer_ns, a.peer_bytes, a.peer_copies); break;
    case MemOpKind::kDeviceToDevice: add(a.d2d_ns, a.d2d_bytes, a.d2d_copies); break;
    case MemOpKind::kMemset:
      a.memset_ns += duration_ns;
      ++a.memsets;
      break;
    case MemOpKind::kHostToHost:
    case MemOpKind::kOther: break;
  }
  const bool pageable = (op.kind == MemOpKind::kHostToDevice && op.src_kind == kPageable) ||
                        (op.kind == MemOpKind::kDeviceToHost && op.dst_kind == kPageable);
  if (!pageable) return;
  a.pageable_ns += duration_ns;
  ++a.pageable_copies;
}

}  // namespace

void OpenStages::add(const Window& window) {
  if (window.warmup || window.wall_ns() == 0) return;
  starts_.push_back({window.start_ns, window.stage});
  ends_.push_back({window.end_ns, window.stage});
  if (window.stage >= depth_.size()) depth_.resize(window.stage + 1, 0);
}

void OpenStages::sort() {
  const auto earlier = [](const Edge& a, const Edge& b) { return a.time_ns < b.time_ns; };
  std::stable_sort(starts_.begin(), starts_.end(), earlier);
  std::stable_sort(ends_.begin(), ends_.end(), earlier);
  opened_.resize(depth_.size(), 0);
}

void OpenStages::open(std::uint32_t stage) {
  if (depth_[stage]++ > 0) return;
  ++opened_[stage];
  open_.push_back(stage);
}

void OpenStages::close(std::uint32_t stage) {
  if (--depth_[stage] == 0) std::erase(open_, stage);
}

const std::vector<std::uint32_t>& OpenStages::at(Ns time_ns) {
  constexpr Ns kNever = std::numeric_limits<Ns>::max();
  for (;;) {
    const Ns start = next_start_ < starts_.size() ? starts_[next_start_].time_ns : kNever;
    const Ns end = next_end_ < ends_.size() ? ends_[next_end_].time_ns : kNever;
    if (std::min(start, end) > time_ns || std::min(start, end) == kNever) return open_;
    if (end <= start) close(ends_[next_end_++].stage);
    else open(starts_[next_start_++].stage);
  }
}

ActivitySweep::ActivitySweep(const Trace& trace, const std::vector<Window>& windows, std::uint32_t stages, std::vector<bool> staged)
    : trace_(trace), windows_(windows), staged_(std::move(staged)), processes_(process_slots(trace)), stages_(stages) {
  for (const Window& window : windows) processes_[window.process].add(window);
  for (OpenStages& process : processes_) process.sort();
  for (const KernelShape& shape : trace.shapes) {
    const std::string& name = trace.strings[shape.name];
    kind_of_shape_.push_back({classify_kernel(name), negates(name), concatenates(name)});
  }
}

KernelClass ActivitySweep::kind_of(const Kernel& kernel, std::uint32_t queue) {
  const ShapeKind shape = kernel.shape < kind_of_shape_.size() ? kind_of_shape_[kernel.shape] : ShapeKind{};
  if (queue >= after_negation_.size()) after_negation_.resize(queue + 1, false);
  const bool rotary = shape.concatenates && after_negation_[queue];
  after_negation_[queue] = shape.negates;
  return rotary ? KernelClass::kCopy : shape.kind;
}

void ActivitySweep::use_queue(StageState& stage, std::uint32_t queue) {
  if (queue >= stage.queues.size()) stage.queues.resize(queue + 1, false);
  if (stage.queues[queue]) return;
  stage.queues[queue] = true;
  ++stage.activity.streams_used;
}

void ActivitySweep::lengthen(StageState& stage, std::uint32_t queue, std::uint32_t opened, bool elementwise) {
  if (queue >= stage.chains.size()) stage.chains.resize(queue + 1);
  Chain& chain = stage.chains[queue];
  if (chain.opened != opened || !elementwise) chain = {opened, 0};
  if (!elementwise) return;
  ++chain.length;
  stage.activity.longest_elementwise_chain = std::max<std::uint64_t>(stage.activity.longest_elementwise_chain, chain.length);
}

void ActivitySweep::add(const Kernel& kernel, std::uint32_t process) {
  const auto duration_ns = static_cast<Ns>(kernel.duration_ns);
  const auto queue = static_cast<std::uint32_t>(kernel.queue);
  const KernelClass kind = kind_of(kernel, queue);
  for (const std::uint32_t number : processes_[process].at(kernel.start_ns)) {
    StageState& stage = stages_[number];
    StageActivity& a = stage.activity;
    ++a.kernels;
    a.graph_kernels += kernel.in_graph;
    a.kernel_sum_ns += duration_ns;
    if (duration_ns < kSmallKernelNs) {
      ++a.small_kernels;
      a.small_kernel_ns += duration_ns;
    }
    add_class(a, kind, duration_ns);
    lengthen(stage, queue, processes_[process].opened(number), kind == KernelClass::kElementwise);
    use_queue(stage, queue);
  }
}

void ActivitySweep::add(const MemOp& op, std::uint32_t process) {
  for (const std::uint32_t number : processes_[process].at(op.start_ns)) {
    add_copy(stages_[number].activity, op);
    if (op.queue >= trace_.queues.size()) continue;
    lengthen(stages_[number], op.queue, processes_[process].opened(number), false);
    use_queue(stages_[number], op.queue);
  }
}

void ActivitySweep::add(const GraphRun& run, std::uint32_t process) {
  for (const std::uint32_t number : processes_[process].at(run.start_ns)) {
    ++stages_[number].activity.graph_runs;
    if (run.queue < trace_.queues.size()) use_queue(stages_[number], run.queue);
  }
}

void ActivitySweep::add_calls() {
  const CallsByThread calls(trace_);
  ApiKinds kinds(trace_);
  std::vector<OpenStages> threads(calls.threads());
  for (const Window& window : windows_) {
    if (window.thread >= threads.size()) continue;
    threads[window.thread].add(window);
  }
  // A thread without stages of its own works for those of its process.
  std::vector<OpenStages> processes(process_slots(trace_));
  for (const Window& window : windows_) processes[window.process].add(window);
  for (OpenStages& process : processes) process.sort();
  for (std::uint32_t thread = 0; thread < threads.size(); ++thread) {
    if (calls.first(thread) == calls.last(thread)) continue;
    const bool staged = thread < staged_.size() && staged_[thread];
    if (staged) threads[thread].sort();
    else threads[thread] = processes[process_slot_of_thread(trace_, thread)];
    for (std::size_t i = calls.first(thread); i < calls.last(thread); ++i) {
      const ApiCall& call = calls[i];
      const CudaCall& kind = kinds.of(call);
      for (const std::uint32_t stage : threads[thread].at(call.start_ns)) {
        StageActivity& a = stages_[stage].activity;
        a.launches += kind.launches;
        a.graph_launches += kind.graph;
        if (kind.waits && staged) ++a.sync_calls, a.sync_call_ns += static_cast<Ns>(call.duration_ns);
        if (kind.launches) a.launch_call_ns += static_cast<Ns>(call.duration_ns);
      }
    }
  }
}

std::vector<StageActivity> ActivitySweep::finish() {
  add_calls();
  std::vector<StageActivity> result;
  for (const StageState& stage : stages_) result.push_back(stage.activity);
  return result;
}

}  // namespace nl::analysis
