#include "exporters/run_json/parts.h"

namespace nl::exporters {

void fields(auto& io, Ref<decltype(io), TensorInfo> t) {
  io("name", t.name, "as the model has it");
  io("dtype", t.dtype, "as NumPy spells it");
  io("declared", t.declared, "the shape in the model, open dimensions by their names");
  io("shape", t.shape, "as it was run");
}

void fields(auto& io, Ref<decltype(io), SessionEntry> s) {
  io("backend", s.backend, "what ran the model: onnxruntime, libtorch, tensorrt");
  io.known("version", s.version, "of its library; null: not known");
  io("provider", s.provider, "cpu, cuda …");
  io.known("precision", s.precision, "that was asked for; null: as the model has it");
  io("model", s.model, "the file");
  io("inputs_from", s.inputs_from, "random with a seed, zeros, or a file");
  io("threads", s.threads, "of one operator; 0: as the backend chose");
  io("warmup", s.warmup, "iterations before the measured ones");
  io("load_ns", s.load_ns, "how long loading the model took");
  io("inputs", s.inputs, "what went in");
  io("outputs", s.outputs, "what came out");
  io("unprofiled", s.unprofiled, "iterations without a profiler of the backend's");
  io("profiled", s.profiled, "iterations in which each operator was recorded");
  io("slowdown", s.slowdown, "profiled to unprofiled, medians; 0.05: 5 % slower; null: not known", kAnySign);
  io("operators_ns", s.operators_ns, "of an iteration: all operators that no other one called, median; null: none recorded");
  io("operators_share", s.operators_share, "of an unprofiled iteration; null: not known");
  io("notes", s.notes, "outputs that are no numbers, and the like");
}

void fields(auto& io, Ref<decltype(io), OperatorShape> s) {
  io("text", s.text, "of the inputs");
  io("calls", s.calls, "how many");
  io("total_ns", s.total_ns, "host time");
  io("cuda_total_ns", s.cuda_total_ns, "GPU work launched inside; null: no GPU data");
  io.known("dtypes", s.dtypes, "of the inputs; null: not recorded");
}

void fields(auto& io, Ref<decltype(io), OperatorKernel> k) {
  io("name", k.name, "of the kernel");
  io("calls", k.calls, "launches");
  io("total_ns", k.total_ns, "GPU time");
}

void fields(auto& io, Ref<decltype(io), OperatorEntry> o) {
  io("name", o.name, "aten::mm, without running numbers and shapes");
  io.known("type", o.type,
           "of the node, where the source has one beside its name; else matmul, attention, norm … by its name; null: not known");
  io("calls", o.calls, "how many");
  io("host_time_known", o.host_time_known, "false: the source knows GPU time only");
  io.where(o.host_time_known, "total_ns", o.total_ns, "host time, with what was called inside; null: not known");
  io.where(o.host_time_known, "self_ns", o.self_ns, "host time, without; only this may be summed");
  io("cuda_total_ns", o.cuda_total_ns, "GPU work launched inside; null: no GPU data");
  io("cuda_self_ns", o.cuda_self_ns, "of it, launched by this operator itself; null: no GPU data");
  io("shapes", o.shapes, "those with the most time first");
  io("kernels", o.kernels, "launched inside, most time first");
  io.pairs("stages", o.stages, "stage", "self_ns", "by stage");
}

void fields(auto& io, Ref<decltype(io), OperatorTable> t) {
  io("source", t.source, "pytorch ranges, NVTX ranges, kineto, onnxruntime, trtexec");
  io.known("file", t.file, "imported from; null: the capture itself");
  io("cuda_ns", t.cuda_ns, "GPU time of all operators, each kernel once; null: no GPU data");
  io("gpu_share", t.gpu_share, "of the capture's kernel and copy time: inside an operator; null: not known", kFraction);
  io("graph_unjoined_share", t.graph_unjoined_share,
     "of the time of CUDA graphs' kernels and copies: not joined to where their nodes were captured; null: there are none", kFraction);
  io("scaled", t.scaled,
     "from an operator pass: calls and GPU times are scaled to the capture, and gpu_share is of the stages that it has");
  io.known("note", t.note, "what the reader should know of this source; null: nothing");
  io("entries_left_out", t.entries_left_out, "operators that are not listed");
  io("ranges_left_out", t.ranges_left_out, "never closed, or closed by another thread");
  io("entries", t.entries, "most self time first");
}

void fields(auto& io, Ref<decltype(io), OperatorTimes> t) {
  io("count", t.count, "iterations");
  io("total_ns", t.total_ns, "of all together");
  io("median_ns", t.median_ns, "the mean of the two middle values where their number is even");
  io("min_ns", t.min_ns, "shortest; null: not known");
  io("p10_ns", t.p10_ns, "10th percentile, nearest rank; null: not known");
  io("p90_ns", t.p90_ns, "90th percentile, nearest rank; null: not known");
  io("max_ns", t.max_ns, "longest; null: not known");
}

void fields(auto& io, Ref<decltype(io), OperatorCall> c) {
  io("op_index", c.index, "in the step");
  io("op_name", c.name, "in the backend's words: aten::mm, MatMul, gemm");
  io.code("op_type", c.type, "matmul, attention, norm …");
  io("depth", c.depth, "how many operators are around it");
  io.known("shapes", c.shapes, "of the inputs; null: not recorded");
  io.known("dtypes", c.dtypes, "of the inputs; null: not recorded");
  io.known("layer", c.layer, "the innermost module around it; null: none");
  io.known("line", c.line, "of the program; null: not recorded");
  io("host_ns", c.host_ns, "with what was called inside, of several iterations the median; 0: replayed by a CUDA graph; null: not known");
  io("gpu_ns", c.gpu_ns, "of the kernels that it launched itself, as long as they take in the main trace; null: no GPU data");
  io("gpu_recorded_ns", c.gpu_recorded_ns, "as long as they took where operators were recorded; null: no GPU data");
  io("kernels", c.kernels, "launched by itself, most time first");
  io.known("node", c.node, "its own name in the model: /block/MatMul; null: it has none");
  io("node_index", c.node_index, "as the backend numbers its nodes; null: it does not");
  io.known("provider", c.provider, "execution provider or device that ran it; null: not known");
  io("holds", c.holds, "nodes of the model file that were fused into it");
  io.known("output_shapes", c.output_shapes, "null: not recorded");
  io.known("output_dtypes", c.output_dtypes, "null: not recorded");
  io("executions", c.executions, "in one iteration; more than one inside a loop: the times are then of all of them");
  io("host_times", c.host_times, "host time over the iterations; null: not known, or there is one");
  io("gpu_times", c.gpu_times, "GPU time over the iterations, where operators were recorded; null: not known, or there is one");
}

void fields(auto& io, Ref<decltype(io), OperatorStep> s) {
  io("stage", s.stage, "prefill, decode_step …");
  io("source", s.source, "as of the operator tables");
  io("window", s.window, "which of the stage's windows, from 0");
  io("windows", s.windows, "of the stage with operators, of which it is the median");
  io("calls", s.calls, "in order");
  io("calls_left_out", s.calls_left_out, "not listed");
  io("gpu_outside_ns", s.gpu_outside_ns, "of the window's GPU time: launched by no operator; null: no GPU data");
  io.known("file", s.file, "imported from; null: the capture itself");
  io("iterations", s.iterations, "with the same operators: host_times and gpu_times are over them");
  io("wall_ns", s.wall_ns, "of an iteration, the median of them; null: not known");
  io("unprofiled_wall_ns", s.unprofiled_wall_ns, "of an iteration in which no operator was timed, the median; null: not known");
  io("threads", s.threads, "that the backend computes with; null: not known");
  io("idle_threads", s.idle_threads, "of them, those that did nothing; null: not known");
}

void fields(auto& io, Ref<decltype(io), LayerEntry> l) {
  io("name", l.name, "model.layers.3.mlp");
  io.known("type", l.type, "LlamaMLP …; null: not known");
  io("depth", l.depth, "in the module tree");
  io("calls", l.calls, "how many");
  io("total_ns", l.total_ns, "host time, with what was called inside");
  io("self_ns", l.self_ns, "host time, without");
  io("cuda_total_ns", l.cuda_total_ns, "GPU work launched inside; null: no GPU data");
  io("cuda_self_ns", l.cuda_self_ns, "of it, launched by this module itself; null: no GPU data");
  io("kernels", l.kernels, "launched inside, most time first");
}

void operator_fields(auto& io, Ref<decltype(io), Run> run) {
  io("session", run.session, "the model file that a backend ran; null: there was a command");
  io("operators", run.operators, "one table per source");
  io.known("operators_note", run.operators_note, "why there are none; null: there are");
  io("operator_steps", run.operator_steps, "one step of each stage, or one iteration of a model that was run, operator by operator");
  io("layers", run.layers, "modules of the model, from ranges of the domain LLM.layers");
  io.known("layers_note", run.layers_note, "why there are none; null: there are");
}

template void operator_fields(JsonWriter&, const Run&);
template void operator_fields(JsonReader&, Run&);
template void operator_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters
