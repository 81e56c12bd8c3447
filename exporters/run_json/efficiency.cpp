#include "exporters/run_json/parts.h"

namespace nl::exporters {

template <class Io>
void fields(Io& io, Ref<Io, DevicePeaks> p) {
  io("name", p.name, "as matched");
  io("source", p.source, "where they are from");
  io("derived", p.derived, "not from a table but from the device's clocks");
  io("flops_per_s", p.flops_per_s, "dense, by dtype: bf16, fp8, f32 …");
  io("bytes_per_s", p.bytes_per_s, "memory bandwidth; null: not known");
  io("notes", p.notes, "in words");
}

template <class Io>
void fields(Io& io, Ref<Io, WorkTerm> t) {
  io("name", t.name, "of the term");
  io("formula", t.formula, "with the numbers in it");
  io("flops", t.flops, "of one window");
  io("bytes", t.bytes, "of one window");
}

template <class Io>
void fields(Io& io, Ref<Io, StageEfficiency> e) {
  io("stage", e.stage, "name");
  io.known("dtype", e.dtype, "whose peak is used; null: not known");
  io("flops", e.flops, "of one window; a multiply-add is two");
  io("bytes", e.bytes, "read and written in one window, at least");
  io("flops_per_s", e.flops_per_s, "over the mean time of a window");
  io("mfu", e.mfu, "share of the peak FLOP/s over the time of a window");
  io("mbu", e.mbu, "share of the peak bandwidth");
  io("mfu_busy", e.mfu_busy, "over the GPU's compute time in the window only");
  io("mbu_busy", e.mbu_busy, "over the GPU's compute time in the window only");
  io("intensity", e.intensity, "FLOPs a byte");
  io("ideal_ns", e.ideal_ns, "the longer of FLOPs by peak and bytes by bandwidth, one window");
  io.code("limit", e.limit, "which of the two; null: not known", {Bound::kCompute, Bound::kMemory});
  io("terms", e.terms, "of one window");
  io("assumptions", e.assumptions, "in words");
  io.known("note", e.note, "why there is no number, and what would give one");
}

template <class Io>
void fields(Io& io, Ref<Io, RooflinePoint> p) {
  io("kernel", p.kernel, "name");
  io("stage", p.stage, "null: not known");
  io("ncu_id", p.ncu_id, "ncu's number of the launch");
  io("flops", p.flops, "counted by ncu");
  io("dram_bytes", p.dram_bytes, "read and written");
  io("duration_ns", p.duration_ns, "as ncu measured it");
  io("flops_per_s", p.flops_per_s, "achieved");
  io("intensity", p.intensity, "FLOPs a byte of DRAM traffic");
  io.known("precision", p.precision, "the one with the most FLOPs; null: not known");
  io("roof_flops_per_s", p.roof_flops_per_s, "at this intensity and precision; null: not known");
  io("roof_share", p.roof_share, "achieved by possible; null: not known");
  io.code("bound_by", p.bound_by, "null: not measured, or a draw");
  io.code("bound_memory", p.bound_memory, "where memory binds it: the busiest; null: not memory, or not measured");
  io("margin", p.margin, "percentage points that decide it; null: not known", kAnySign);
}

template <class Io>
void fields(Io& io, Ref<Io, Roofline> r) {
  io("points", r.points, "one launch that ncu measured each");
  io("notes", r.notes, "launches without FLOP counts, and the metrics that would give them");
}

template <class Io>
void efficiency_fields(Io& io, Ref<Io, Run> run) {
  io("peaks", run.peaks, "of the first GPU with kernels; null: not known");
  io("efficiency", run.efficiency, "how far from the limits, by stage");
  io("roofline", run.roofline, "achieved against possible, from ncu");
}

template void efficiency_fields(JsonWriter&, const Run&);
template void efficiency_fields(JsonReader&, Run&);
template void efficiency_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters
