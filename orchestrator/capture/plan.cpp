#include "orchestrator/capture/plan.h"

#include <fmt/format.h>

#include <string>

#include "model/error.h"
#include "orchestrator/capture/calibrate.h"
#include "orchestrator/capture/duty.h"
#include "orchestrator/capture/engine_switches.h"
#include "orchestrator/capture/marks.h"
#include "orchestrator/capture/plan_parts.h"
#include "orchestrator/config/units.h"
#include "orchestrator/session/session.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

constexpr const char* kRangesPreferred = "capture.prefer is ranges";

std::string trouble_text(const Toolset& tools) { return tools.gpu_trouble.empty() ? "" : " (" + tools.gpu_trouble + ")"; }

// Counters come in separate passes, after the trace has said which kernels matter. Where NVML says nothing there may be
// a GPU all the same: the trace decides. Where it says that there is none, nothing will be counted.
void add_counting(Plan& plan) {
  const CounterChoice counters = choose_counters(plan.config, plan.tools);
  const bool no_gpu = surely_no_gpu(plan.tools);
  const bool in_vain = no_gpu && counters.meter != Meter::kNone;
  plan.why += "; " + (in_vain ? "without a GPU nothing is counted" : counters.why);
  if (in_vain) return plan.adaptations.push_back({Code::kCountersLeftOut});
  if (counters.meter == Meter::kNone) {
    if (counters.missing->code == Code::kToolNotFound) plan.adaptations.push_back({Code::kNcuLeftOut});
    return;
  }
  if (plan.tools.gpus.empty()) plan.adaptations.push_back({Code::kCountersIfKernels, {trouble_text(plan.tools)}});
  if (counters.meter == Meter::kNcu) return add_ncu_passes(plan);
  if (choice<CounterPreference>(plan.config.capture.counters) == CounterPreference::kAuto)
    plan.adaptations.push_back({Code::kCountedByCollector});
  add_counter_passes(plan);
}

bool prefers_cupti(const Config& config) { return choice<TracePreference>(config.capture.prefer) == TracePreference::kCupti; }

// What the collector lacks to record kernels; empty where it can.
std::string cupti_lacks(const Toolset& tools) {
  if (tools.gpus.empty()) return "no GPU was found";
  return tools.collector ? "" : "the collector was not found";
}

void note_unsampled(Plan& plan) {
  if (plan.config.capture.sampling_us <= 0 && plan.config.capture.pc_sampling <= 0) return;
  const std::string lacks = cupti_lacks(plan.tools);
  plan.adaptations.push_back(lacks.empty() ? Remark{Code::kNotSampledByNsys} : Remark{Code::kNotSampled, {lacks}});
}

void note_duty_unused(Plan& plan, const char* tracer) {
  if (one_in(plan.config.capture.duty).value_or(1) > 1)
    plan.adaptations.push_back({Code::kDutyByCollectorOnly, {plan.config.capture.duty, tracer}});
}

void plan_by_nsys(Plan& plan) {
  plan.tracer = Tracer::kNsys;
  plan.why = "nsys was found";
  if (prefers_cupti(plan.config)) {
    const std::string instead = "capture.prefer is cupti, but " + cupti_lacks(plan.tools);
    plan.why = instead + "; " + plan.why;
    plan.adaptations.push_back({Code::kTracedByNsysInstead, {cupti_lacks(plan.tools)}});
  }
  note_duty_unused(plan, "nsys");
  add_nsys_passes(plan);
  add_operator_passes(plan);
  add_calibration_passes(plan);
  add_counting(plan);
  note_unsampled(plan);
}

void plan_by_cupti(Plan& plan, const std::string& reason, bool preferred) {
  plan.tracer = Tracer::kCupti;
  plan.why = preferred ? "capture.prefer is cupti" : reason + "; a GPU and the collector were found";
  if (!preferred) plan.adaptations.push_back({Code::kTracedByCollector, {reason}});
  if (plan.config.capture.sampling_us > 0 && plan.config.capture.pc_sampling > 0)
    plan.adaptations.push_back({Code::kStallsInsteadOfActivity});
  const bool hides_nodes = choice<GraphDetail>(plan.config.capture.cuda_graphs) == GraphDetail::kGraph;
  if (hides_nodes && plan.config.capture.pc_sampling > 0) plan.adaptations.push_back({Code::kGraphNodesForStalls});
  if (one_in(plan.config.capture.duty).value_or(1) > 1)
    for (const auto& [stage, pattern] : unknown_steps(plan.config)) plan.adaptations.push_back({Code::kDutyStepsUnknown, {stage, pattern}});
  add_cupti_passes(plan);
  add_operator_passes(plan);
  add_calibration_passes(plan);
  add_counting(plan);
}

void plan_by_ranges(Plan& plan, const std::string& reason) {
  plan.tracer = Tracer::kRanges;
  plan.why = reason + "; no GPU was found";
  plan.adaptations.push_back({Code::kTracedRangesOnly, {reason}});
  const auto counters = choice<CounterPreference>(plan.config.capture.counters);
  if (counters == CounterPreference::kCupti || (plan.config.ncu.enabled && counters != CounterPreference::kOff))
    plan.adaptations.push_back({Code::kCountersNeedTrace});
  note_unsampled(plan);
  plan.passes.push_back(collector_pass(plan.config, plan.tools, plan.bundle));
}

// Of the capture, not of its repetitions. The samples go into the same folder.
void ask_for_facts(Plan& plan) {
  const int samples_hz = plan.config.mark.host_samples_hz;
  for (Pass& pass : plan.passes) {
    if (pass.kind != tracing_pass(plan.tracer)) continue;
    pass.process.env["NL_STAGE_FACTS_DIR"] = (plan.bundle / kFactsFolder).string();
    if (samples_hz > 0) pass.process.env["NL_STAGE_HOST_SAMPLES_HZ"] = std::to_string(samples_hz);
  }
}

// By perf_event, where the collector traces: nsys samples by itself (nsys.sample). The Python sampler sees more of Python's processes.
void ask_for_native_stacks(Plan& plan) {
  const int samples_hz = plan.config.mark.host_samples_hz;
  if (plan.tracer != Tracer::kCupti || samples_hz <= 0) return;
  for (Pass& pass : plan.passes) {
    if (pass.kind != PassKind::kCollector) continue;
    if (!pass.process.argv.empty() && sampling::is_python(pass.process.argv.front())) continue;
    pass.process.sample_stacks = {samples_hz, {"libcuda.so", "libcudart.so", "libnl_collector"}};
    pass.purpose += fmt::format("; native stacks, {} a second", samples_hz);
  }
}

// Only the traced pass records: other passes run the same command for other purposes.
void ask_for_record(Plan& plan) {
  for (Pass& pass : plan.passes)
    if (pass.kind == tracing_pass(plan.tracer)) pass.process.env[kSessionRecordVariable] = (plan.bundle / kSessionRecord).string();
}

}  // namespace

bool prefers_ranges(const Config& config) { return choice<TracePreference>(config.capture.prefer) == TracePreference::kRanges; }

Plan make_plan(const Config& config, const Toolset& tools, const fs::path& bundle_folder) {
  if (config.workload.command.empty())
    throw Error(ErrorKind::kUsage, "there is no command to profile", "workload.command",
                "give it at the end of the line, or as workload.command in the configuration");
  const bool preferred = prefers_cupti(config) && cupti_lacks(tools).empty();
  const bool unprofiled = prefers_ranges(config);
  const std::string reason = unprofiled            ? kRangesPreferred
                             : config.nsys.enabled ? "nsys was not found"
                                                   : "nsys is switched off (nsys.enabled)";
  Plan plan;
  plan.config = config;
  plan.tools = tools;
  plan.bundle = absolute_bundle(bundle_folder);
  const bool by_nsys = config.nsys.enabled && tools.nsys && !preferred && !unprofiled;
  if (!by_nsys && !tools.collector)
    throw Error(ErrorKind::kTool, reason + ", and the collector was not found", "",
                "nl-stage doctor says what is missing and how to get it");
  if (unprofiled) {  // the run itself is what matters, so nothing may slow it down
    plan.tracer = Tracer::kRanges;
    plan.why = kRangesPreferred;
    plan.passes.push_back(collector_pass(config, tools, plan.bundle));
  } else if (by_nsys) plan_by_nsys(plan);
  else if (!tools.gpus.empty()) plan_by_cupti(plan, reason, preferred);
  else plan_by_ranges(plan, reason);
  if (config.mark.automatic) ask_for_facts(plan);
  if (auto remark = engine_remark(config)) plan.adaptations.push_back(std::move(*remark));
  ask_for_native_stacks(plan);
  if (!config.session.backend.empty()) ask_for_record(plan);
  return plan;
}

}  // namespace nl::orchestrator
