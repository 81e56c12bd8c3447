#include "exporters/run_json/parts.h"

namespace nl::exporters {

template <class Io>
void fields(Io& io, Ref<Io, TensorInfo> t) {
  io("name", t.name, "as the model has it");
  io("dtype", t.dtype, "as NumPy spells it");
  io("declared", t.declared, "the shape in the model, open dimensions by their names");
  io("shape", t.shape, "as it was run");
}

template <class Io>
void fields(Io& io, Ref<Io, SessionEntry> s) {
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

template <class Io>
void session_fields(Io& io, Ref<Io, Run> run) {
  io("session", run.session, "the model file that a backend ran; null: there was a command");
}

template void session_fields(JsonWriter&, const Run&);
template void session_fields(JsonReader&, Run&);
template void session_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters
