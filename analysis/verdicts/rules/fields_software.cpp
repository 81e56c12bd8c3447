#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "analysis/verdicts/rules/fields.h"
#include "model/words.h"

// What runs: advice names the flags and functions of that, and of nothing else.
namespace nl::analysis::rules {
namespace {

bool mentions(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool has_version(const Run& run, std::initializer_list<const char*> packages) {
  return std::any_of(packages.begin(), packages.end(), [&](const char* name) { return run.software.versions.contains(name); });
}

// The part of the kernels' time whose names have one of the words.
double kernel_part(const Run& run, std::initializer_list<std::string_view> words) {
  double part = 0, all = 0;
  for (const KernelEntry& kernel : run.kernels.value_or(std::vector<KernelEntry>{})) {
    all += static_cast<double>(kernel.time.total_ns);
    if (mentions(kernel.name, words)) part += static_cast<double>(kernel.time.total_ns);
  }
  return all > 0 ? part / all : 0;
}

// As the process noted it, or by the stages that an engine marks.
NamedBackend backend_of(const Run& run) {
  const Remark* engine = find_first(run.import_stats.notes, {Code::kStagesOfEngine});
  const bool marked = engine != nullptr && !engine->details.empty();
  return run.software.backend.code == Backend::kNone && marked ? NamedBackend(engine->details[0]) : run.software.backend;
}

bool is_engine(Backend backend) { return backend == Backend::kVllm || backend == Backend::kSglang || backend == Backend::kTensorrtLlm; }

// By its process, its operators, or the names of its kernels.
bool runs_pytorch(const Run& run) {
  const auto by_pytorch = [](const OperatorTable& table) { return table.source == "pytorch ranges" || table.source == "kineto"; };
  return has_version(run, {"torch"}) || std::any_of(run.operators.begin(), run.operators.end(), by_pytorch) ||
         kernel_part(run, {"at::native", "at_cuda_detail", "c10::", "triton_poi_", "triton_red_", "triton_per_"}) > 0;
}

bool runs_jax(const Run& run) {
  return has_version(run, {"jax", "jaxlib"}) || (!runs_pytorch(run) && kernel_part(run, {"_fusion", "wrapped_"}) > 0.2);
}

// Weights, or what is multiplied, of eight bits or fewer: by the model itself, or by the kernels that multiply.
bool low_precision(const Run& run) {
  return is_low_precision(run.model.weights_precision) || is_low_precision(run.model.compute_precision) ||
         kernel_part(run, {"e4m3", "e5m2", "fp8", "float8", "f8f8", "imma", "_s8_", "i8i8", "int8", "int4", "w4a16", "marlin", "machete",
                           "awq", "gptq", "kgemm_4bit", "mxfp4", "nvfp4"}) > 0.05;
}

const Problem* failure(const Subject& s) {
  const auto found = std::find_if(s.run->problems.begin(), s.run->problems.end(),
                                  [](const Problem& problem) { return is_one_of(problem.code, kWorkloadFailures); });
  return found != s.run->problems.end() ? &*found : nullptr;
}

}  // namespace

void add_software_fields(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kAlways, Place::kSoftware);
  add.text("backend",
           "what runs the model: transformers, vllm, sglang, tensorrt-llm, torch, onnxruntime …; no value where that is not known",
           [](const Subject& s) {
             const NamedBackend& backend = s.totals->backend;
             if (backend.code == Backend::kNone) return Value::none();
             return backend.code == Backend::kOther ? Value::of_text(backend.text) : Value::of_text(key_of(backend.code));
           });
  add.truth("engine", "an inference engine runs it: vLLM, SGLang or TensorRT-LLM",
            [](const Subject& s) { return Value::of_truth(is_engine(s.totals->backend.code)); });
  add.truth("pytorch", "PyTorch runs, by the process, the operators or the names of the kernels",
            [](const Subject& s) { return Value::of_truth(s.totals->pytorch); });
  add.truth("jax", "JAX runs", [](const Subject& s) { return Value::of_truth(s.totals->jax); });
  add.truth("low_precision", "the weights, or what is multiplied, have eight bits or fewer",
            [](const Subject& s) { return Value::of_truth(s.totals->low_precision); });
  const FieldGroup of_end(fields, Capture::kAlways, Place::kProblems);
  of_end.truth("failed", "the workload did not end well", [](const Subject& s) { return Value::of_truth(failure(s) != nullptr); });
  of_end.text("failure", "why, in a sentence",
              [](const Subject& s) { return failure(s) != nullptr ? Value::of_text(failure(s)->what) : Value::none(); });
  of_end.text("failure_fix", "what to do about it",
              [](const Subject& s) { return failure(s) != nullptr ? Value::of_text(failure(s)->fix) : Value::none(); });
  of_end.text("failure_kind", "its code: workload-out-of-memory, workload-exception …",
              [](const Subject& s) { return failure(s) != nullptr ? Value::of_text(key_of(failure(s)->code)) : Value::none(); });
}

void total_software(const Run& run, RunTotals& totals) {
  totals.backend = backend_of(run);
  totals.pytorch = runs_pytorch(run);
  totals.jax = runs_jax(run);
  totals.low_precision = low_precision(run);
}

}  // namespace nl::analysis::rules
