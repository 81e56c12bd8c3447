#include "exporters/run_json/parts.h"

namespace nl::exporters {

template <class Io>
void fields(Io& io, Ref<Io, OperatorShape> s) {
  io("text", s.text);
  io("calls", s.calls);
  io("total_ns", s.total_ns);
  io("cuda_total_ns", s.cuda_total_ns);
}

template <class Io>
void fields(Io& io, Ref<Io, OperatorKernel> k) {
  io("name", k.name);
  io("calls", k.calls);
  io("total_ns", k.total_ns);
}

template <class Io>
void fields(Io& io, Ref<Io, OperatorEntry> o) {
  io("name", o.name);
  io.known("type", o.type);
  io("calls", o.calls);
  io("host_time_known", o.host_time_known);
  io.where(o.host_time_known, "total_ns", o.total_ns);
  io.where(o.host_time_known, "self_ns", o.self_ns);
  io("cuda_total_ns", o.cuda_total_ns);
  io("cuda_self_ns", o.cuda_self_ns);
  io("shapes", o.shapes);
  io("kernels", o.kernels);
  io.pairs("stages", o.stages, "stage", "self_ns");
}

template <class Io>
void fields(Io& io, Ref<Io, OperatorTable> t) {
  io("source", t.source);
  io.known("file", t.file);
  io("cuda_ns", t.cuda_ns);
  io("gpu_share", t.gpu_share);
  io.known("note", t.note);
  io("entries_left_out", t.entries_left_out);
  io("ranges_left_out", t.ranges_left_out);
  io("entries", t.entries);
}

template <class Io>
void fields(Io& io, Ref<Io, LayerEntry> l) {
  io("name", l.name);
  io.known("type", l.type);
  io("depth", l.depth);
  io("calls", l.calls);
  io("total_ns", l.total_ns);
  io("self_ns", l.self_ns);
  io("cuda_total_ns", l.cuda_total_ns);
  io("cuda_self_ns", l.cuda_self_ns);
  io("kernels", l.kernels);
}

template <class Io>
void operator_fields(Io& io, Ref<Io, Run> run) {
  io("operators", run.operators);
  io.known("operators_note", run.operators_note);
  io("layers", run.layers);
  io.known("layers_note", run.layers_note);
}

template void operator_fields(JsonWriter&, const Run&);
template void operator_fields(JsonReader&, Run&);

}  // namespace nl::exporters
