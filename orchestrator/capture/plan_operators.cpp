#include "orchestrator/capture/marks.h"
#include "orchestrator/capture/plan_parts.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;

// Ranges around every operator make the workload slower than any other trace does: whatever else could be recorded has its place
// in the other passes.
Config operator_config(const Config& config) {
  Config out = config;
  out.nsys.trace = {"cuda", "nvtx"};
  out.nsys.sample = out.nsys.cpuctxsw = "none";
  out.nsys.pytorch = "none";  // the marks switch PyTorch's ranges on, in a few windows
  out.nsys.cuda_graph_trace = out.capture.cuda_graphs = "node";
  out.capture.sampling_us = out.capture.pc_sampling = 0;
  return out;
}

void make_operator_pass(Pass& pass, const fs::path& bundle) {
  pass.kind = PassKind::kOperators;
  set_logs(pass, bundle);
  pass.process.label = "operator pass";
  pass.process.env["NL_STAGE_OPERATORS_DIR"] = (bundle / kOperatorsFolder).string();
  pass.purpose = "record the operators and layers of a few steps; skipped where the workload is no Python with PyTorch";
  pass.optional = true;
  pass.sample_power = false;
}

void add_operator_passes(Plan& plan, const Config& config, const Toolset& tools, const fs::path& bundle) {
  if (!config.mark.automatic || !config.mark.operators) return;
  if (surely_no_gpu(tools)) return plan.adaptations.push_back({Code::kOperatorsLeftOut, {"no GPU was found"}});
  if (plan.tracer == Tracer::kNsys && choice<PytorchRanges>(config.nsys.pytorch) != PytorchRanges::kNone)
    return plan.adaptations.push_back({Code::kOperatorsLeftOut, {"the trace itself records PyTorch's operators (nsys.pytorch)"}});
  if (plan.tracer == Tracer::kCupti) return plan.passes.push_back(cupti_operator_pass(config, tools, bundle));
  for (Pass& pass : nsys_operator_passes(config, tools, bundle)) plan.passes.push_back(std::move(pass));
}

}  // namespace nl::orchestrator
