#include "exporters/run_json/parts.h"

namespace nl::exporters {

template <class Io>
void fields(Io& io, Ref<Io, DevicePeaks> p) {
  io("name", p.name);
  io("source", p.source);
  io("derived", p.derived);
  io("flops_per_s", p.flops_per_s);
  io("bytes_per_s", p.bytes_per_s);
  io("notes", p.notes);
}

template <class Io>
void fields(Io& io, Ref<Io, WorkTerm> t) {
  io("name", t.name);
  io("formula", t.formula);
  io("flops", t.flops);
  io("bytes", t.bytes);
}

template <class Io>
void fields(Io& io, Ref<Io, StageEfficiency> e) {
  io("stage", e.stage);
  io.known("dtype", e.dtype);
  io("flops", e.flops);
  io("bytes", e.bytes);
  io("flops_per_s", e.flops_per_s);
  io("mfu", e.mfu);
  io("mbu", e.mbu);
  io("mfu_busy", e.mfu_busy);
  io("mbu_busy", e.mbu_busy);
  io("intensity", e.intensity);
  io("ideal_ns", e.ideal_ns);
  io("limit", e.limit);
  io("terms", e.terms);
  io("assumptions", e.assumptions);
  io.known("note", e.note);
}

template <class Io>
void fields(Io& io, Ref<Io, RooflinePoint> p) {
  io("kernel", p.kernel);
  io("stage", p.stage);
  io("ncu_id", p.ncu_id);
  io("flops", p.flops);
  io("dram_bytes", p.dram_bytes);
  io("duration_ns", p.duration_ns);
  io("flops_per_s", p.flops_per_s);
  io("intensity", p.intensity);
  io.known("precision", p.precision);
  io("roof_flops_per_s", p.roof_flops_per_s);
  io("roof_share", p.roof_share);
  io("bound_by", p.bound_by);
  io("margin", p.margin);
}

template <class Io>
void fields(Io& io, Ref<Io, Roofline> r) {
  io("points", r.points);
  io("notes", r.notes);
}

template <class Io>
void efficiency_fields(Io& io, Ref<Io, Run> run) {
  io("peaks", run.peaks);
  io("efficiency", run.efficiency);
  io("roofline", run.roofline);
}

template void efficiency_fields(JsonWriter&, const Run&);
template void efficiency_fields(JsonReader&, Run&);

}  // namespace nl::exporters
