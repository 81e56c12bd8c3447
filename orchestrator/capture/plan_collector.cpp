#include <fmt/format.h>
#include <fmt/ranges.h>

#include "orchestrator/capture/marks.h"
#include "orchestrator/capture/plan_parts.h"

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

Pass cupti_pass(const Config& config, const Toolset& tools, const fs::path& bundle) {
  Pass pass = collector_pass(config, tools, bundle);
  load_gpu_half(pass, config, tools);
  auto& env = pass.process.env;
  env["NL_STAGE_CUDA_CALLS"] = config.capture.cuda_calls;
  // Stalls belong to kernels, those inside graphs as well.
  env["NL_STAGE_CUDA_GRAPHS"] = config.capture.pc_sampling > 0 ? "node" : config.capture.cuda_graphs;
  env["NL_STAGE_GPU_BUFFER_KB"] = std::to_string(config.capture.buffer_kb);
  env["NL_STAGE_GPU_BUFFERS"] = std::to_string(config.capture.buffers);
  env["NL_STAGE_FLUSH_MS"] = std::to_string(config.capture.flush_ms);
  pass.purpose = "run the workload with the collector loaded: kernels, copies, CUDA calls (CUPTI) and ranges";
  set_sampling(pass, config.capture);
  return pass;
}

// The same once more, for its timings alone. Its files are not kept.
Pass cupti_repeat_pass(const Config& config, const Toolset& tools, const fs::path& bundle, int number) {
  const fs::path folder = fs::path("perturbation") / fmt::format("collector-{}", number);
  Pass pass = cupti_pass(config, tools, bundle);
  make_repeat(pass, PassKind::kCollectorRepeat, config, bundle, number);
  pass.process.argv = workload_command(config.workload, bundle, PassKind::kCollectorRepeat, number);
  pass.process.env["NL_STAGE_TRACE_DIR"] = (bundle / folder).string();
  pass.outputs = {folder};
  return pass;
}

}  // namespace

Pass ranges_pass(PassKind kind, const Config& config, const Toolset& tools, const fs::path& bundle, const fs::path& folder,
                 double timeout_s) {
  Pass pass = workload_pass(kind, config, bundle, timeout_s);
  pass.process.argv = workload_command(config.workload, bundle, kind);
  pass.process.env["NVTX_INJECTION64_PATH"] = tools.collector->string();
  pass.process.env["NL_STAGE_TRACE_DIR"] = (bundle / folder).string();
  pass.process.wait_for_tree = true;  // as nsys does with --wait=all
  pass.process.signal_group = true;   // a shell script passes no signal on
  pass.outputs = {folder};
  return pass;
}

void load_gpu_half(Pass& pass, const Config& config, const Toolset& tools) {
  pass.process.env["CUDA_INJECTION64_PATH"] = tools.collector->string();
  // Only where it was chosen: else the collector prefers the one that the workload itself has loaded.
  if (!config.tools.cupti.empty()) pass.process.env["NL_STAGE_CUPTI"] = config.tools.cupti;
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

void add_cupti_passes(Plan& plan, const Config& config, const Toolset& tools, const fs::path& bundle) {
  add_in_turns(plan, config, tools, bundle, {cupti_pass(config, tools, bundle)},
               [&](int number) { return std::vector<Pass>{cupti_repeat_pass(config, tools, bundle, number)}; });
}

}  // namespace nl::orchestrator
