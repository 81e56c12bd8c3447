#include "exporters/run_json/parts.h"

namespace nl::exporters {

void JsonWriter::put(const DamagedRows& damaged) {
  list(damaged, [this](const auto& each) { put(DamagedRow{each.first, each.second}); });
}

void JsonReader::get(DamagedRows& damaged) {
  if (older_ && here_->is_object()) {  // until format 2.1: sentence → rows
    for (const auto& [text, rows] : here_->items()) JsonReader(rows, *this, text.c_str()).get(damaged[{Code::kNote, {text}}]);
    return;
  }
  std::vector<DamagedRow> list;
  get(list);
  for (const DamagedRow& each : list) damaged[each.damage] += each.rows;
}

template <class Io>
void fields(Io& io, Ref<Io, CaptureDevice> d) {
  io("device", d.device, "GPU", kAnySign);
  io("pid", d.pid, "the process, a rank; 0: not known");
  io("busy_ns", d.busy_ns, "union of its kernels, copies and sets");
  io("kernel_sum_ns", d.kernel_sum_ns, "plain sum of its kernels");
  io("communication_ns", d.communication_ns, "communication while no compute kernel runs on this GPU");
  io("overlapped_communication_ns", d.overlapped_communication_ns, "communication while one does");
}

template <class Io>
void fields(Io& io, Ref<Io, Coverage> c) {
  io("gpu_busy_ns", c.gpu_busy_ns, "union of all work of a GPU in the capture, the mean over the GPUs with work; null: not captured");
  io("kernel_sum_ns", c.kernel_sum_ns, "time of all kernels; null: not captured");
  io("in_stage_share", c.in_stage_share, "of the kernel time, launched inside a stage", kFraction);
  io("unlinked_share", c.unlinked_share, "of the kernel time, without a launching call in the capture", kFraction);
  io("graph_only_share", c.graph_only_share, "of the GPU time, in graphs traced without their kernels", kFraction);
  io("graph_unjoined_share", c.graph_unjoined_share,
     "of the time of CUDA graphs' kernels and copies: where their nodes were captured is not known; null: there are none", kFraction);
  io("devices", c.devices, "by GPU and process");
}

template <class Io>
void fields(Io& io, Ref<Io, ClockFit> c) {
  io("error_ns", c.error_ns, "they are apart by at most this; null: not known");
  io("launch_slack_ns", c.launch_slack_ns, "least time from a launching call to its kernel; null: not known", kAnySign);
  io("wait_slack_ns", c.wait_slack_ns, "least time from a kernel's end to the return of a wait for it; null: not known", kAnySign);
  io.where(c.launch_slack_ns.has_value(), "contradictions", c.contradictions,
           "kernels that start before their launch or end after a wait for them has returned; null: not known");
  io.known("shortest_stage", c.shortest_stage, "by its median window; null: no stages");
  io("shortest_stage_ns", c.shortest_stage_ns, "that median");
  io("share_of_shortest_stage", c.share_of_shortest_stage, "error_ns of it");
}

template <class Io>
void fields(Io& io, Ref<Io, ImportStats> s) {
  io.code("source_format", s.source_format, "of the capture; null: not known");
  io.known("schema_version", s.schema_version, "of the export; null: not known");
  io.known("tool_version", s.tool_version, "that captured; null: not known");
  io("rows_read", s.rows_read, "table → rows");
  io("rows_damaged", s.rows_damaged, "by what is wrong with them");
  io("tables_absent", s.tables_absent, "looked for and not there");
  io("notes", s.notes, "what it met besides");
}

// Until format 2.1 an unprofiled pass was called bare.
template <class Io>
void pass_name(Io& io, Ref<Io, PassKind> kind) {
  if constexpr (std::is_same_v<Io, JsonReader>) {
    std::string name;
    io("name", name);
    if (name == "bare") {
      kind = PassKind::kUnprofiled;
      return;
    }
  }
  io.code("name", kind, "nsys, nsys-export, ncu, collector …");
}

template <class Io>
void fields(Io& io, Ref<Io, PassRecord> p) {
  pass_name(io, p.kind);
  io("argv", p.argv, "the argument vector");
  io("exit_status", p.exit_status, "128 + signal where a signal ended it; null: it did not run", kAnySign);
  io("duration_ns", p.duration_ns, "how long it took");
  io.code("outcome", p.outcome, "how it ended");
  io.known("detail", p.detail, "in words; null: not known");
  io("outputs", p.outputs, "relative to the bundle");
}

template <class Io>
void fields(Io& io, Ref<Io, Provenance> p) {
  std::string by = captured_by(p.tracer, p.meter);
  io.known(
      "captured_by", by,
      "nsys+ncu, nsys+CUPTI counters, nsys, collector (CUPTI+counters), collector (CUPTI), collector (NVTX only), import; null: not known");
  if constexpr (std::is_same_v<Io, JsonReader>) {
    const auto capture = capture_of(by);
    if (!capture) io.refuse("captured by nobody that is known, '" + by + "'");
    std::tie(p.tracer, p.meter) = *capture;
  }
  io("counters_missing", p.counters_missing, "why kernels or stages were not counted; null: they were, or nobody asked");
  io("passes", p.passes, "the processes that were started");
  io("adaptations", p.adaptations, "options left out or spelled otherwise, and why");
  io.known("workload_starts", p.workload_starts, "how often the plan starts the workload; null: it was captured elsewhere");
  io("expected_s", p.expected_s, "how long all of them take, judged by the first; null: none has ended");
  io("budget_s", p.budget_s, "for all passes; null: no limit");
  io.known("captured_at", p.captured_at, "when the trace began; RFC 3339, UTC; null: not known");
  io("inputs_sha256", p.inputs_sha256, "imported file → digest", matching("^[0-9a-f]{64}$"));
}

template <class Io>
void provenance_fields(Io& io, Ref<Io, Run> run) {
  io("coverage", run.coverage, "what of the GPU's time is explained, and what is not");
  io("clock", run.clock, "how well CPU and GPU times fit each other, from what the capture holds");
  io("import_stats", run.import_stats, "what the importer met");
  io("ncu_rows_damaged", run.ncu_rows_damaged, "likewise, of ncu's CSV");
  io("provenance", run.provenance, "how the numbers came about");
}

template void provenance_fields(JsonWriter&, const Run&);
template void provenance_fields(JsonReader&, Run&);
template void provenance_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters
