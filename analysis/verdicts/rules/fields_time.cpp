#include "analysis/verdicts/rules/fields.h"
#include "model/headline.h"

namespace nl::analysis::rules {
namespace {

using A = StageActivity;
using B = Budget;

template <auto Member>
constexpr Read bin = member_of<&Subject::budget, Member>;

template <auto Member>
Value bin_share(const Subject& s) {
  return s.budget() ? bin<Member>(s).over(s.budget()->wall_ns) : Value::not_captured();
}

template <auto Member>
constexpr Read done = member_of<&Subject::activity, Member>;

template <auto Part, auto Whole>
Value done_share(const Subject& s) {
  return s.activity() ? done<Part>(s).over(s.activity()->*Whole) : Value::not_captured();
}

// Other programs join tensors, too, for other reasons.
template <Read Copies>
Value of_cache(const Subject& s) {
  const Value value = Copies(s);
  return value.known && !s.totals->generates ? Value::of(0) : value;
}

Ns idle_ns(const Budget& b) { return b.sum_ns() - b.busy_ns(); }
Ns memcpy_ns(const StageActivity& a) { return a.h2d_ns + a.d2h_ns + a.d2d_ns; }

void add_bins(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kCuda, Place::kBudget);
  add("gpu_compute_time", Unit::kTime, "a kernel runs that is no communication", bin<&B::gpu_compute_ns>);
  add("exposed_copy_time", Unit::kTime, "a copy or memset runs, and no kernel", bin<&B::exposed_copy_ns>);
  add("queue_wait_time", Unit::kTime, "the GPU is idle, although its next work is already launched", bin<&B::queue_wait_ns>);
  add("sync_time", Unit::kTime, "the GPU is idle, and the host waits for it inside a call", bin<&B::sync_blocked_ns>);
  add("launch_starved_time", Unit::kTime, "the GPU is idle until the host begins the next launch call", bin<&B::launch_starved_ns>);
  add("launch_latency_time", Unit::kTime, "the GPU is idle, and the launch call of its next work has begun since: driver and hardware",
      bin<&B::launch_latency_ns>);
  add("other_host_time", Unit::kTime, "the GPU is idle, and the window launches nothing more", bin<&B::other_host_ns>);
  add("residual_time", Unit::kTime, "the GPU is idle, and the launch call of its next work is not in the capture", bin<&B::residual_ns>);
  add("launch_wait_time", Unit::kTime, "`launch_starved_time` + `launch_latency_time`: launches in time would hide both",
      bin<&B::launch_wait_ns>);
  add("gpu_idle_time", Unit::kTime, "no kernel, copy or memset runs", bin<idle_ns>);
  add("gpu_compute_share", Unit::kShare, "`gpu_compute_time` ÷ `total_time`", bin_share<&B::gpu_compute_ns>);
  add("exposed_copy_share", Unit::kShare, "`exposed_copy_time` ÷ `total_time`", bin_share<&B::exposed_copy_ns>);
  add("queue_wait_share", Unit::kShare, "`queue_wait_time` ÷ `total_time`", bin_share<&B::queue_wait_ns>);
  add("sync_share", Unit::kShare, "`sync_time` ÷ `total_time`", bin_share<&B::sync_blocked_ns>);
  add("launch_starved_share", Unit::kShare, "`launch_starved_time` ÷ `total_time`", bin_share<&B::launch_starved_ns>);
  add("launch_latency_share", Unit::kShare, "`launch_latency_time` ÷ `total_time`", bin_share<&B::launch_latency_ns>);
  add("other_host_share", Unit::kShare, "`other_host_time` ÷ `total_time`", bin_share<&B::other_host_ns>);
  add("residual_share", Unit::kShare, "`residual_time` ÷ `total_time`", bin_share<&B::residual_ns>);
  add("launch_wait_share", Unit::kShare, "`launch_wait_time` ÷ `total_time`", bin_share<&B::launch_wait_ns>);
  add("gpu_idle_share", Unit::kShare, "`gpu_idle_time` ÷ `total_time`", bin_share<idle_ns>);
  add("gpu_paced_share", Unit::kShare, "of `total_time`: the GPU does not wait for the host; as far as this, faster kernels help",
      bin<paced_part>);
}

void add_calls(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kCuda, Place::kActivity);
  add("launches", Unit::kCount, "calls that launch GPU work", done<&A::launches>);
  add("launch_call_time", Unit::kTime, "host time inside them", done<&A::launch_call_ns>);
  add("mean_launch_time", Unit::kTime, "of one such call", done_share<&A::launch_call_ns, &A::launches>);
  add("graph_launches", Unit::kCount, "of them, launches of CUDA graphs", done<&A::graph_launches>);
  add("graph_kernel_share", Unit::kShare, "kernels that are nodes of CUDA graphs ÷ `kernels`", done_share<&A::graph_kernels, &A::kernels>);
  add("graph_runs", Unit::kCount, "CUDA graphs captured at graph level, without their kernels", done<&A::graph_runs>);
  add("sync_calls", Unit::kCount, "calls that wait for the GPU, including blocking copies", done<&A::sync_calls>);
  add("sync_call_time", Unit::kTime, "host time inside them; the GPU may be busy", done<&A::sync_call_ns>);
  add("streams", Unit::kCount, "GPU queues with work", done<&A::streams_used>);
  FieldGroup(fields, Capture::kCuda, Place::kGap)("longest_gap", Unit::kTime, "the longest time without GPU work",
                                                  done<&A::longest_gap_ns>);
}

void add_kernels(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kCuda, Place::kActivity);
  add("kernels", Unit::kCount, "kernels that run", done<&A::kernels>);
  add("kernel_time", Unit::kTime, "their plain sum", done<&A::kernel_sum_ns>);
  add("mean_kernel_time", Unit::kTime, "`kernel_time` ÷ `kernels`", done_share<&A::kernel_sum_ns, &A::kernels>);
  add("small_kernels", Unit::kCount, "kernels shorter than 10 µs", done<&A::small_kernels>);
  add("small_kernel_time", Unit::kTime, "their plain sum", done<&A::small_kernel_ns>);
  add("small_kernel_share", Unit::kShare, "`small_kernels` ÷ `kernels`", done_share<&A::small_kernels, &A::kernels>);
  add("elementwise_kernels", Unit::kCount, "elementwise kernels, by name", done<&A::elementwise_kernels>);
  add("elementwise_time", Unit::kTime, "their plain sum", done<&A::elementwise_ns>);
  add("elementwise_share", Unit::kShare, "`elementwise_time` ÷ `kernel_time`", done_share<&A::elementwise_ns, &A::kernel_sum_ns>);
  add("elementwise_chain", Unit::kCount, "the longest row of them on one stream", done<&A::longest_elementwise_chain>);
  add("gemm_time", Unit::kTime, "GEMM kernels, by name", done<&A::gemm_ns>);
  add("gemm_share", Unit::kShare, "`gemm_time` ÷ `kernel_time`", done_share<&A::gemm_ns, &A::kernel_sum_ns>);
  add("gemm_kernels", Unit::kCount, "GEMM kernels", done<&A::gemm_kernels>);
  add("mean_gemm_time", Unit::kTime, "`gemm_time` ÷ `gemm_kernels`", done_share<&A::gemm_ns, &A::gemm_kernels>);
  add("attention_time", Unit::kTime, "attention kernels, by name", done<&A::attention_ns>);
  add("attention_share", Unit::kShare, "`attention_time` ÷ `kernel_time`", done_share<&A::attention_ns, &A::kernel_sum_ns>);
  add("copy_kernel_time", Unit::kTime, "kernels that copy, concatenate or fill, by name", done<&A::copy_kernel_ns>);
  add("copy_kernel_share", Unit::kShare, "`copy_kernel_time` ÷ `kernel_time`", done_share<&A::copy_kernel_ns, &A::kernel_sum_ns>);
  add("cache_copy_time", Unit::kTime, "of them, in a program that generates: those that grow or fill a KV cache (cat, index_put …)",
      of_cache<done<&A::cache_copy_ns>>);
  add("cache_copy_kernels", Unit::kCount, "number of such kernels", of_cache<done<&A::cache_copy_kernels>>);
  add("cache_copy_share", Unit::kShare, "`cache_copy_time` ÷ `kernel_time`", of_cache<done_share<&A::cache_copy_ns, &A::kernel_sum_ns>>);
  add("reduce_time", Unit::kTime, "sums, maxima, softmax, sampling, by name", done<&A::reduce_ns>);
  add("norm_time", Unit::kTime, "layer and RMS norms that are one kernel, by name", done<&A::norm_ns>);
}

void add_copies(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kCuda, Place::kActivity);
  add("h2d_time", Unit::kTime, "copies from host to device, plain sum", done<&A::h2d_ns>);
  add("d2h_time", Unit::kTime, "copies from device to host, plain sum", done<&A::d2h_ns>);
  add("d2d_time", Unit::kTime, "copies on one device, plain sum", done<&A::d2d_ns>);
  add("memset_time", Unit::kTime, "memsets, plain sum", done<&A::memset_ns>);
  add("memcpy_time", Unit::kTime, "`h2d_time` + `d2h_time` + `d2d_time`", done<memcpy_ns>);
  add("h2d_bytes", Unit::kBytes, "copied from host to device", done<&A::h2d_bytes>);
  add("d2h_bytes", Unit::kBytes, "copied from device to host", done<&A::d2h_bytes>);
  add("d2d_bytes", Unit::kBytes, "copied on one device", done<&A::d2d_bytes>);
  add("h2d_copies", Unit::kCount, "copies from host to device", done<&A::h2d_copies>);
  add("d2h_copies", Unit::kCount, "copies from device to host", done<&A::d2h_copies>);
  add("d2d_copies", Unit::kCount, "copies on one device", done<&A::d2d_copies>);
  add("memsets", Unit::kCount, "memsets", done<&A::memsets>);
  add("pageable_time", Unit::kTime, "copies from or to pageable host memory, plain sum", done<&A::pageable_ns>);
  add("pageable_copies", Unit::kCount, "copies from or to pageable host memory", done<&A::pageable_copies>);
}

}  // namespace

void add_time_fields(std::vector<Field>& fields) {
  FieldGroup(fields, Capture::kStages, Place::kSelf)(
      "total_time", Unit::kTime, "wall time: of the stage's measured windows; of the run from its first stage to its last",
      [](const Subject& s) { return Value::of(s.time_ns()); });
  add_bins(fields);
  add_communication_fields(fields);
  add_calls(fields);
  add_kernels(fields);
  add_copies(fields);
}

}  // namespace nl::analysis::rules
