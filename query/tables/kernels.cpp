#include <optional>

#include "model/metrics.h"
#include "model/words.h"
#include "query/tables/run_rows.h"

// What the run's kernels took, and what was counted of them and of the stages.
namespace nl::query {
namespace {

using enum ColumnType;

struct KernelRow {
  const KernelEntry* kernel = nullptr;
  std::size_t id = 0;
};

std::vector<KernelRow> kernels_of(const Run& run) {
  std::vector<KernelRow> rows;
  if (run.kernels)
    for (const KernelEntry& kernel : *run.kernels) rows.push_back({&kernel, rows.size()});
  return rows;
}

Column kernel_column(std::string_view name, ColumnType type, std::string_view unit, std::string_view help, auto read) {
  return of_item<KernelRow>(name, type, unit, help, read);
}

struct StageRow {
  const KernelEntry* kernel = nullptr;
  std::size_t id = 0;
  const StageSplit* split = nullptr;
};

std::vector<StageRow> kernel_stages_of(const Run& run) {
  std::vector<StageRow> rows;
  for (const KernelRow& row : kernels_of(run))
    for (const StageSplit& split : row.kernel->innermost.empty() ? row.kernel->stages : row.kernel->innermost)
      rows.push_back({row.kernel, row.id, &split});
  return rows;
}

// One figure that counters gave.
struct CounterRow {
  std::string_view scope;  // "stage", "kernel"
  std::string_view subject;
  std::string_view from;  // which tool, or that it was sampled
  std::string_view metric, unit;
  double value = 0;
};

class CounterList {
 public:
  void add(std::string_view scope, std::string_view subject, std::string_view from, MetricPlace place, const MetricValues& values,
           const std::map<std::string, double>& metrics) {
    for (const MetricInfo& info : metrics_of(place))
      if (const std::optional<double>& value = values[info.metric])
        rows_.push_back({scope, subject, from, info.key, key_of(info.unit), *value});
    for (const auto& [metric, value] : metrics) rows_.push_back({scope, subject, from, metric, key_of(unit_of(metric)), value});
  }
  std::vector<CounterRow> take() { return std::move(rows_); }

 private:
  std::vector<CounterRow> rows_;
};

std::vector<CounterRow> counters_of(const Run& run) {
  CounterList list;
  for (const StageEntry& stage : run.stages) {
    if (stage.counters)
      list.add("stage", stage.name, key_of(stage.counters->measured_by), MetricPlace::kStage, stage.counters->values,
               stage.counters->metrics);
    if (stage.sampling) list.add("stage", stage.name, "samples", MetricPlace::kSampled, stage.sampling->values, stage.sampling->metrics);
  }
  if (run.kernels)
    for (const KernelEntry& kernel : *run.kernels)
      for (const NcuSample& sample : kernel.ncu)
        list.add("kernel", kernel.name, key_of(sample.measured_by), MetricPlace::kLaunch, sample.values, sample.metrics);
  return list.take();
}

}  // namespace

Table kernels_table() {
  return {
      "kernels",
      "a kernel on one GPU, with all its launches in the capture, warm-up included",
      {kernel_column("id", kInteger, "", "number of the row, as in run.json: the most time first",
                     [](const KernelRow& row) { return Value::count(row.id); }),
       kernel_column("name", kText, "", "demangled, with its arguments",
                     [](const KernelRow& row) { return Value::known(row.kernel->name); }),
       kernel_column("short_name", kText, "", "the function alone",
                     [](const KernelRow& row) { return Value::known(row.kernel->short_name); }),
       kernel_column("kind", kText, "", "what it does, by its name: gemm, attention, elementwise, …",
                     [](const KernelRow& row) { return Value::of(key_of(row.kernel->kind)); }),
       kernel_column("gpu", kInteger, "", "number of the GPU",
                     [](const KernelRow& row) { return Value::of(std::int64_t{row.kernel->device}); }),
       kernel_column("calls", kInteger, "", "how often it ran", [](const KernelRow& row) { return Value::count(row.kernel->time.count); }),
       kernel_column("graph_calls", kInteger, "", "of them, nodes of CUDA graphs",
                     [](const KernelRow& row) { return Value::count(row.kernel->graph_calls); }),
       kernel_column("total_ns", kInteger, "ns", "of all calls", [](const KernelRow& row) { return Value::of(row.kernel->time.total_ns); }),
       kernel_column("mean_ns", kReal, "ns", "of a call", [](const KernelRow& row) { return Value::of(row.kernel->time.mean_ns); }),
       kernel_column("median_ns", kReal, "ns", "of a call", [](const KernelRow& row) { return Value::of(row.kernel->time.median_ns); }),
       kernel_column("p99_ns", kInteger, "ns", "99th percentile; NULL: fewer than 100 calls",
                     [](const KernelRow& row) { return Value::known(row.kernel->time.p99()); }),
       kernel_column("min_ns", kInteger, "ns", "the shortest call",
                     [](const KernelRow& row) { return Value::of(row.kernel->time.min_ns); }),
       kernel_column("max_ns", kInteger, "ns", "the longest call", [](const KernelRow& row) { return Value::of(row.kernel->time.max_ns); }),
       kernel_column("gpu_share", kReal, "of 1", "of the time of all kernels of its GPU",
                     [](const KernelRow& row) { return Value::of(row.kernel->gpu_share); }),
       kernel_column("measured_calls", kInteger, "", "calls in measured windows, warm-up left out",
                     [](const KernelRow& row) { return Value::known(row.kernel->measured_calls); }),
       kernel_column("measured_ns", kInteger, "ns", "of those calls",
                     [](const KernelRow& row) { return Value::known(row.kernel->measured_ns); }),
       kernel_column("bound_by", kText, "", "compute, memory or latency, where its counters were measured",
                     [](const KernelRow& row) {
                       for (const NcuSample& sample : row.kernel->ncu)
                         if (sample.bound_by) return Value::of(key_of(*sample.bound_by));
                       return Value::null();
                     }),
       kernel_column("mangled_name", kText, "", "as the linker knows it; NULL: not recorded",
                     [](const KernelRow& row) { return Value::known(row.kernel->mangled_name); })},
      kRun,
      1000,
      open_items<KernelRow, kernels_of>,
      "no kernels were captured; nl-stage doctor says what works here"};
}

Table kernel_stages_table() {
  const auto each = [](std::string_view name, ColumnType type, std::string_view unit, std::string_view help, auto read) {
    return of_item<StageRow>(name, type, unit, help, read);
  };
  return {
      "kernel_stages",
      "a kernel in one stage: the innermost around its launch, decode steps counted as decode",
      {each("kernel", kInteger, "", "kernels.id", [](const StageRow& row) { return Value::count(row.id); }),
       each("name", kText, "", "of the kernel", [](const StageRow& row) { return Value::known(row.kernel->name); }),
       each("short_name", kText, "", "the function alone", [](const StageRow& row) { return Value::known(row.kernel->short_name); }),
       each("kind", kText, "", "what the kernel does, by its name",
            [](const StageRow& row) { return Value::of(key_of(row.kernel->kind)); }),
       each("gpu", kInteger, "", "number of the GPU", [](const StageRow& row) { return Value::of(std::int64_t{row.kernel->device}); }),
       each("stage", kText, "", "the stage; none: launched outside of every stage",
            [](const StageRow& row) { return Value::known(row.split->stage); }),
       each("calls", kInteger, "", "launched in it, warm-up included", [](const StageRow& row) { return Value::count(row.split->calls); }),
       each("total_ns", kInteger, "ns", "of those calls", [](const StageRow& row) { return Value::of(row.split->total_ns); })},
      kRun,
      2000,
      open_items<StageRow, kernel_stages_of>,
      "no kernels were captured, or none in a stage"};
}

Table counters_table() {
  const auto each = [](std::string_view name, ColumnType type, std::string_view unit, std::string_view help, auto read) {
    return of_item<CounterRow>(name, type, unit, help, read);
  };
  return {
      "counters",
      "a counter of a stage or of a kernel's launch, as ncu, CUPTI or samples measured it",
      {each("scope", kText, "", "stage or kernel", [](const CounterRow& row) { return Value::of(row.scope); }),
       each("subject", kText, "", "the stage, or the kernel's name", [](const CounterRow& row) { return Value::of(row.subject); }),
       each("measured_by", kText, "", "ncu, CUPTI or samples", [](const CounterRow& row) { return Value::of(row.from); }),
       each("metric", kText, "", "its key in run.json, or its name in ncu", [](const CounterRow& row) { return Value::of(row.metric); }),
       each("unit", kText, "", "of the value; NULL: none", [](const CounterRow& row) { return Value::known(row.unit); }),
       each("value", kReal, "", "what was measured, in that unit", [](const CounterRow& row) { return Value::of(row.value); })},
      kRun,
      1000,
      open_items<CounterRow, counters_of>,
      "no counters were measured; nl-stage run --config deep measures them"};
}

}  // namespace nl::query
