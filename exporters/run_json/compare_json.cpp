#include "exporters/run_json/run_json.h"
#include "exporters/run_json/schema_writer.h"
#include "exporters/run_json/step_fields.h"
#include "exporters/run_json/writer.h"
#include "model/comparison.h"

namespace nl::exporters {

void fields(auto& io, Ref<decltype(io), ComparedRun> r) {
  io("run_id", r.run_id, "as in its run.json");
  io("name", r.name, "likewise");
  io.known("captured_at", r.captured_at, "RFC 3339, UTC; null: not known");
  io.known("place", r.place, "in the order of capture over both sides, from 1; null: not known");
  io("left_out", r.left_out, "its GPU was throttled");
  io("given", r.given, "so often, as a folder, a file, a copy or a name; it counts once", kFromOne);
}

void fields(auto& io, Ref<decltype(io), CompareSide> s) {
  io("runs", s.runs, "in the order in which they were given");
  io("median_step", s.median_step, "the one of middle length of those of its runs, as run.json has it; null: none has one");
}

void fields(auto& io, Ref<decltype(io), Difference> d) {
  io.code("code", d.code, "what differs");
  io.code("severity", d.severity, "high: not comparable unless forced");
  io.known("subject", d.subject, "name of a version, or a stage; null: the code says it all");
  io.known("a", d.a, "null: not known");
  io.known("b", d.b, "null: not known");
}

void fields(auto& io, Ref<decltype(io), Comparability> c) {
  io("score", c.score, "1: nothing differs that should not", kFraction);
  io("refused", c.refused, "not comparable: there are no lines and no verdict");
  io("forced", c.forced, "not comparable, and compared because that was asked for");
  io("differences", c.differences, "the gravest first");
}

void fields(auto& io, Ref<decltype(io), CompareEstimate> e) {
  io("median", e.median, "over the runs; of one run over its windows", kAnySign);
  io("low", e.low, "95 % interval; null: not tested", kAnySign);
  io("high", e.high, "likewise", kAnySign);
  io("samples", e.samples, "runs; of one run its windows");
}

void fields(auto& io, Ref<decltype(io), CompareChange> c) {
  const auto relative = [](const std::optional<double>& log) { return log ? std::optional(CompareChange::relative(*log)) : std::nullopt; };
  io("relative", CompareChange::relative(c.log_ratio), "0.03: B is 3 % more than A", kAnySign);
  io("relative_low", relative(c.low), "the interval that decides; null: not tested", kAnySign);
  io("relative_high", relative(c.high), "likewise", kAnySign);
  io("confidence", c.confidence, "of the interval: 0.95, more for a line that is told among many; null: not tested", kFraction);
  io("log_ratio", c.log_ratio, "natural logarithm of B to A: A and B swapped only turn the sign", kAnySign);
}

void fields(auto& io, Ref<decltype(io), CompareLine> l) {
  io("key", l.key, "of its subject: a stage, a bin, an operator, a metric");
  io.known("stage", l.stage, "that it lies in; null: the whole run");
  io.known("kernel", l.kernel, "that a counter is of; null: none");
  io.code("figure", l.figure, "what is compared");
  io.code("unit", l.unit, "of the medians; empty: a share or a count");
  io.code("better", l.better, "which way it improves");
  io("a", l.a, "null: that side has none");
  io("b", l.b, "likewise");
  io("change", l.change, "null: not on both sides, or zero on one");
  io("p_value", l.p_value, "that chance alone gives the difference; decides nothing; null: not tested", kFraction);
  io("q_value", l.q_value, "of all lines that were tested together, by Benjamini and Hochberg", kFraction);
  io.code("verdict", l.verdict, "of this line");
  io.code("reason", l.reason, "why");
  io("runs_to_decide", l.runs_to_decide, "a side, captured in turns; null: decided, or more than 1000");
}

void fields(auto& io, Ref<decltype(io), CompareWander> w) {
  io.code("source", w.source, "of how much runs of one build differ: these runs, those of the ledger, or a stated figure");
  io("spread", w.spread, "relative standard deviation; null: each line has its own, of these runs");
  io("runs", w.runs, "of the ledger");
}

void fields(auto& io, Ref<decltype(io), CompareSection> s) {
  io.where(!s.missing, "lines", s.lines, "the largest difference first; null: missing says why");
  io.code("missing", s.missing, "why there are none; null: there are");
  io.code("note", s.note, "what holds for all of them; null: nothing");
}

void fields(auto& io, Ref<decltype(io), ComparedKernel> k) {
  io("name", k.name, "as in run.json");
  io("short_name", k.short_name, "without template and call arguments");
  io("calls", k.calls, "in a window of the stage, mean over the runs");
  io("time_ns", k.time_ns, "likewise");
}

void fields(auto& io, Ref<decltype(io), KernelPair> p) {
  io("a", p.a, "several where they were fused");
  io("b", p.b, "several where they were split");
  io.code("paired_by", p.paired_by, "the surest way that found them; null: no partner");
  io.code("relation", p.relation, "of B's to A's");
  io("fit_for_tuning", p.fit_for_tuning, "false: do not tune one by the other's figures");
  io("line", p.line, "of their time in a window together");
}

void fields(auto& io, Ref<decltype(io), StageKernels> s) {
  io("stage", s.stage, "that launches them");
  io("entered", s.entered, "the stage changed: its kernels were tested");
  io.code("why_not", s.why_not, "its stage did not change, or is undecided; null: entered");
  io("paired_share_a", s.paired_share_a, "of A's kernel time in the stage: in pairs");
  io("paired_share_b", s.paired_share_b, "likewise of B's");
  io("pairs", s.pairs, "the largest difference in time first");
}

void fields(auto& io, Ref<decltype(io), WaterfallRow> r) {
  io.code("part", r.part, "kernels, the other kernels together, or a bin of the budget");
  io.known("key", r.key, "name of the kernel or key of the bin; null: the other kernels");
  io.code("relation", r.relation, "of kernels");
  io("a_ns", r.a_ns, "in one window of A", kAnySign);
  io("b_ns", r.b_ns, "in one window of B", kAnySign);
}

void fields(auto& io, Ref<decltype(io), Waterfall> w) {
  io("stage", w.stage, "whose window it explains");
  io("a_ns", w.a_ns, "mean window of A: the sum of the rows' a_ns");
  io("b_ns", w.b_ns, "mean window of B: the sum of the rows' b_ns");
  io("rows", w.rows, "kernels first, then the bins");
}

void fields(auto& io, Ref<decltype(io), Comparison> c) {
  io("schema_version", c.schema_version, "of this format", matching("^2\\.[0-9]+\\.[0-9]+$"));
  io.code("verdict", c.verdict, "of the whole, by its main stage");
  io.code("reason", c.reason, "why");
  io.known("main_stage", c.main_stage, "that the verdict is about; null: none");
  io.code("basis", c.basis, "what the verdicts rest on");
  io.code("order", c.order, "in which the sides were captured");
  io("wander", c.wander, "how much runs of one build differ from each other");
  io("drift_per_run", c.drift_per_run, "relative, of the main stage; null: not looked at", kAnySign);
  io("drift_significant", c.drift_significant, "the runs drift over time");
  io("a", c.a, "the runs of side A");
  io("b", c.b, "the runs of side B");
  io("comparability", c.comparability, "what the sides should have in common");
  io("waterfall", c.waterfall, "from A's window to B's; null: no budgets");
  io("headline", c.headline, "latency and rate");
  io("stages", c.stages, "times of windows");
  io("budget", c.budget, "where a window's time goes");
  io("kernels", c.kernels, "by stage");
  io.code("kernels_missing", c.kernels_missing, "why there are none; null: there are");
  io("operators", c.operators, "own times");
  io("layers", c.layers, "own times");
  io("api", c.api, "CUDA calls");
  io("nsys_counters", c.nsys_counters, "of stages, sampled over time");
  io("ncu_counters", c.ncu_counters, "of stages and kernels, counted by ncu or CUPTI");
  io("efficiency", c.efficiency, "MFU and MBU");
  io("energy", c.energy, "by stage");
  io("host_code", c.host_code, "what the host did while the GPU waited");
}

std::string comparison_to_json(const Comparison& comparison) { return json_text(comparison); }

std::string comparison_schema() {
  return schema_text<Comparison>(
      "compare.json of nl-stage",
      "Runs of side A against runs of side B. Times are nanoseconds. null is \"not captured\" or \"not known\", never zero.");
}

}  // namespace nl::exporters
