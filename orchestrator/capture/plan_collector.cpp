#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <cstdlib>

#include "model/strings.h"
#include "nvtx/names.h"
#include "orchestrator/capture/duty.h"
#include "orchestrator/capture/marks.h"
#include "orchestrator/capture/plan_parts.h"
#include "orchestrator/config/units.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

// Beside the trace, in the same pass. The GPU does only one of the two at a time.
void set_sampling(Pass& pass, const CaptureOptions& capture) {
  auto& env = pass.process.env;
  if (capture.sampling_us > 0 && capture.pc_sampling == 0) {
    env["NL_STAGE_PM_SAMPLING_US"] = std::to_string(capture.sampling_us);
    env["NL_STAGE_PM_METRICS"] = fmt::format("{}", fmt::join(capture.sampling_metrics, ","));
    pass.purpose += fmt::format("; the GPU's activity every {} µs", capture.sampling_us);
  }
  if (capture.pc_sampling > 0) {
    env["NL_STAGE_PC_SAMPLING"] = std::to_string(capture.pc_sampling);
    pass.purpose += "; where warps stall";
  }
}

// The same library once more, where the CUDA driver loads it.
void load_gpu_half(Pass& pass, const Config& config, const Toolset& tools) {
  pass.process.env["CUDA_INJECTION64_PATH"] = tools.collector->string();
  // Only where it was chosen: else the collector prefers the one that the workload itself has loaded.
  if (!config.tools.cupti.empty()) pass.process.env["NL_STAGE_CUPTI"] = config.tools.cupti;
}

// Another choice in each pass, and one for all of its processes: ranks trace the same steps, in which they meet.
void choose_steps(const Config& config, Pass& pass) {
  auto& env = pass.process.env;
  if (one_in(config.capture.duty).value_or(1) > 1 && std::getenv("NL_STAGE_DUTY_SEED") == nullptr)
    env["NL_STAGE_DUTY_SEED"] = std::to_string(stable_hash(env["NL_STAGE_TRACE_DIR"]) & INT64_MAX);
}

Pass cupti_pass(const Config& config, const Toolset& tools, const fs::path& bundle) {
  Pass pass = collector_pass(config, tools, bundle);
  trace_by_cupti(pass, config, tools);
  pass.purpose = "run the workload with the collector loaded: kernels, copies, CUDA calls (CUPTI) and ranges";
  if (const int every = one_in(config.capture.duty).value_or(1); every > 1) pass.purpose += fmt::format(", of one step in {}", every);
  set_sampling(pass, config.capture);
  choose_steps(config, pass);
  return pass;
}

// The same once more, for its timings alone. Its files are not kept.
Pass cupti_repeat_pass(const Config& config, const Toolset& tools, const fs::path& bundle, int number) {
  const fs::path folder = fs::path("perturbation") / fmt::format("collector-{}", number);
  Pass pass = cupti_pass(config, tools, bundle);
  make_repeat(pass, PassKind::kCollectorRepeat, config, bundle, number);
  pass.process.argv = workload_command(config.workload, bundle, PassKind::kCollectorRepeat, number);
  pass.process.env["NL_STAGE_TRACE_DIR"] = (bundle / folder).string();
  choose_steps(config, pass);
  pass.outputs = {folder};
  return pass;
}

// "LLM@prefill": what the collector compares a range's domain and name with, one a line.
std::string range_lines(const Config& config) {
  std::string lines;
  for (const auto& stage : config.run.stages)
    for (const auto& range : nvtx::ranges_of_stage(stage))
      lines += (lines.empty() ? "" : "\n") + fmt::format("{}@{}", nvtx::kLlmDomain, range);
  return lines;
}

Pass counter_pass(PassKind kind, const Config& config, const Toolset& tools, const fs::path& bundle) {
  const std::string what = kind == PassKind::kStageCounters ? "stages" : "kernels";
  Pass pass = ranges_pass(kind, config, tools, bundle, fs::path("counters") / what, config.ncu.timeout_s);
  load_gpu_half(pass, config, tools);
  auto& env = pass.process.env;
  env["NL_STAGE_COUNTERS"] = what;
  env["NL_STAGE_COUNTER_METRICS"] = fmt::format("{}", fmt::join(config.capture.counter_metrics, ","));
  return pass;
}

// Why the stages are not counted as a whole; empty where they are.
std::string stages_left_out(const Config& config) {
  if (!config.capture.stage_counters) return "capture.stage_counters is false";
  if (config.run.stages.empty()) return "run.stages names none";
  return config.capture.counter_metrics.empty() ? "capture.counter_metrics names no metric" : "";
}

}  // namespace

Pass ranges_pass(PassKind kind, const Config& config, const Toolset& tools, const fs::path& bundle, const fs::path& folder,
                 double timeout_s) {
  Pass pass = workload_pass(kind, config, bundle, timeout_s);
  pass.process.argv = workload_command(config.workload, bundle, kind);
  pass.process.env["NVTX_INJECTION64_PATH"] = tools.collector->string();
  pass.process.env["NL_STAGE_TRACE_DIR"] = (bundle / folder).string();
  pass.process.env["NL_STAGE_RUN"] = stable_hash_text(bundle.string(), 16);  // import tells files of two runs apart by it
  pass.process.wait_for_tree = true;                                         // as nsys does with --wait=all
  pass.process.signal_group = true;                                          // a shell script passes no signal on
  pass.outputs = {folder};
  return pass;
}

void trace_by_cupti(Pass& pass, const Config& config, const Toolset& tools) {
  load_gpu_half(pass, config, tools);
  auto& env = pass.process.env;
  env["NL_STAGE_CUDA_CALLS"] = config.capture.cuda_calls;
  // Stalls belong to kernels, those inside graphs as well.
  env["NL_STAGE_CUDA_GRAPHS"] = config.capture.pc_sampling > 0 ? "node" : config.capture.cuda_graphs;
  env["NL_STAGE_GPU_BUFFER_KB"] = std::to_string(config.capture.buffer_kb);
  env["NL_STAGE_GPU_BUFFERS"] = std::to_string(config.capture.buffers);
  env["NL_STAGE_FLUSH_MS"] = std::to_string(config.capture.flush_ms);
  for (auto& [name, value] : duty_environment(config)) env[name] = value;
}

void record_launches(Pass& pass, const Config& config, const Toolset& tools) {
  load_gpu_half(pass, config, tools);
  pass.process.env["NL_STAGE_LAUNCHES"] = "1";
  pass.records_launches = true;
  pass.purpose += ", which also records when each launch is made";
}

Pass collector_pass(const Config& config, const Toolset& tools, const fs::path& bundle) {
  Pass pass = ranges_pass(PassKind::kCollector, config, tools, bundle, "collector", config.nsys.timeout_s);
  pass.purpose = "run the workload with the NVTX collector loaded: stage timings, no kernels";
  pass.sample_power = true;
  return pass;
}

Pass cupti_operator_pass(const Config& config, const Toolset& tools, const fs::path& bundle) {
  const fs::path folder = fs::path(kOperatorsFolder) / "collector";
  Pass pass = cupti_pass(operator_config(config), tools, bundle);
  make_operator_pass(pass, bundle);
  pass.process.argv = workload_command(config.workload, bundle, PassKind::kOperators);
  pass.process.env["NL_STAGE_TRACE_DIR"] = (bundle / folder).string();
  pass.outputs = {folder};
  return pass;
}

void add_cupti_passes(Plan& plan) {
  add_in_turns(plan, {cupti_pass(plan.config, plan.tools, plan.bundle)},
               [&](int number) { return std::vector<Pass>{cupti_repeat_pass(plan.config, plan.tools, plan.bundle, number)}; });
}

CounterChoice choose_counters(const Config& config, const Toolset& tools) {
  const auto asked = choice<CounterPreference>(config.capture.counters);
  const bool cupti = asked == CounterPreference::kCupti;
  const bool any = !config.capture.counter_metrics.empty() || !config.capture.replay_metrics.empty();
  const auto off = [](const char* key) { return Remark{Code::kCountersOff, {key}}; };
  if (asked == CounterPreference::kOff)
    return {Meter::kNone, "no counters are asked for (capture.counters is off)", off("capture.counters is off")};
  if (cupti && tools.collector && any) return {Meter::kCupti, "capture.counters is cupti: the collector counts, not ncu"};
  const std::string instead = cupti && !tools.collector ? "the collector, which would count, was not found; " : "";
  if (!config.ncu.enabled) return {Meter::kNone, instead + "no counters are asked for (ncu.enabled is false)", off("ncu.enabled is false")};
  if (tools.ncu) return {Meter::kNcu, instead + "ncu was found"};
  const Remark no_ncu{Code::kToolNotFound, {"ncu"}};
  if (!tools.collector) return {Meter::kNone, "neither ncu nor the collector was found: nothing can count", no_ncu};
  if (!any) return {Meter::kNone, "ncu was not found, and capture names no metric that the collector could count", no_ncu};
  return {Meter::kCupti, "ncu was not found: the collector counts instead (CUPTI)"};
}

std::optional<Pass> plan_stage_counters(const Config& config, const Toolset& tools, const fs::path& bundle_folder) {
  if (!stages_left_out(config).empty()) return std::nullopt;
  Pass pass = counter_pass(PassKind::kStageCounters, config, tools, absolute_bundle(bundle_folder));
  pass.process.env["NL_STAGE_COUNTER_RANGES"] = range_lines(config);
  pass.process.label = "counters of the stages";
  pass.purpose =
      fmt::format("count each stage as a whole, {} metrics in one pass, nothing replayed (CUPTI)", config.capture.counter_metrics.size());
  return pass;
}

Pass plan_kernel_counters(const Config& config, const Toolset& tools, const fs::path& bundle_folder, const CounterRequest& request) {
  const fs::path bundle = absolute_bundle(bundle_folder);
  Pass pass = counter_pass(PassKind::kKernelCounters, config, tools, bundle);
  auto& env = pass.process.env;
  env["NL_STAGE_COUNTER_REPLAY_METRICS"] = fmt::format("{}", fmt::join(config.capture.replay_metrics, ","));
  env["NL_STAGE_COUNTER_KERNELS"] = (bundle / kCounterKernels).string();
  env["NL_STAGE_COUNTER_LAUNCHES"] = std::to_string(config.capture.counter_launches);
  if (!request.anywhere) env["NL_STAGE_COUNTER_RANGES"] = range_lines(config);
  if (request.attempt > 1) {
    const std::string folder = fmt::format("counters/kernels-{}", request.attempt);
    env["NL_STAGE_TRACE_DIR"] = (bundle / folder).string();
    pass.outputs = {folder};
    set_logs(pass, bundle, request.attempt);
    pass.process.argv = workload_command(config.workload, bundle, PassKind::kKernelCounters, request.attempt);
  }
  pass.process.label = "counters of the kernels";
  pass.purpose = fmt::format("count the {} kernels that take the most GPU time{}: {} metrics in place, {} by replay (CUPTI)",
                             request.kernels.value_or(static_cast<std::size_t>(config.run.top_n_kernels)),
                             request.anywhere ? ", wherever they are launched" : " inside the stages",
                             config.capture.counter_metrics.size(), config.capture.replay_metrics.size());
  return pass;
}

void add_counter_passes(Plan& plan) {
  if (auto stages = plan_stage_counters(plan.config, plan.tools, plan.bundle)) plan.passes.push_back(std::move(*stages));
  else plan.adaptations.push_back({Code::kStagesLeftOut, {stages_left_out(plan.config)}});
  plan.passes.push_back(plan_kernel_counters(plan.config, plan.tools, plan.bundle, {}));
  plan.meter = Meter::kCupti;
}

}  // namespace nl::orchestrator
