#include "exporters/run_json/parts.h"

namespace nl::exporters {

void fields(auto& io, Ref<decltype(io), Device> d) {
  io("id", d.id, "the number that kernels[].device refers to", kAnySign);
  io.known("name", d.name, "as the driver names it; null: not known");
  io.known("uuid", d.uuid, "UUID; null: not known");
  io.known("bus", d.bus, "PCI address; null: not known");
  io.known("chip", d.chip, "GH100 …; null: not known");
  io.known("sm_count", d.sm_count, "streaming multiprocessors");
  io.known("clock_hz", d.clock_hz, "SM clock");
  io.known("memory_bytes", d.memory_bytes, "device memory");
  io.known("bandwidth_bytes_per_s", d.bandwidth_bytes_per_s, "memory bandwidth");
  io.known("l2_bytes", d.l2_bytes, "L2 cache");
  io.known("compute_major", d.compute_major, "compute capability");
  io.where(d.compute_major != 0, "compute_minor", d.compute_minor, "compute capability");
}

void fields(auto& io, Ref<decltype(io), Hardware> h) {
  io("gpus", h.gpus, "the GPUs of the capture");
  io.known("driver_version", h.driver_version, "of the NVIDIA driver; null: not known");
  io.known("cpu_model", h.cpu_model, "CPU; null: not known");
  io.known("cpu_count", h.cpu_count, "logical CPUs");
  io.known("memory_bytes", h.memory_bytes, "main memory");
  io.known("architecture", h.architecture, "x86_64, aarch64 …; null: not known");
}

void backend_fields(auto& io, Ref<decltype(io), NamedBackend> b) {
  if constexpr (reads<decltype(io)>)
    if (!io.has("backend_text")) {  // until format 3.5 any text
      std::string text;
      io.known("backend", text);
      b = text;
      return;
    }
  io.code("backend", b.code, "what ran the model; other: backend_text says it; null: not known");
  io.known("backend_text", b.text, "as the process calls it, where backend is other; null: backend says it");
}

void fields(auto& io, Ref<decltype(io), Software> s) {
  io.known("nl_stage_version", s.nl_stage_version, "that wrote this file; null: not known");
  io.known("os", s.os, "operating system; null: not known");
  io.known("kernel", s.kernel, "kernel release; null: not known");
  io.known("cuda_driver_version", s.cuda_driver_version, "the newest CUDA that the driver supports; null: not known");
  io.known("nsys_version", s.nsys_version, "Nsight Systems; null: not known");
  io.known("ncu_version", s.ncu_version, "Nsight Compute; null: not known");
  backend_fields(io, s.backend);
  io("versions", s.versions, "of the workload's process: python, torch, cuda_runtime …; empty: not known");
}

void precision_fields(auto& io, Ref<decltype(io), ModelInfo> m) {
  if constexpr (reads<decltype(io)>)
    if (io.has("precision")) {  // until format 3.5 words alone
      io.known("precision", m.precision);
      return;
    }
  io.code("weights_precision", m.weights_precision, "what the weights are stored in; null: not known");
  io.code("compute_precision", m.compute_precision, "what they are multiplied in; null: not known");
  io.known("precision_text", m.precision, "both in words: bf16; int4 weights (gptq), bf16 compute …; null: not known");
}

void fields(auto& io, Ref<decltype(io), ModelInfo> m) {
  io.known("name", m.name, "of the model; null: not known");
  precision_fields(io, m);
  io.known("digest", m.digest, "of a model file and the files of its weights; sha256-sampled: of parts of a large one; null: not known");
  io("dtypes", m.dtypes, "of the weights of a model file, as NumPy spells them, most bytes first");
  io("attributes", m.attributes, "architecture, dtype, layers … as configured, or as the process noted them");
  if constexpr (reads<decltype(io)>)
    if (io.has("precision")) find_precisions(m);
}

void fields(auto& io, Ref<decltype(io), Repository> r) {
  io("path", r.path, "its folder");
  io.known("revision", r.revision, "the commit that was checked out; null: none yet, or not known");
  io("modified", r.modified, "files that git tracks differed from it; null: not known");
}

// Beside the other fields of the workload, as they were before they had a struct of their own.
void verdict_fields(auto& io, Ref<decltype(io), WorkloadVerdict> v) {
  io.code("kind", v.kind, "what the program does again and again");
  io("kind_confidence", v.confidence, "that it is of this kind, 0 to 1; 0: not known");
  io("kind_witnesses", v.witnesses, "how the kind is known");
  io.known("unit_stage", v.unit_stage, "the stage whose windows are its units of work; null: nothing repeats");
}

void fields(auto& io, Ref<decltype(io), Workload> w) {
  io("command", w.command, "the argument vector; empty for imported captures");
  io.known("working_directory", w.working_directory, "where it was started; null: not known");
  io("exit_status", w.exit_status, "of the first pass; null: not known", kAnySign);
  io("repository", w.repository, "the git repository of its script, or of where it was started; null: none");
  verdict_fields(io, w.verdict);
}

void origin_fields(auto& io, Ref<decltype(io), Run> run) {
  io("problems", run.problems, "what is missing or went wrong");
  io("name", run.name, "as configured");
  io("mode", run.mode, "which passes there were; import: it was captured elsewhere", matching("^(deep|light|import)$"));
  io("hardware", run.hardware, "the machine that the workload ran on");
  io("software", run.software, "what ran on it");
  io("model", run.model, "the model that the workload ran");
  io("workload", run.workload, "the program that was profiled");
}

template void origin_fields(JsonWriter&, const Run&);
template void origin_fields(JsonReader&, Run&);
template void origin_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters
