#include <limits>

#include "analysis/verdicts/rules/fields.h"

namespace nl::analysis::rules {
namespace {

using A = StageActivity;
using B = Budget;

double ratio(double part, double whole) { return whole > 0 ? part / whole : std::numeric_limits<double>::quiet_NaN(); }

template <auto Member>
Value bin(const Subject& s) {
  const Budget* budget = s.budget();
  return budget ? Value::of(static_cast<double>(budget->*Member)) : Value::not_captured();
}

template <auto Member>
Value bin_share(const Subject& s) {
  const Budget* budget = s.budget();
  return budget ? Value::of(ratio(static_cast<double>(budget->*Member), static_cast<double>(budget->wall_ns))) : Value::not_captured();
}

template <auto Member>
Value done(const Subject& s) {
  const StageActivity* activity = s.activity();
  return activity ? Value::of(static_cast<double>(activity->*Member)) : Value::not_captured();
}

template <auto Part, auto Whole>
Value done_share(const Subject& s) {
  const StageActivity* activity = s.activity();
  return activity ? Value::of(ratio(static_cast<double>(activity->*Part), static_cast<double>(activity->*Whole))) : Value::not_captured();
}

Ns idle_ns(const Budget& b) {
  return b.queue_wait_ns + b.sync_blocked_ns + b.launch_starved_ns + b.launch_latency_ns + b.other_host_ns + b.residual_ns;
}

Value gpu_idle(const Subject& s) { return s.budget() ? Value::of(static_cast<double>(idle_ns(*s.budget()))) : Value::not_captured(); }

Value gpu_idle_share(const Subject& s) {
  const Budget* b = s.budget();
  return b ? Value::of(ratio(static_cast<double>(idle_ns(*b)), static_cast<double>(b->wall_ns))) : Value::not_captured();
}

Value gpu_paced_share(const Subject& s) { return s.budget() ? Value::of(paced_part(*s.budget())) : Value::not_captured(); }

Value launch_wait(const Subject& s) {
  return s.budget() ? Value::of(static_cast<double>(s.budget()->launch_wait_ns())) : Value::not_captured();
}

Value launch_wait_share(const Subject& s) {
  const Budget* b = s.budget();
  return b ? Value::of(ratio(static_cast<double>(b->launch_wait_ns()), static_cast<double>(b->wall_ns))) : Value::not_captured();
}

Value memcpy_time(const Subject& s) {
  const StageActivity* a = s.activity();
  return a ? Value::of(static_cast<double>(a->h2d_ns + a->d2h_ns + a->d2d_ns)) : Value::not_captured();
}

Value total_time(const Subject& s) { return Value::of(s.time_ns()); }

void add_bins(std::vector<Field>& fields) {
  const auto time = [&](std::string_view name, std::string_view help, Value (*read)(const Subject&)) {
    fields.push_back({name, kN, Unit::kTime, Capture::kCuda, Place::kBudget, help, read});
  };
  const auto share = [&](std::string_view name, std::string_view help, Value (*read)(const Subject&)) {
    fields.push_back({name, kN, Unit::kShare, Capture::kCuda, Place::kBudget, help, read});
  };
  time("gpu_compute_time", "a kernel runs that is no communication", bin<&B::gpu_compute_ns>);
  time("exposed_copy_time", "a copy or memset runs, and no kernel", bin<&B::exposed_copy_ns>);
  time("queue_wait_time", "the GPU is idle, although its next work is already launched", bin<&B::queue_wait_ns>);
  time("sync_time", "the GPU is idle, and the host waits for it inside a call", bin<&B::sync_blocked_ns>);
  time("launch_starved_time", "the GPU is idle until the host begins the next launch call", bin<&B::launch_starved_ns>);
  time("launch_latency_time", "the GPU is idle, and the launch call of its next work has begun since: driver and hardware",
       bin<&B::launch_latency_ns>);
  time("other_host_time", "the GPU is idle, and the window launches nothing more", bin<&B::other_host_ns>);
  time("residual_time", "the GPU is idle, and the launch call of its next work is not in the capture", bin<&B::residual_ns>);
  time("launch_wait_time", "`launch_starved_time` + `launch_latency_time`: launches in time would hide both", launch_wait);
  time("gpu_idle_time", "no kernel, copy or memset runs", gpu_idle);
  share("gpu_compute_share", "`gpu_compute_time` ÷ `total_time`", bin_share<&B::gpu_compute_ns>);
  share("exposed_copy_share", "`exposed_copy_time` ÷ `total_time`", bin_share<&B::exposed_copy_ns>);
  share("queue_wait_share", "`queue_wait_time` ÷ `total_time`", bin_share<&B::queue_wait_ns>);
  share("sync_share", "`sync_time` ÷ `total_time`", bin_share<&B::sync_blocked_ns>);
  share("launch_starved_share", "`launch_starved_time` ÷ `total_time`", bin_share<&B::launch_starved_ns>);
  share("launch_latency_share", "`launch_latency_time` ÷ `total_time`", bin_share<&B::launch_latency_ns>);
  share("other_host_share", "`other_host_time` ÷ `total_time`", bin_share<&B::other_host_ns>);
  share("residual_share", "`residual_time` ÷ `total_time`", bin_share<&B::residual_ns>);
  share("launch_wait_share", "`launch_wait_time` ÷ `total_time`", launch_wait_share);
  share("gpu_idle_share", "`gpu_idle_time` ÷ `total_time`", gpu_idle_share);
  share("gpu_paced_share", "of `total_time`: the GPU does not wait for the host; as far as this, faster kernels help", gpu_paced_share);
}

void add_calls(std::vector<Field>& fields) {
  const auto add = [&](std::string_view name, Unit unit, std::string_view help, Value (*read)(const Subject&)) {
    fields.push_back({name, kN, unit, Capture::kCuda, Place::kActivity, help, read});
  };
  add("launches", Unit::kCount, "calls that launch GPU work", done<&A::launches>);
  add("launch_call_time", Unit::kTime, "host time inside them", done<&A::launch_call_ns>);
  add("mean_launch_time", Unit::kTime, "of one such call", done_share<&A::launch_call_ns, &A::launches>);
  add("graph_launches", Unit::kCount, "of them, launches of CUDA graphs", done<&A::graph_launches>);
  add("graph_kernel_share", Unit::kShare, "kernels that are nodes of CUDA graphs ÷ `kernels`", done_share<&A::graph_kernels, &A::kernels>);
  add("graph_runs", Unit::kCount, "CUDA graphs captured at graph level, without their kernels", done<&A::graph_runs>);
  add("sync_calls", Unit::kCount, "calls that wait for the GPU, including blocking copies", done<&A::sync_calls>);
  add("sync_call_time", Unit::kTime, "host time inside them; the GPU may be busy", done<&A::sync_call_ns>);
  add("streams", Unit::kCount, "GPU queues with work", done<&A::streams_used>);
  fields.push_back(
      {"longest_gap", kN, Unit::kTime, Capture::kCuda, Place::kGap, "the longest time without GPU work", done<&A::longest_gap_ns>});
}

void add_kernels(std::vector<Field>& fields) {
  const auto add = [&](std::string_view name, Unit unit, std::string_view help, Value (*read)(const Subject&)) {
    fields.push_back({name, kN, unit, Capture::kCuda, Place::kActivity, help, read});
  };
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
  add("cache_copy_time", Unit::kTime, "of them, those that grow or fill a KV cache: cat, index_put …", done<&A::cache_copy_ns>);
  add("cache_copy_kernels", Unit::kCount, "number of such kernels", done<&A::cache_copy_kernels>);
  add("cache_copy_share", Unit::kShare, "`cache_copy_time` ÷ `kernel_time`", done_share<&A::cache_copy_ns, &A::kernel_sum_ns>);
  add("reduce_time", Unit::kTime, "sums, maxima, softmax, sampling, by name", done<&A::reduce_ns>);
  add("norm_time", Unit::kTime, "layer and RMS norms that are one kernel, by name", done<&A::norm_ns>);
}

void add_copies(std::vector<Field>& fields) {
  const auto add = [&](std::string_view name, Unit unit, std::string_view help, Value (*read)(const Subject&)) {
    fields.push_back({name, kN, unit, Capture::kCuda, Place::kActivity, help, read});
  };
  add("h2d_time", Unit::kTime, "copies from host to device, plain sum", done<&A::h2d_ns>);
  add("d2h_time", Unit::kTime, "copies from device to host, plain sum", done<&A::d2h_ns>);
  add("d2d_time", Unit::kTime, "copies on one device, plain sum", done<&A::d2d_ns>);
  add("memset_time", Unit::kTime, "memsets, plain sum", done<&A::memset_ns>);
  add("memcpy_time", Unit::kTime, "`h2d_time` + `d2h_time` + `d2d_time`", memcpy_time);
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
  fields.push_back({"total_time", kN, Unit::kTime, Capture::kStages, Place::kSelf,
                    "wall time: of the stage's measured windows; of the run from its first stage to its last", total_time});
  add_bins(fields);
  add_communication_fields(fields);
  add_calls(fields);
  add_kernels(fields);
  add_copies(fields);
}

}  // namespace nl::analysis::rules
