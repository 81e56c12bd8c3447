#include "exporters/fact_tables/figures.h"
#include "model/words.h"

// A row for every stage of a run.
namespace nl::exporters::fact_tables {
namespace {

using enum Type;

Column of_stage(const char* name, Type type, const char* unit, const char* help, Value (*read)(const StageEntry&)) {
  return {name, type, unit, help, [read](const Row& row) { return read(*row.stage); }};
}

void add_windows(std::vector<Column>& columns) {
  using Stage = const StageEntry&;
  columns.insert(
      columns.end(),
      {of_stage("stage", kText, "", "its name: prefill, decode_step", [](Stage stage) { return text(stage.name); }),
       of_stage("source", kText, "", "where its windows come from: marked, engine, inferred",
                [](Stage stage) { return text(key_of(stage.source)); }),
       of_stage("confidence", kReal, "of 1", "that its windows are where the stage is; 1: they are marked",
                [](Stage stage) { return Value(stage.confidence); }),
       of_stage("windows", kInteger, "", "measured windows, warm-up left out", [](Stage stage) { return count(stage.wall.count); }),
       of_stage("warmup_windows", kInteger, "", "windows that are warm-up", [](Stage stage) { return count(stage.warmup_windows); }),
       of_stage("throttled_windows", kInteger, "", "of the measured windows: the GPU was slowed against its will",
                [](Stage stage) { return count(stage.series.throttled); }),
       of_stage("wall_ns", kInteger, "ns", "of the measured windows together", [](Stage stage) { return Value(stage.wall.total_ns); }),
       of_stage("warmup_wall_ns", kInteger, "ns", "of the windows that are warm-up",
                [](Stage stage) { return Value(stage.warmup_wall_ns); }),
       of_stage("shortest_ns", kInteger, "ns", "the shortest measured window",
                [](Stage stage) { return stage.wall.count > 0 ? Value(stage.wall.min_ns) : Value(); }),
       of_stage("longest_ns", kInteger, "ns", "the longest measured window",
                [](Stage stage) { return stage.wall.count > 0 ? Value(stage.wall.max_ns) : Value(); }),
       of_stage("stddev_ns", kReal, "ns", "standard deviation of the measured windows; null: there are fewer than two",
                [](Stage stage) { return stage.wall.count > 1 ? Value(stage.wall.stddev_ns) : Value(); }),
       of_stage("tokens_per_window", kReal, "tokens", "tokens of a window", [](Stage stage) { return number(stage.tokens_per_window); }),
       of_stage("gpus", kInteger, "", "GPUs that the processes of its windows use",
                [](Stage stage) { return positive(stage.devices.size()); }),
       of_stage("gpu_busy_ns", kInteger, "ns", "a GPU does what the measured windows launched; of several the mean",
                [](Stage stage) { return number(stage.gpu_busy_ns); }),
       of_stage("gpu_sum_ns", kInteger, "ns", "plain sum of what they launched", [](Stage stage) { return number(stage.gpu_sum_ns); }),
       of_stage("kernel_calls", kInteger, "", "kernels that they launched", [](Stage stage) { return number(stage.kernel_calls); })});
}

Column of_budget(const char* name, const char* help, Ns Budget::* bin) {
  return {name, kInteger, "ns", help, [bin](const Row& row) { return row.stage->budget ? Value((*row.stage->budget).*bin) : Value(); }};
}

// Each nanosecond of the measured windows is in one of them.
void add_budget(std::vector<Column>& columns) {
  columns.insert(
      columns.end(),
      {of_budget("budget_wall_ns", "the measured windows as one GPU sees them: the sum of the nine that follow", &Budget::wall_ns),
       of_budget("budget_gpu_compute_ns", "a kernel runs that does not communicate", &Budget::gpu_compute_ns),
       of_budget("budget_communication_ns", "only communication with other GPUs runs", &Budget::communication_ns),
       of_budget("budget_exposed_copy_ns", "only a copy or set runs", &Budget::exposed_copy_ns),
       of_budget("budget_queue_wait_ns", "idle, although the next work is launched", &Budget::queue_wait_ns),
       of_budget("budget_sync_blocked_ns", "idle, the host waits for the GPU", &Budget::sync_blocked_ns),
       of_budget("budget_launch_starved_ns", "idle, the launching call has not begun", &Budget::launch_starved_ns),
       of_budget("budget_launch_latency_ns", "idle, the launching call has begun", &Budget::launch_latency_ns),
       of_budget("budget_other_host_ns", "idle, the window launches nothing more", &Budget::other_host_ns),
       of_budget("budget_residual_ns", "idle before work whose launch is not in the capture", &Budget::residual_ns)});
}

template <class Number>
Column of_activity(const char* name, const char* unit, const char* help, Number StageActivity::* part) {
  return {name, kInteger, unit, help, [part](const Row& row) {
            return row.stage->activity ? Value(static_cast<std::int64_t>((*row.stage->activity).*part)) : Value();
          }};
}

void add_activity(std::vector<Column>& columns) {
  using A = StageActivity;
  columns.insert(columns.end(),
                 {of_activity("launches", "", "calls that launched work of the GPU", &A::launches),
                  of_activity("launch_call_ns", "ns", "time inside them", &A::launch_call_ns),
                  of_activity("graph_launches", "", "of the launches, CUDA graphs", &A::graph_launches),
                  of_activity("sync_calls", "", "calls that wait for the GPU", &A::sync_calls),
                  of_activity("sync_call_ns", "ns", "time inside them", &A::sync_call_ns),
                  of_activity("kernels_started", "", "kernels that start in the windows", &A::kernels),
                  of_activity("graph_kernels", "", "of them, nodes of CUDA graphs", &A::graph_kernels),
                  of_activity("kernel_sum_ns", "ns", "of the kernels that start in the windows", &A::kernel_sum_ns),
                  of_activity("small_kernels", "", "of them, shorter than 10 µs", &A::small_kernels),
                  of_activity("gemm_ns", "ns", "matrix products, by the kernels' names", &A::gemm_ns),
                  of_activity("attention_ns", "ns", "attention, by the kernels' names", &A::attention_ns),
                  of_activity("elementwise_ns", "ns", "kernels that map one tensor to another, by their names", &A::elementwise_ns),
                  of_activity("reduce_ns", "ns", "sums, maxima, softmax, sampling, by the kernels' names", &A::reduce_ns),
                  of_activity("norm_ns", "ns", "norms that are one kernel, by their names", &A::norm_ns),
                  of_activity("copy_kernel_ns", "ns", "kernels that copy or fill, by their names", &A::copy_kernel_ns),
                  of_activity("communication_kernel_ns", "ns", "NCCL and its like, by the kernels' names", &A::communication_kernel_ns),
                  of_activity("h2d_ns", "ns", "copies from the host", &A::h2d_ns),
                  of_activity("h2d_bytes", "bytes", "copied from the host", &A::h2d_bytes),
                  of_activity("d2h_ns", "ns", "copies to the host", &A::d2h_ns),
                  of_activity("d2h_bytes", "bytes", "copied to the host", &A::d2h_bytes),
                  of_activity("d2d_ns", "ns", "copies on a GPU", &A::d2d_ns),
                  of_activity("d2d_bytes", "bytes", "copied on a GPU", &A::d2d_bytes),
                  of_activity("peer_ns", "ns", "copies from one GPU to another", &A::peer_ns),
                  of_activity("peer_bytes", "bytes", "copied from one GPU to another", &A::peer_bytes),
                  of_activity("memset_ns", "ns", "sets", &A::memset_ns),
                  of_activity("longest_gap_ns", "ns", "the longest time that a GPU is idle", &A::longest_gap_ns),
                  of_activity("streams", "", "queues of the GPU with work", &A::streams_used)});
}

const MetricValues* counted(const Row& row) { return row.stage->counters ? &row.stage->counters->values : nullptr; }
const MetricValues* sampled(const Row& row) { return row.stage->sampling ? &row.stage->sampling->values : nullptr; }

void each_stage(const Run& run, const WorkloadIdentity& identity, const UseRow& use) {
  std::size_t number = 0;
  for (const StageEntry& stage : run.stages) use({.run = run, .identity = identity, .number = number++, .stage = &stage});
}

}  // namespace

Table stages_table() {
  std::vector<Column> columns = {{"run_id", kText, "", "runs.run_id", [](const Row& row) { return text(row.run.run_id); }}};
  add_windows(columns);
  add_budget(columns);
  add_activity(columns);
  add_counters(columns, "counted_", MetricPlace::kStage, counted);
  add_counters(columns, "sampled_", MetricPlace::kSampled, sampled);
  add_figures(columns, RunMetricScope::kStage);
  return {"stages", "a stage of a run: its measured windows, warm-up left out", std::move(columns), each_stage};
}

}  // namespace nl::exporters::fact_tables
