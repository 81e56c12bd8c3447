#include <algorithm>

#include "exporters/fact_tables/figures.h"
#include "model/words.h"

// A row for every kernel of a run on one GPU.
namespace nl::exporters::fact_tables {
namespace {

using enum Type;

Column of_kernel(const char* name, Type type, const char* unit, const char* help, Value (*read)(const KernelEntry&)) {
  return {name, type, unit, help, [read](const Row& row) { return read(*row.kernel); }};
}

void add_names(std::vector<Column>& columns) {
  using Kernel = const KernelEntry&;
  columns.insert(columns.end(),
                 {of_kernel("name", kText, "", "demangled, with its arguments", [](Kernel kernel) { return text(kernel.name); }),
                  of_kernel("short_name", kText, "", "the function alone", [](Kernel kernel) { return text(kernel.short_name); }),
                  of_kernel("mangled_name", kText, "", "as the linker knows it", [](Kernel kernel) { return text(kernel.mangled_name); }),
                  of_kernel("kind", kText, "", "what it does, by its name: gemm, attention, elementwise and the like",
                            [](Kernel kernel) { return text(key_of(kernel.kind)); }),
                  of_kernel("gpu", kInteger, "", "number of the GPU", [](Kernel kernel) { return Value(std::int64_t{kernel.device}); })});
}

Value if_called(const KernelEntry& kernel, Value value) { return kernel.time.count > 0 ? std::move(value) : Value(); }

void add_times(std::vector<Column>& columns) {
  using Kernel = const KernelEntry&;
  columns.insert(
      columns.end(),
      {of_kernel("calls", kInteger, "", "how often it ran, warm-up included", [](Kernel kernel) { return count(kernel.time.count); }),
       of_kernel("graph_calls", kInteger, "", "of them, nodes of CUDA graphs", [](Kernel kernel) { return count(kernel.graph_calls); }),
       of_kernel("total_ns", kInteger, "ns", "of all calls", [](Kernel kernel) { return Value(kernel.time.total_ns); }),
       of_kernel("mean_ns", kReal, "ns", "of a call", [](Kernel kernel) { return if_called(kernel, kernel.time.mean_ns); }),
       of_kernel("median_ns", kReal, "ns", "of a call", [](Kernel kernel) { return if_called(kernel, kernel.time.median_ns); }),
       of_kernel("p99_ns", kInteger, "ns", "99th percentile; null: fewer than 100 calls",
                 [](Kernel kernel) { return number(kernel.time.p99()); }),
       of_kernel("shortest_ns", kInteger, "ns", "the shortest call", [](Kernel kernel) { return if_called(kernel, kernel.time.min_ns); }),
       of_kernel("longest_ns", kInteger, "ns", "the longest call", [](Kernel kernel) { return if_called(kernel, kernel.time.max_ns); }),
       of_kernel("gpu_share", kReal, "of 1", "of the time of all kernels of its GPU",
                 [](Kernel kernel) { return Value(kernel.gpu_share); }),
       of_kernel("measured_calls", kInteger, "", "calls in measured windows, warm-up left out",
                 [](Kernel kernel) { return number(kernel.measured_calls); }),
       of_kernel("measured_ns", kInteger, "ns", "of those calls", [](Kernel kernel) { return number(kernel.measured_ns); })});
}

Column of_sample(const char* name, Type type, const char* unit, const char* help, Value (*read)(const NcuSample&)) {
  return {name, type, unit, help, [read](const Row& row) { return row.sample != nullptr ? read(*row.sample) : Value(); }};
}

const MetricValues* values_of_sample(const Row& row) { return row.sample != nullptr ? &row.sample->values : nullptr; }

// Of one launch whose counters were measured.
void add_sample(std::vector<Column>& columns) {
  using Sample = const NcuSample&;
  columns.push_back(of_kernel("counted_launches", kInteger, "", "launches whose counters were measured",
                              [](const KernelEntry& kernel) { return count(kernel.ncu.size()); }));
  columns.insert(columns.end(),
                 {of_sample("counted_by", kText, "", "ncu or CUPTI; this and what follows is of one of these launches",
                            [](Sample sample) { return text(key_of(sample.measured_by)); }),
                  of_sample("counted_stage", kText, "", "innermost stage of the launch",
                            [](Sample sample) { return text(sample.stage.value_or("")); }),
                  of_sample("counted_ns", kInteger, "ns", "its duration as the counters' tool measured it",
                            [](Sample sample) { return number(sample.ncu_duration_ns); }),
                  of_sample("bound_by", kText, "", "what limits it: compute, memory or latency",
                            [](Sample sample) { return sample.bound_by ? text(key_of(*sample.bound_by)) : Value(); }),
                  of_sample("bound_memory", kText, "", "which memory limits it: l1, l2 or dram; null: memory does not",
                            [](Sample sample) { return sample.bound_memory ? text(key_of(*sample.bound_memory)) : Value(); })});
  add_counters(columns, "counted_", MetricPlace::kLaunch, values_of_sample);
}

// The launch that best says what limits the kernel.
const NcuSample* sample_of(const KernelEntry& kernel) {
  const auto bound =
      std::find_if(kernel.ncu.begin(), kernel.ncu.end(), [](const NcuSample& sample) { return sample.bound_by.has_value(); });
  if (bound != kernel.ncu.end()) return &*bound;
  return kernel.ncu.empty() ? nullptr : &kernel.ncu.front();
}

void each_kernel(const Run& run, const WorkloadIdentity& identity, const UseRow& use) {
  if (!run.kernels) return;
  std::size_t number = 0;
  for (const KernelEntry& kernel : *run.kernels)
    use({.run = run, .identity = identity, .number = number++, .kernel = &kernel, .sample = sample_of(kernel)});
}

}  // namespace

Table kernels_table() {
  std::vector<Column> columns = {
      {"run_id", kText, "", "runs.run_id", [](const Row& row) { return text(row.run.run_id); }},
      {"kernel", kInteger, "", "number in its run, as in run.json: the most time first", [](const Row& row) { return count(row.number); }}};
  add_names(columns);
  add_times(columns);
  add_sample(columns);
  return {"kernels", "a kernel of a run on one GPU, with all its launches in the capture, warm-up included", std::move(columns),
          each_kernel};
}

}  // namespace nl::exporters::fact_tables
