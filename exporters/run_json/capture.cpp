#include "exporters/run_json/parts.h"

namespace nl::exporters {

// Until format 3.5 the limit was 10 %, and the words named it.
void read_slowdown_verdict(auto& io, StageSlowdown& s) {
  std::string word;
  io.known("verdict", word);
  if (word == "under 10 %") s.verdict = SlowdownVerdict::kUnderLimit;
  else if (word == "over 10 %") s.verdict = SlowdownVerdict::kOverLimit;
  else io.code("verdict", s.verdict);
}

void fields(auto& io, Ref<decltype(io), StageSlowdown> s) {
  io.code("profiler", s.profiler, "whose passes are compared with unprofiled ones",
          {PassKind::kNsys, PassKind::kCollector, PassKind::kNcu});
  io("stage", s.stage, "name");
  io("bare_ns", s.bare_ns,
     "the median window of each unprofiled pass; with capture.duty of the untraced windows beside each row of traced ones");
  io("profiled_ns", s.profiled_ns, "of each profiled pass; with capture.duty of each such row");
  io("slowdown", s.slowdown, "0.07: 7 % slower; null: not known", kAnySign);
  io("low", s.low, "95 % interval of it", kAnySign);
  io("high", s.high, "95 % interval of it", kAnySign);
  if constexpr (requires { io.has("verdict"); }) read_slowdown_verdict(io, s);
  else io.code("verdict", s.verdict, "whether profiling slowed the stage by more than the limit");
  io.known("summary", s.summary, "in one sentence");
  io.known("note", s.note, "why there is no number");
}

void fields(auto& io, Ref<decltype(io), TracingCost> c) {
  io.code("profiler", c.profiler, "the tracer", {PassKind::kNsys, PassKind::kCollector});
  io.code(
      "basis", c.basis,
      "measured: by passes of this workload; calibrated: by its launches and what one costs on this machine; estimated: by its launches "
      "and what others cost");
  io("stage", c.stage, "name");
  io("low", c.low, "0.28: a window takes at least 28 % longer than unprofiled", kAnySign);
  io("high", c.high, "and at most so much longer", kAnySign);
  io("launches_per_window", c.launches_per_window, "that an estimate or a calibration counts; null: measured");
}

void fields(auto& io, Ref<decltype(io), CallCost> c) {
  io.code("profiler", c.profiler, "the tracer", {PassKind::kNsys, PassKind::kCollector});
  io.known("version", c.version, "of it; null: not known");
  io("options", c.options, "that it traced with");
  io.code("call", c.call, "what the loop calls: back to back, or with much other code in between");
  io("ns", c.ns, "added to one call by tracing: the difference of the medians", kAnySign);
  io("low_ns", c.low_ns, "95 % interval of it", kAnySign);
  io("high_ns", c.high_ns, "95 % interval of it", kAnySign);
  io("bare_ns", c.bare_ns, "what a call takes untraced, the median");
  io("blocks", c.blocks, "of calls that were timed, traced and as many untraced");
}

void fields(auto& io, Ref<decltype(io), Calibration> c) {
  io("costs", c.costs, "by tracer and kind of call");
  io.known("note", c.note, "why there are none");
}

void fields(auto& io, Ref<decltype(io), OverheadDecision> d) {
  io.code(
      "end", d.end,
      "why no more passes were run; decided: all stages are above or below the limit; fixed: perturbation.repeats are all that is asked "
      "for");
  io("stages", d.stages, "that were to be decided");
  io("undecided", d.undecided, "of them: the range includes the limit");
  io("passes", d.passes, "unprofiled, and as many traced");
  io("more_passes", d.more_passes, "of each kind, that would probably decide the rest; null: none, or more than 100");
  io("summary", d.summary, "in one sentence");
}

void fields(auto& io, Ref<decltype(io), Perturbation> p) {
  if constexpr (requires { io.has("limit"); }) {
    if (!io.has("limit")) p.limit = 0.10;  // until format 3.5
  }
  io("limit", p.limit, "a slowdown of more is warned of: perturbation.limit");
  io("stages", p.stages, "by profiler and stage");
  io.known("order", p.order, "the passes as they were run");
  io("notes", p.notes, "stages over the limit, passes that were left out or failed");
  io.known("note", p.note, "why nothing was measured");
  io("tracing", p.tracing, "what this run's tracer adds to the stage that people quote, then what the other one would; empty: not known");
  io("decision", p.decision, "whether the passes tell the slowdown from the limit; null: none were compared");
  io("calibration", p.calibration, "what tracing adds to a call on this machine, by a loop of calls beside the workload");
}

void fields(auto& io, Ref<decltype(io), StageEnergy> s) {
  io("stage", s.stage, "name");
  io("joules_per_window", s.joules_per_window, "null: not known");
  io("joules_per_token", s.joules_per_token, "null: not known");
  io("mean_power_w", s.mean_power_w, "null: not known");
  io("samples", s.samples, "readings that fell into its windows");
  io.known("note", s.note, "why there is no number");
}

void fields(auto& io, Ref<decltype(io), ClockSummary> c) {
  io("device", c.device, "NVML's index", kAnySign);
  io("samples", c.samples, "readings");
  io("power_mean_w", c.power_mean_w, "null: not known");
  io("power_max_w", c.power_max_w, "null: not known");
  io("power_limit_w", c.power_limit_w, "enforced, the lowest that was read; null: not known");
  io("sm_clock_min_mhz", c.sm_clock_min_mhz, "null: not known");
  io("sm_clock_median_mhz", c.sm_clock_median_mhz, "null: not known");
  io("sm_clock_max_mhz", c.sm_clock_max_mhz, "null: not known");
  io("temperature_max_c", c.temperature_max_c, "null: not known", kAnySign);
  io("throttled_share", c.throttled_share, "of the readings under load with a reason that slows; null: not known", kFraction);
  io("throttle_reasons", c.throttle_reasons, "in words, most frequent first");
}

void fields(auto& io, Ref<decltype(io), Energy> e) {
  io.known("pass", e.pass, "which passes the numbers are of; null: none");
  io.code("source", e.source, "what NVML gave the joules from; null: none");
  io("stages", e.stages, "by stage");
  io("devices", e.devices, "by GPU");
  io.known("note", e.note, "why nothing was sampled");
}

void fields(auto& io, Ref<decltype(io), StackFrame> f) {
  frame_fields(io, f.frame);
  io.code("kind", f.kind, "what kind of code it is");
}

void fields(auto& io, Ref<decltype(io), WaitStack> s) {
  io("stage", s.stage, "whose waits for launches it was seen in");
  io("frames", s.frames, "outermost first, counted from 0 in frames");
  io("samples", s.samples, "how often");
}

void fields(auto& io, Ref<decltype(io), HostStacks> h) {
  io.code("sampler", h.sampler,
          "who looked: python: nl-stage's package in the process; nsys: its CPU samples; perf: nl-stage itself, by "
          "perf_event of the kernel",
          {HostSampler::kPython, HostSampler::kNsys, HostSampler::kPerf});
  io("period_ns", h.period_ns, "between two samples of a thread, the median");
  io("cost_share", h.cost_share, "of the time of the process: spent on sampling; null: not known", kFraction);
  io("samples", h.samples, "of the whole capture");
  io("lost", h.lost, "samples that were not kept");
  io("frames", h.frames, "places that stand in the stacks");
  io("stacks", h.stacks, "of the stages' waits for launches, by stage, most samples first; 2,000 at most");
  io("unlisted", h.unlisted, "samples in such waits whose stacks are not listed");
}

// One line a slice: [start_ns, duration_ns, name, merged].
template <class Io, class Slice>
  requires std::is_same_v<std::remove_const_t<Slice>, TimelineSlice>
auto cells_of(Io&, Slice& s) {
  return std::tie(s.start_ns, s.duration_ns, s.name, s.merged);
}

void fields(auto& io, Ref<decltype(io), TimelineLane> l) {
  io.code("kind", l.kind, "what the lane shows");
  io("title", l.title, "thread 973, GPU 0 stream 7");
  io("slices", l.slices,
     "each [start_ns, duration_ns, name, merged]: merged neighbours that it stands for; by start, none overlapping another");
}

void fields(auto& io, Ref<decltype(io), Timeline> t) {
  io("start_ns", t.start_ns, "of what is shown", kAnySign);
  io("end_ns", t.end_ns, "of what is shown", kAnySign);
  io("what", t.what, "in words");
  io("names", t.names, "that slices refer to by number");
  io("lanes", t.lanes, "rows of the picture");
  io("slices_left_out", t.slices_left_out, "for lack of space");
}

void fields(auto& io, Ref<decltype(io), ActivityCurve> a) {
  io("device", a.device, "number of the GPU", kAnySign);
  io("metric", a.metric, "as ncu spells it");
  io("title", a.title, "in words");
  io("start_ns", a.start_ns, "of the first value, since the start of the capture", kAnySign);
  io("step_ns", a.step_ns, "one value every so often, the mean of the samples that it covers");
  io("values", a.values, "null: no sample there", {.minimum = std::nullopt, .most_items = 600});
}

// Who draws a slice looks its name up without asking.
void check_names(const JsonReader& io, const Timeline& timeline) {
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane)
    for (const auto& slice : timeline.lanes[lane].slices)
      if (slice.name >= timeline.names.size())
        io.refuse("timeline.lanes[" + std::to_string(lane) + "] has a slice with name " + std::to_string(slice.name) + " of " +
                  std::to_string(timeline.names.size()));
}

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

void fields(auto& io, Ref<decltype(io), CaptureDevice> d) {
  io("device", d.device, "GPU", kAnySign);
  io("pid", d.pid, "the process, a rank; 0: not known");
  io("busy_ns", d.busy_ns, "union of its kernels, copies and sets");
  io("kernel_sum_ns", d.kernel_sum_ns, "plain sum of its kernels");
  io("communication_ns", d.communication_ns, "communication while no compute kernel runs on this GPU");
  io("overlapped_communication_ns", d.overlapped_communication_ns, "communication while one does");
}

void fields(auto& io, Ref<decltype(io), Coverage> c) {
  io("gpu_busy_ns", c.gpu_busy_ns, "union of all work of a GPU in the capture, the mean over the GPUs with work; null: not captured");
  io("kernel_sum_ns", c.kernel_sum_ns, "time of all kernels; null: not captured");
  io("in_stage_share", c.in_stage_share, "of the kernel time, launched inside a stage", kFraction);
  io("unlinked_share", c.unlinked_share, "of the kernel time, without a launching call in the capture", kFraction);
  io("graph_only_share", c.graph_only_share, "of the GPU time, in graphs traced without their kernels", kFraction);
  io("graph_unjoined_share", c.graph_unjoined_share,
     "of the time of CUDA graphs' kernels and copies: where their nodes were captured is not known; null: there are none", kFraction);
  io("devices", c.devices, "by GPU and process");
}

void fields(auto& io, Ref<decltype(io), SampledStage> s) {
  io("stage", s.stage, "name");
  io("windows", s.windows, "in the whole capture, warm-up left out");
  io("traced", s.traced, "whose figures this run has");
  io("always", s.always, "traced because they came first, and left out because enough others were drawn");
  io("unseen", s.unseen, "traced and left out: the GPU may have run work that was launched before");
  io("rows", s.rows, "of traced windows that follow each other; each row was drawn by itself");
  io("wall_ns", s.wall_ns, "mean of the traced windows; null: none");
  io("wall_error", s.wall_error,
     "half of the 95 % interval of the mean of all windows ÷ wall_ns, by how far rows differ; null: too few rows, or all were traced");
  io("untraced_ns", s.untraced_ns, "mean of the windows that were not traced; null: none");
  io("gpu_ns", s.gpu_ns, "GPU time that a traced window launches, the mean; null: not captured");
  io("gpu_error", s.gpu_error, "of gpu_ns, as wall_error");
  io("gpu_total_ns", s.gpu_total_ns, "GPU time of all windows: extrapolated from the traced ones, within gpu_error; null: not known");
}

void fields(auto& io, Ref<decltype(io), ClockFit> c) {
  io("error_ns", c.error_ns, "they are apart by at most this; null: not known");
  io("launch_slack_ns", c.launch_slack_ns, "least time from a launching call to its kernel; null: not known", kAnySign);
  io("wait_slack_ns", c.wait_slack_ns, "least time from a kernel's end to the return of a wait for it; null: not known", kAnySign);
  io.where(c.launch_slack_ns.has_value(), "contradictions", c.contradictions,
           "kernels that start before their launch or end after a wait for them has returned; null: not known");
  io.known("shortest_stage", c.shortest_stage, "by its median window; null: no stages");
  io("shortest_stage_ns", c.shortest_stage_ns, "that median");
  io("share_of_shortest_stage", c.share_of_shortest_stage, "error_ns of it");
}

void fields(auto& io, Ref<decltype(io), ImportStats> s) {
  io.code("source_format", s.source_format, "of the capture; null: not known");
  io.known("schema_version", s.schema_version, "of the export; null: not known");
  io.known("tool_version", s.tool_version, "that captured; null: not known");
  io("rows_read", s.rows_read, "table → rows");
  io("rows_damaged", s.rows_damaged, "by what is wrong with them");
  io("tables_absent", s.tables_absent, "looked for and not there");
  io("notes", s.notes, "what it met besides");
}

// Until format 2.1 an unprofiled pass was called bare.
void pass_name(auto& io, Ref<decltype(io), PassKind> kind) {
  if constexpr (reads<decltype(io)>) {
    std::string name;
    io("name", name);
    if (name == "bare") {
      kind = PassKind::kUnprofiled;
      return;
    }
  }
  io.code("name", kind, "nsys, nsys-export, ncu, collector …");
}

void fields(auto& io, Ref<decltype(io), PassRecord> p) {
  pass_name(io, p.kind);
  io("argv", p.argv, "the argument vector");
  io("exit_status", p.exit_status, "128 + signal where a signal ended it; null: it did not run", kAnySign);
  io("duration_ns", p.duration_ns, "how long it took");
  io.code("outcome", p.outcome, "how it ended");
  io.known("detail", p.detail, "in words; null: not known");
  io("outputs", p.outputs, "relative to the bundle");
}

void fields(auto& io, Ref<decltype(io), Provenance> p) {
  std::string by = captured_by(p.tracer, p.meter);
  io.known(
      "captured_by", by,
      "nsys+ncu, nsys+CUPTI counters, nsys, collector (CUPTI+counters), collector (CUPTI), collector (NVTX only), import; null: not known");
  if constexpr (reads<decltype(io)>) {
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

void capture_fields(auto& io, Ref<decltype(io), Run> run) {
  io("perturbation", run.perturbation, "what the capturing itself cost");
  io("energy", run.energy, "what NVML's counters said during a pass");
  io("host", run.host, "sampled stacks of the host; null: not sampled");
  io("timeline", run.timeline, "a picture of one iteration; null: none");
  if constexpr (reads<decltype(io)>)
    if (run.timeline) check_names(io, *run.timeline);
  io("activity", run.activity, "what the GPU did over the capture, sampled and made small; empty: not sampled");
  io("coverage", run.coverage, "what of the GPU's time is explained, and what is not");
  rank_fields(io, run);
  io("sampled", run.sampled, "by stage, which of its windows were traced (capture.duty); empty: all");
  io("clock", run.clock, "how well CPU and GPU times fit each other, from what the capture holds");
  io("import_stats", run.import_stats, "what the importer met");
  io("ncu_rows_damaged", run.ncu_rows_damaged, "likewise, of ncu's CSV");
  io("provenance", run.provenance, "how the numbers came about");
}

template void capture_fields(JsonWriter&, const Run&);
template void capture_fields(JsonReader&, Run&);
template void capture_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters
