#include "orchestrator/read.h"

#include <fmt/format.h>

#include <algorithm>

#include "orchestrator/bundle/provenance.h"
#include "orchestrator/capture/marks.h"
#include "orchestrator/session/session.h"
#include "parsers/facts/facts.h"
#include "parsers/stacks/stacks.h"

namespace nl::orchestrator {
namespace {

// Why there is nothing to compare the traced pass with.
std::string overhead_note(const Plan& plan, const Repeats& repeats) {
  if (plan.tracer == Tracer::kRanges) return "overhead not measured: the capture itself ran unprofiled";
  if (plan.config.perturbation.repeats == 0)
    return "no unprofiled pass was run (perturbation.repeats is 0); --set perturbation.repeats=3 runs some";
  if (std::none_of(plan.passes.begin(), plan.passes.end(), [](const Pass& pass) { return pass.kind == PassKind::kUnprofiled; }))
    return "the collector, which times the unprofiled passes, was not found (nl-stage doctor)";
  return repeats.notes.empty() ? "no unprofiled pass was run" : repeats.notes[0];
}

Workload workload_of(const Config& config, const std::optional<int>& exit_status) {
  const auto& folder = config.workload.working_directory;
  return {config.workload.command, folder.empty() ? std::filesystem::current_path().string() : folder, exit_status};
}

// Without a GPU there are none to capture, which is not a failure.
std::optional<Remark> no_kernels_note(const Plan& plan, const Verdict& verdict) {
  if (prefers_ranges(plan.config)) return Remark{Code::kUnprofiledRun};
  if (plan.tracer == Tracer::kRanges)
    return Remark{Code::kNoGpu, {plan.tools.gpu_trouble.empty() ? "" : " (" + plan.tools.gpu_trouble + ")"}};
  if (plan.tracer == Tracer::kNsys && verdict.failure()) return Remark{Code::kNote, {verdict.problems()[0].what}};
  return std::nullopt;
}

// "bf16"; "int4 weights (gptq), bf16 compute"
std::string precision_of(const std::map<std::string, std::string>& attributes) {
  const auto value = [&](const char* key) {
    const auto found = attributes.find(key);
    return found == attributes.end() ? std::string() : found->second;
  };
  const std::string weights = value("dtype"), compute = value("compute_dtype"), how = value("quantization");
  if (weights.empty() || (how.empty() && (compute.empty() || compute == weights))) return weights;
  return fmt::format("{} weights{}{}", weights, how.empty() ? "" : " (" + how + ")", compute.empty() ? "" : ", " + compute + " compute");
}

// What a model file says of itself. What is computed in follows where the backend computes as the file is: processors have no half
// precision that all backends use, and GPUs multiply 32-bit values with fewer bits.
void describe_model_file(const ModelSession& session, ModelInfo& model) {
  if (model.name.empty()) model.name = std::filesystem::path(session.model).filename().string();
  model.digest = session.digest;
  model.dtypes = session.weight_dtypes;
  if (!model.precision.empty()) return;  // as configured
  const auto stored = std::find_if(model.dtypes.begin(), model.dtypes.end(),
                                   [](const std::string& dtype) { return data_type_of(dtype) != DataType::kOther; });
  if (stored == model.dtypes.end()) return;
  model.weights_precision = data_type_of(*stored);
  const bool half = model.weights_precision == DataType::kF16 || model.weights_precision == DataType::kBf16;
  const bool as_stored = session.provider == "cpu" ? model.weights_precision == DataType::kF32 : half;
  if (as_stored) model.compute_precision = model.weights_precision;
  model.precision = key_of(model.weights_precision);
}

}  // namespace

void read_session_record(const std::filesystem::path& file, Evidence& evidence) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return;
  evidence.session = read_session(file);
  evidence.software.backend = evidence.session->backend;
  evidence.software.versions[evidence.session->backend] = evidence.session->version;
  describe_model_file(*evidence.session, evidence.model);
}

void add_operator_pass(Trace trace, const std::filesystem::path& folder, Evidence& evidence) {
  parsers::RecordedDtypes recorded = parsers::read_dtypes(folder);
  for (std::string& note : recorded.notes) evidence.adaptations.push_back({Code::kNote, {std::move(note)}});
  evidence.operators.push_back({"pytorch ranges", "", std::move(trace), {}, true, std::move(recorded.operators)});
}

ModelInfo model_of(const ModelOptions& configured, const std::optional<ModelInfo>& noted) {
  ModelInfo model{configured.name, configured.attributes};
  const bool has_shape = model.attributes.contains("layers") || model.attributes.contains("hidden_size");
  const bool has_type = model.attributes.contains("dtype");  // then what the workload noted does not count
  if (noted && !has_shape) {
    if (model.name.empty()) model.name = noted->name;
    model.attributes.insert(noted->attributes.begin(), noted->attributes.end());
  }
  // Of quantised weights, and where there is no configuration, the process knows better; else a type has one spelling.
  const bool knows_better = model.attributes.contains("quantization") || !model.attributes.contains("dtype");
  const bool as_noted = noted && !noted->precision.empty() && !has_type && knows_better;
  model.precision = as_noted ? noted->precision : precision_of(model.attributes);
  find_precisions(model);
  return model;
}

Evidence read(const Plan& plan, Capture capture, const PowerSource& power, const Bundle& bundle, const Verdict& verdict) {
  Evidence evidence;
  evidence.run_id = bundle.run_id();
  evidence.created_at = bundle.created_at();
  evidence.name = plan.config.run.name;
  evidence.mode = plan.config.run.mode;
  parsers::ProcessFacts facts = parsers::read_facts(bundle.path() / kFactsFolder);
  evidence.model = model_of(plan.config.model, facts.model);
  evidence.workload = workload_of(plan.config, capture.workload_exit);
  evidence.tracer = plan.tracer;
  evidence.meter = plan.meter;
  describe_machine(plan.tools, evidence.hardware, evidence.software);
  evidence.software.backend = facts.backend;
  evidence.software.versions = std::move(facts.versions);
  if (plan.tracer == Tracer::kNsys) evidence.software.nsys_version = plan.tools.nsys->version.text();
  if (plan.meter == Meter::kNcu && std::any_of(capture.passes.begin(), capture.passes.end(), [](const PassRecord& pass) {
        return pass.kind == PassKind::kNcu && pass.outcome != PassOutcome::kSkipped;
      }))
    evidence.software.ncu_version = plan.tools.ncu->version.text();
  evidence.captured_any = capture.any();
  evidence.overhead_note = overhead_note(plan, capture.repeats);
  evidence.no_kernels_note = no_kernels_note(plan, verdict);
  evidence.power_note = power.note;
  if (power.sampler) evidence.meter_uuids = power.sampler->uuids();
  evidence.trace = std::move(capture.trace);
  evidence.traced_at_ns = capture.traced_at_ns;
  parsers::join_stacks(parsers::stack_files(bundle.path() / kFactsFolder), evidence.trace);
  evidence.ncu = std::move(capture.ncu);
  evidence.counters = std::move(capture.counters);
  evidence.counters_missing = std::move(capture.counters_missing);
  evidence.repeats = std::move(capture.repeats);
  evidence.calibration = std::move(capture.calibration);
  evidence.power = std::move(capture.power);
  evidence.passes = std::move(capture.passes);
  evidence.workload_starts = capture.workload_starts;
  evidence.expected_s = capture.expected_s;
  if (plan.config.run.budget_s > 0) evidence.budget_s = plan.config.run.budget_s;
  evidence.adaptations = std::move(capture.adaptations);
  evidence.adaptations.insert(evidence.adaptations.end(), facts.notes.begin(), facts.notes.end());
  if (capture.operators) add_operator_pass(std::move(*capture.operators), plan.bundle / kOperatorsFolder, evidence);
  read_session_record(bundle.path() / kSessionRecord, evidence);
  evidence.problems = verdict.problems();
  return evidence;
}

}  // namespace nl::orchestrator
