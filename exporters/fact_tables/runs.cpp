#include "exporters/fact_tables/figures.h"
#include "model/words.h"

// A row for every run.
namespace nl::exporters::fact_tables {
namespace {

using enum Type;

Column identity_column(const char* name, Type type, const char* unit, const char* help, IdentityPart part) {
  return {name, type, unit, help, [type, part](const Row& row) {
            const std::string& known = row.identity[part];
            return type == kReal ? number_of(known) : text(known);
          }};
}

Column version_column(const char* name, const char* help, const char* key) {
  return {name, kText, "", help, [key](const Row& row) {
            const auto& versions = row.run.software.versions;
            const auto found = versions.find(key);
            return found != versions.end() ? text(found->second) : Value();
          }};
}

void add_origin(std::vector<Column>& columns) {
  columns.insert(
      columns.end(),
      {{"run_id", kText, "", "of the run; the other tables have it too", [](const Row& row) { return text(row.run.run_id); }},
       {"name", kText, "", "as the run was named", [](const Row& row) { return text(row.run.name); }},
       {"created_at", kTime, "", "when the bundle was made; of a capture, when it was read",
        [](const Row& row) { return time_of(row.run.created_at); }},
       {"captured_at", kTime, "", "when the trace began", [](const Row& row) { return time_of(row.run.provenance.captured_at); }},
       {"status", kText, "", "complete, partial, interrupted or failed", [](const Row& row) { return text(key_of(row.run.status)); }},
       {"mode", kText, "", "which passes there were: deep, light; import: captured elsewhere",
        [](const Row& row) { return text(row.run.mode); }},
       {"captured_by", kText, "", "the tools that captured it: nsys+ncu, collector (CUPTI)",
        [](const Row& row) { return text(captured_by(row.run.provenance.tracer, row.run.provenance.meter)); }},
       {"schema_version", kText, "", "the format of its run.json", [](const Row& row) { return text(row.run.schema_version); }},
       {"nl_stage_version", kText, "", "that made it", [](const Row& row) { return text(row.run.software.nl_stage_version); }}});
}

void add_workload(std::vector<Column>& columns) {
  using enum IdentityPart;
  columns.insert(columns.end(),
                 {{"workload", kText, "", "16 digits, the same for runs of which the same is known: program, model, sizes",
                   [](const Row& row) { return text(identity_key(row.identity)); }},
                  {"workload_kind", kText, "", "generation, training, serving and the like; null: not recognised",
                   [](const Row& row) {
                     const WorkloadKind kind = row.run.workload.verdict.kind;
                     return kind != WorkloadKind::kUnknown ? text(key_of(kind)) : Value();
                   }},
                  {"unit_stage", kText, "", "the stage whose windows are the units of its work",
                   [](const Row& row) { return text(row.run.workload.verdict.unit_stage); }},
                  identity_column("program", kText, "", "the program or its script", kProgram),
                  {"exit_status", kInteger, "", "of the program, in the first pass",
                   [](const Row& row) { return number(row.run.workload.exit_status); }},
                  identity_column("model", kText, "", "name of the model", kModel),
                  identity_column("model_digest", kText, "", "digest of a model file", kDigest),
                  identity_column("model_architecture", kText, "", "llama and the like", kArchitecture),
                  identity_column("precision", kText, "", "of the weights", kPrecision),
                  identity_column("compute_precision", kText, "", "what they are multiplied in", kCompute),
                  identity_column("batch", kReal, "", "sequences at a time", kBatch),
                  identity_column("prompt_tokens", kReal, "tokens", "of one prompt", kPromptTokens),
                  identity_column("output_tokens", kReal, "tokens", "of one answer", kOutputTokens),
                  identity_column("load", kText, "", "of a server: how requests came, and how long they were", kLoad),
                  {"revision", kText, "", "of the repository of the script",
                   [](const Row& row) {
                     const auto& repository = row.run.workload.repository;
                     return repository ? text(repository->revision) : Value();
                   }},
                  {"modified", kBoolean, "", "files of the repository differ from the revision", [](const Row& row) -> Value {
                     const auto& repository = row.run.workload.repository;
                     return repository && repository->modified ? Value(*repository->modified) : Value();
                   }}});
}

Value first_gpu(const Row& row, Value (*read)(const Device&)) {
  const auto& gpus = row.run.hardware.gpus;
  return gpus.empty() ? Value() : read(gpus.front());
}

void add_machine(std::vector<Column>& columns) {
  columns.insert(
      columns.end(),
      {{"hardware", kText, "", "what the run depends on: 2 x NVIDIA H200; the processor where no GPU worked",
        [](const Row& row) { return text(hardware_key(row.run)); }},
       {"gpu", kText, "", "name of the first GPU",
        [](const Row& row) { return first_gpu(row, [](const Device& gpu) { return text(gpu.name); }); }},
       {"gpus", kInteger, "", "how many GPUs were seen", [](const Row& row) { return positive(row.run.hardware.gpus.size()); }},
       {"gpu_memory_bytes", kInteger, "bytes", "memory of the first GPU",
        [](const Row& row) { return first_gpu(row, [](const Device& gpu) { return positive(gpu.memory_bytes); }); }},
       {"driver_version", kText, "", "of the GPUs", [](const Row& row) { return text(row.run.hardware.driver_version); }},
       {"cuda_driver_version", kText, "", "the CUDA that the driver supports",
        [](const Row& row) { return text(row.run.software.cuda_driver_version); }},
       {"cpu", kText, "", "model of the processor", [](const Row& row) { return text(row.run.hardware.cpu_model); }},
       {"cpu_cores", kInteger, "", "how many processors the system counts",
        [](const Row& row) { return positive(row.run.hardware.cpu_count); }},
       {"memory_bytes", kInteger, "bytes", "memory of the host", [](const Row& row) { return positive(row.run.hardware.memory_bytes); }},
       {"cpu_architecture", kText, "", "x86_64 and the like", [](const Row& row) { return text(row.run.hardware.architecture); }},
       {"os", kText, "", "operating system", [](const Row& row) { return text(row.run.software.os); }},
       {"nsys_version", kText, "", "null: not used", [](const Row& row) { return text(row.run.software.nsys_version); }},
       {"ncu_version", kText, "", "null: not used", [](const Row& row) { return text(row.run.software.ncu_version); }},
       {"backend", kText, "", "what ran the model: vllm, transformers and the like",
        [](const Row& row) { return text(row.run.software.backend.name()); }},
       version_column("python_version", "of the program", "python"),
       version_column("torch_version", "of the program", "torch"),
       version_column("cuda_runtime_version", "of the program", "cuda_runtime")});
}

void add_results(std::vector<Column>& columns) {
  columns.insert(
      columns.end(),
      {{"top_finding", kText, "", "rule of the first finding that asks for a change",
        [](const Row& row) { return text(row.run.summary.top_finding); }},
       {"findings", kInteger, "", "how many findings it has", [](const Row& row) { return count(row.run.findings.size()); }},
       {"problems", kInteger, "", "how many problems its capture had", [](const Row& row) { return count(row.run.problems.size()); }},
       {"gpu_busy_ns", kInteger, "ns", "a GPU works, over the whole capture; of several the mean",
        [](const Row& row) { return number(row.run.coverage.gpu_busy_ns); }},
       {"kernel_sum_ns", kInteger, "ns", "of all kernels, over the whole capture",
        [](const Row& row) { return number(row.run.coverage.kernel_sum_ns); }},
       {"in_stage_share", kReal, "of 1", "of the kernels' time: launched in a stage",
        [](const Row& row) { return number(row.run.coverage.in_stage_share); }},
       {"clock_error_ns", kInteger, "ns", "by which times of GPU and processor may differ at most",
        [](const Row& row) { return number(row.run.clock.error_ns); }}});
}

void each_run(const Run& run, const WorkloadIdentity& identity, const UseRow& use) { use({run, identity}); }

}  // namespace

Table runs_table() {
  std::vector<Column> columns;
  add_origin(columns);
  add_workload(columns);
  add_machine(columns);
  add_results(columns);
  add_figures(columns, RunMetricScope::kRun);
  return {"runs", "a run", std::move(columns), each_run};
}

}  // namespace nl::exporters::fact_tables
