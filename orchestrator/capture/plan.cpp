#include "orchestrator/capture/plan.h"

#include <fmt/format.h>

#include "model/error.h"
#include "orchestrator/capture/plan_parts.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

// Counters come in passes of their own, after the trace has said which kernels matter.
void add_counting(Plan& plan, const Config& config, const Toolset& tools, const fs::path& bundle) {
  const CounterChoice choice = choose_counters(config, tools);
  const bool in_vain = tools.gpus.empty() && (choice.tool == CounterTool::kNcu || choice.tool == CounterTool::kCupti);
  plan.why += "; " + (in_vain ? "without a GPU nothing is counted" : choice.why);
  if (choice.tool == CounterTool::kCupti) {
    if (config.capture.counters == "auto" && !in_vain) plan.adaptations.push_back(choice.why);
    return add_counter_passes(plan, config, tools, bundle);
  }
  if (choice.tool != CounterTool::kOff) add_ncu_passes(plan, config, tools, bundle);
}

// What the collector lacks to record kernels; empty where it can.
std::string cupti_lacks(const Toolset& tools) {
  if (tools.gpus.empty()) return "no GPU was found";
  return tools.collector ? "" : "the collector was not found";
}

void note_unsampled(Plan& plan, const Config& config, const Toolset& tools) {
  if (config.capture.sampling_us <= 0 && config.capture.pc_sampling <= 0) return;
  const std::string lacks = cupti_lacks(tools);
  plan.adaptations.push_back(
      lacks.empty() ? "nsys traces, and activity and stalls are sampled beside the collector's trace only: they are not "
                      "sampled (--set capture.prefer=cupti)"
                    : lacks + ": the GPU's activity and stalls are not sampled");
}

void plan_by_nsys(Plan& plan, const Config& config, const Toolset& tools, const fs::path& bundle) {
  plan.captured_by = plan.traced_by = kByNsys;
  plan.why = "nsys was found";
  if (config.capture.prefer == "cupti") {
    const std::string instead = "capture.prefer is cupti, but " + cupti_lacks(tools);
    plan.why = instead + "; " + plan.why;
    plan.adaptations.push_back(instead + ": nsys traces");
  }
  add_nsys_passes(plan, config, tools, bundle);
  add_counting(plan, config, tools, bundle);
  note_unsampled(plan, config, tools);
}

void plan_by_cupti(Plan& plan, const Config& config, const Toolset& tools, const fs::path& bundle,
                   const std::string& reason, bool preferred) {
  plan.captured_by = plan.traced_by = kByCupti;
  plan.why = preferred ? "capture.prefer is cupti" : reason + "; a GPU and the collector were found";
  if (!preferred) plan.adaptations.push_back(reason + ": the collector records kernels and ranges itself (CUPTI)");
  if (config.capture.sampling_us > 0 && config.capture.pc_sampling > 0)
    plan.adaptations.push_back(
        "capture.pc_sampling is set, and the GPU samples stalls or activity, not both: activity is not sampled");
  if (config.capture.cuda_graphs == "graph" && config.capture.pc_sampling > 0)
    plan.adaptations.push_back("capture.pc_sampling is set, and stalls belong to kernels: CUDA graphs are traced by their nodes");
  add_cupti_passes(plan, config, tools, bundle);
  add_counting(plan, config, tools, bundle);
}

void plan_by_ranges(Plan& plan, const Config& config, const Toolset& tools, const fs::path& bundle,
                    const std::string& reason) {
  plan.captured_by = plan.traced_by = kByRanges;
  plan.why = reason + "; no GPU was found";
  plan.adaptations.push_back(reason + ", and no GPU was found: the collector records the stages; there are no kernels to capture");
  if (config.capture.counters == "cupti" || (config.ncu.enabled && config.capture.counters != "off"))
    plan.adaptations.push_back("without a trace there is nothing to choose kernels from: no counters are measured");
  note_unsampled(plan, config, tools);
  plan.passes.push_back(collector_pass(config, tools, bundle));
}

}  // namespace

std::string with_ncu(const std::string& traced_by) { return traced_by + "+ncu"; }

std::string with_cupti_counters(const std::string& traced_by) {
  return traced_by == kByCupti ? "collector (CUPTI+counters)" : traced_by + "+CUPTI counters";
}

std::string tracer_of(const Plan& plan) { return plan.traced_by == kByNsys ? "nsys" : "collector"; }

Plan make_plan(const Config& config, const Toolset& tools, const fs::path& bundle_folder) {
  if (config.workload.command.empty())
    throw Error(ErrorKind::kUsage, "there is no command to profile", "",
                "give it after --, or as workload.command in the configuration");
  const fs::path bundle = absolute_bundle(bundle_folder);
  const bool preferred = config.capture.prefer == "cupti" && cupti_lacks(tools).empty();
  const std::string reason = config.nsys.enabled ? "nsys was not found" : "nsys is switched off (nsys.enabled)";
  Plan plan;
  if (config.nsys.enabled && tools.nsys && !preferred) {
    plan_by_nsys(plan, config, tools, bundle);
    return plan;
  }
  if (!tools.collector)
    throw Error(ErrorKind::kTool, reason + ", and the collector was not found", "",
                "nl-stage doctor says what is missing and how to get it");
  if (!tools.gpus.empty())
    plan_by_cupti(plan, config, tools, bundle, reason, preferred);
  else
    plan_by_ranges(plan, config, tools, bundle, reason);
  return plan;
}

}  // namespace nl::orchestrator
