#include "exporters/run_json/parts.h"

namespace nl::exporters {

void fields(auto& io, Ref<decltype(io), DevicePeaks> p) {
  io("name", p.name, "as matched");
  io("source", p.source, "where they are from");
  io("derived", p.derived, "not from a table but from the device's clocks");
  io("flops_per_s", p.flops_per_s, "dense, by dtype: bf16, fp8, f32 …");
  io("bytes_per_s", p.bytes_per_s, "memory bandwidth; null: not known");
  io("notes", p.notes, "in words");
}

void fields(auto& io, Ref<decltype(io), WorkTerm> t) {
  io("name", t.name, "of the term");
  io("formula", t.formula, "with the numbers in it");
  io("flops", t.flops, "of one window");
  io("bytes", t.bytes, "of one window");
}

void fields(auto& io, Ref<decltype(io), StageEfficiency> e) {
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

void fields(auto& io, Ref<decltype(io), RooflinePoint> p) {
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

void fields(auto& io, Ref<decltype(io), Roofline> r) {
  io("points", r.points, "one launch that ncu measured each");
  io("notes", r.notes, "launches without FLOP counts, and the metrics that would give them");
}

void fields(auto& io, Ref<decltype(io), FindingEvidence> e) {
  io("text", e.text, "in words");
  io("held", e.held, "false: looked at, and speaks against it");
  io("known", e.known, "false: could not be looked at, not captured");
  io.known("reference", e.reference, "a JSON pointer into this file; null: none");
  io("window_start_ns", e.window_start_ns, "where in the trace to look; null: nowhere in particular", kAnySign);
  io("window_end_ns", e.window_end_ns, "its end", kAnySign);
}

void fields(auto& io, Ref<decltype(io), Prediction> p) {
  io("changes", p.changes, "as arguments of nl-stage whatif, made together");
  io("stage", p.stage, "whose windows are predicted");
  io("measured_ns", p.measured_ns, "the median window");
  io("unperturbed_ns", p.unperturbed_ns, "the same without the tracer's part; what is predicted is compared with it");
  const bool predicted = p.predicted_ns > 0;
  io.where(predicted, "predicted_ns", p.predicted_ns, "a window after the changes; null: refused");
  io.where(predicted, "low_ns", p.low_ns, "the interval's lower end; null: refused");
  io.where(predicted, "high_ns", p.high_ns, "the interval's upper end; null: refused");
  if constexpr (reads<decltype(io)>) io.code("binds", p.binds);
  else io.code("binds", predicted ? std::optional(p.binds) : std::nullopt, "what most of a window goes to then; null: refused");
  io("ceiling", p.ceiling, "a bound of what is possible: predicted_ns is the least that it may take");
  io.codes("assumptions", p.assumptions, "what the prediction takes for granted");
  io.code("refused", p.refused, "why there is no prediction; null: there is one");
}

void fields(auto& io, Ref<decltype(io), StripPart> p) {
  io("start_ns", p.start_ns, "since the window's begin");
  io("end_ns", p.end_ns, "since the window's begin");
  io.code("kind", p.what, "what the time goes to");
}

void fields(auto& io, Ref<decltype(io), WindowStrip> s) {
  io("length_ns", s.length_ns, "of the window");
  io("host", s.host, "its thread: code, launches, waits");
  io("gpu", s.gpu, "while work runs on a GPU of its process; short pieces and pauses by their shares");
}

// Its name is the run's.
void fields(auto& io, Ref<decltype(io), WhatIf> w) {
  io("stage", w.stage, "the unit of what the program does");
  io("replay_error", w.replay_error, "how far the replay of what was measured is off, as a share");
  io.code("binds", w.binds, "what most of a window goes to");
  io("unprofiled_ns", w.unprofiled_ns, "the median window of passes without a tracer; null: none");
  io("predictions", w.predictions, "of each change that applies, the largest saving first");
  io("sequence", w.sequence, "the best change, then the best on top of it; each has all changes up to it");
  io("stages", w.stages, "each stage as it is, without the tracer's part");
  io("now", w.now, "a window of median length as captured, without the tracer's part; null: not drawn");
  io("then", w.then, "the same window after the sequence; null: not drawn");
}

void fields(auto& io, Ref<decltype(io), Finding> f) {
  io("rule", f.rule, "its name");
  io.code("scope", f.scope, "what it is about");
  io.known("subject", f.subject, "the stage's, kernel's or operator's name; null: the run");
  io.code("about", f.about, "what it would change");
  io.known("cause", f.cause, "findings with the same one have it in common; null: none is known");
  io.known("same_cause_as", f.same_cause_as, "the rule of the finding that is worth the most of them; null: this one");
  io.known("part_of", f.part_of, "a JSON pointer to that finding; null: this one, or not known, before 3.4");
  io.code("severity", f.severity, "how much it matters");
  io("confidence", f.confidence, "weight of the evidence that holds by that of all that was asked for", kFraction);
  io("message", f.message, "what was found");
  io.known("plain", f.plain, "the same in everyday words; null: the rule has no such sentence");
  io.known("action", f.action, "what to do about it, in everyday words; null: the rule has no such sentence, suggestions have it");
  io("evidence", f.evidence, "for and against");
  io("suggestions", f.suggestions, "what to try");
  io("gain_ns", f.gain_ns, "at most this much of the run's measured time; null: not computed");
  io("gain_share", f.gain_share, "of the measured span; null: not computed", kFraction);
  io("gain_per_window_ns", f.gain_per_window_ns, "of one window of the stage; null: not computed");
  io("gain_per_token_ns", f.gain_per_token_ns, "of one generated token of a sequence; null: not computed");
  io("gain_unprofiled", f.gain_unprofiled, "these two are without the time that profiling adds");
  io.known("gain_note", f.gain_note, "what the figure assumes, or why there is none");
  io("prediction", f.prediction, "of the change that the rule names, by a replay; the gain is what it predicts then; null: none");
}

void fields(auto& io, Ref<decltype(io), Abstention> a) {
  io("rule", a.rule, "its name");
  io.code("scope", a.scope, "what it is about");
  io("missing", a.missing, "fields that were not captured");
  io.known("why", a.why, "what that is, in words");
  io.known("command", a.command, "what would capture them; null: not known");
}

void finding_fields(auto& io, Ref<decltype(io), Run> run) {
  io("peaks", run.peaks, "of the first GPU with kernels; null: not known");
  io("efficiency", run.efficiency, "how far from the limits, by stage");
  io("roofline", run.roofline, "achieved against possible, from ncu");
  io("findings", run.findings, "what is worth the most first; those about the measurement last");
  io("abstentions", run.abstentions, "rules that could not be judged");
  io("what_if", run.what_if, "what changes would bring, by a replay of the trace; null: nothing can be replayed");
}

template void finding_fields(JsonWriter&, const Run&);
template void finding_fields(JsonReader&, Run&);
template void finding_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters
