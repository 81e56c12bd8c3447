#include "exporters/run_json/parts.h"

namespace nl::exporters {
namespace {

// Until format 2.1 a pass without a profiler was called bare.
PassKind pass_named(const JsonReader& io, const std::string& name) {
  if (name == "bare") return PassKind::kUnprofiled;
  const auto kind = from_key<PassKind>(name);
  if (!kind) io.refuse("an unknown pass, '" + name + "'");
  return *kind;
}

PassOutcome outcome_named(const JsonReader& io, const std::string& name) {
  const auto outcome = from_key<PassOutcome>(name);
  if (!outcome) io.refuse("an unknown outcome, '" + name + "'");
  return *outcome;
}

}  // namespace

template <class Io>
void fields(Io& io, Ref<Io, Coverage> c) {
  io("gpu_busy_ns", c.gpu_busy_ns);
  io("kernel_sum_ns", c.kernel_sum_ns);
  io("in_stage_share", c.in_stage_share);
  io("unlinked_share", c.unlinked_share);
  io("graph_only_share", c.graph_only_share);
}

template <class Io>
void fields(Io& io, Ref<Io, ClockFit> c) {
  io("error_ns", c.error_ns);
  io("launch_slack_ns", c.launch_slack_ns);
  io("wait_slack_ns", c.wait_slack_ns);
  io.where(c.launch_slack_ns.has_value(), "contradictions", c.contradictions);
  io.known("shortest_stage", c.shortest_stage);
  io("shortest_stage_ns", c.shortest_stage_ns);
  io("share_of_shortest_stage", c.share_of_shortest_stage);
}

template <class Io>
void fields(Io& io, Ref<Io, ImportStats> s) {
  io.known("source_format", s.source_format);
  io.known("schema_version", s.schema_version);
  io.known("tool_version", s.tool_version);
  io("rows_read", s.rows_read);
  io("rows_damaged", s.rows_damaged);
  io("tables_absent", s.tables_absent);
  io("notes", s.notes);
}

template <class Io>
void fields(Io& io, Ref<Io, PassRecord> p) {
  std::string name(key_of(p.kind)), outcome(key_of(p.outcome));
  io("name", name);
  io("argv", p.argv);
  io("exit_status", p.exit_status);
  io("duration_ns", p.duration_ns);
  io("outcome", outcome);
  if constexpr (std::is_same_v<Io, JsonReader>) {
    p.kind = pass_named(io, name);
    p.outcome = outcome_named(io, outcome);
  }
  io.known("detail", p.detail);
  io("outputs", p.outputs);
}

template <class Io>
void fields(Io& io, Ref<Io, Provenance> p) {
  std::string by = captured_by(p.tracer, p.meter);
  io.known("captured_by", by);
  if constexpr (std::is_same_v<Io, JsonReader>) {
    const auto capture = capture_of(by);
    if (!capture) io.refuse("captured by nobody that is known, '" + by + "'");
    std::tie(p.tracer, p.meter) = *capture;
  }
  io("counters_missing", p.counters_missing);
  io("passes", p.passes);
  io("adaptations", p.adaptations);
  io("inputs_sha256", p.inputs_sha256);
}

template <class Io>
void provenance_fields(Io& io, Ref<Io, Run> run) {
  io("coverage", run.coverage);
  io("clock", run.clock);
  io("import_stats", run.import_stats);
  io("ncu_rows_damaged", run.ncu_rows_damaged);
  io("provenance", run.provenance);
}

template void provenance_fields(JsonWriter&, const Run&);
template void provenance_fields(JsonReader&, Run&);

}  // namespace nl::exporters
