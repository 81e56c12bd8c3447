#include "orchestrator/analyse.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "analysis/figures/counters/counters.h"
#include "analysis/figures/counters/ncu_match.h"
#include "analysis/figures/nodes/operator_pass.h"
#include "analysis/figures/nodes/session_figures.h"
#include "analysis/figures/nodes/session_kernels.h"
#include "analysis/figures/nodes/session_records.h"
#include "analysis/figures/operators/operators.h"
#include "model/words.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/capture/kernels_so_far.h"
#include "orchestrator/overhead.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"

namespace nl::orchestrator {
namespace {

Run facts_of(const Evidence& evidence) {
  Run run;
  run.run_id = evidence.run_id;
  run.created_at = evidence.created_at;
  run.name = evidence.name;
  run.mode = evidence.mode;
  run.hardware = evidence.hardware;
  run.hardware.gpus = evidence.trace.devices;
  run.software = evidence.software;
  run.model = evidence.model;
  run.workload = evidence.workload;
  run.provenance.tracer = evidence.tracer;
  run.provenance.passes = evidence.passes;
  run.provenance.adaptations = evidence.adaptations;
  run.provenance.workload_starts = evidence.workload_starts;
  run.provenance.expected_s = evidence.expected_s;
  run.provenance.budget_s = evidence.budget_s;
  if (const auto utc_ns = evidence.trace.utc_start_ns ? evidence.trace.utc_start_ns : evidence.traced_at_ns)
    run.provenance.captured_at = utc_text(std::chrono::system_clock::time_point(std::chrono::nanoseconds(*utc_ns)));
  return run;
}

// What was recorded beside the capture: each a table of operators of its own.
void join_operators(const Evidence& evidence, const analysis::WarmupRule& rule, Run& run) {
  for (const OperatorSource& source : evidence.operators) {
    if (source.records) {
      analysis::add_operator_records(*source.records, run);
      continue;
    }
    if (source.operator_pass) {
      analysis::add_operator_pass(evidence.trace, source.trace, source.dtypes, rule, run);
    } else {
      analysis::add_operator_table_from(source.trace, source.format, source.file, run);
      if (run.operator_steps.empty() || source.trace.session) analysis::add_operator_steps(source.trace, rule, source.file, run);
    }
    for (const Remark& note : source.trace.stats.notes) run.import_stats.notes.push_back({note.code, note.details, source.file});
    add_damage(run.import_stats.rows_damaged, source.trace.stats.rows_damaged, source.format);
  }
}

void join_session(const ModelSession& session, Run& run) {
  run.session = analysis::session_figures(session);
  analysis::add_operator_records({analysis::table_of(session), analysis::steps_of(session)}, run);
}

class Counters {
 public:
  Counters(const Evidence& evidence, Run& run) : evidence_(evidence), run_(run) {}

  void join() {
    const bool alone = evidence_.tracer == Tracer::kImport && !run_.kernels;
    if (!evidence_.ncu.empty() && alone) analysis::list_ncu_kernels(merged(evidence_.ncu), run_);
    else if (!evidence_.ncu.empty()) match(merged(evidence_.ncu), Meter::kNcu);
    bool empty = !evidence_.counters.empty();
    for (const CounterReport& report : evidence_.counters) {
      analysis::apply_stage_counters(report, run_);
      if (!report.windows.empty()) measured_by(Meter::kCupti);
      if (!report.kernels.launches.empty()) match(report.kernels, Meter::kCupti);
      for (const Remark& note : report.notes)
        if (is_one_of(note.code, kCaptureIncomplete)) run_.import_stats.notes.push_back(note);
      empty = empty && report.windows.empty() && report.kernels.launches.empty();
    }
    if (empty && evidence_.tracer == Tracer::kImport) note_empty();
    note_unmeasured();
  }

 private:
  void match(const NcuReport& report, Meter meter) {
    const std::string name(key_of(meter));
    const analysis::NcuMatch match = analysis::match_ncu(report, evidence_.trace, run_, meter);
    if (match.matched > 0) measured_by(meter);
    const std::string first = match.unmatched_launches.empty() ? "" : match.unmatched_launches[0];
    if (match.matched == 0 && run_.kernels && evidence_.tracer == Tracer::kImport)
      run_.problems.push_back(
          problem_of(Remark{Code::kCountersUnmatched, {name, first.empty() ? ": its files hold no launch" : ". The first is " + first}}));
    else if (!first.empty())
      run_.import_stats.notes.push_back({Code::kLaunchesUnmatched, {std::to_string(match.unmatched_launches.size()), name, first}});
  }

  // What is imported was captured elsewhere, by whatever.
  void measured_by(Meter meter) {
    if (evidence_.tracer != Tracer::kImport) run_.provenance.meter = meter;
  }

  void note_empty() {
    const Remark* trouble = find_first(evidence_.counters[0].notes, kCounterTroubles);
    const std::string words = trouble != nullptr ? ": " + text_of(*trouble) : "";
    run_.problems.push_back(problem_of(Remark{Code::kCountersEmpty, {words.ends_with('.') ? words.substr(0, words.size() - 1) : words}}));
  }

  // Every chosen kernel without counters says why.
  void note_unmeasured() {
    if (!run_.kernels) return;
    for (KernelEntry& kernel : *run_.kernels) {
      if (!kernel.selected || !kernel.ncu.empty()) continue;
      const auto never = evidence_.meter == Meter::kCupti ? never_counted(kernel) : std::nullopt;
      if (never) kernel.ncu_note = never;
      else if (evidence_.counters_missing) kernel.ncu_note = evidence_.counters_missing;
    }
  }

  const Evidence& evidence_;
  Run& run_;
};

// A trace that has only a part of the run is trouble, not a remark: rules look for it among the problems.
void report_incomplete(Run& run) {
  std::vector<Remark>& notes = run.import_stats.notes;
  const auto rest =
      std::stable_partition(notes.begin(), notes.end(), [](const Remark& note) { return !is_one_of(note.code, kCaptureIncomplete); });
  std::for_each(rest, notes.end(), [&](const Remark& note) { run.problems.push_back(problem_of(note)); });
  notes.erase(rest, notes.end());
}

void explain_absent_kernels(const Evidence& evidence, Run& run) {
  if (run.kernels || evidence.tracer == Tracer::kImport) return;
  if (evidence.no_kernels_note) run.kernels_note = evidence.no_kernels_note;
  else if (evidence.tracer == Tracer::kCupti) {
    const Remark* trouble = find_first(run.import_stats.notes, {Code::kNotRecorded});
    run.kernels_note = trouble != nullptr ? *trouble : Remark{Code::kNoKernels};
  }
}

}  // namespace

Run analyse(const Evidence& evidence, const Knowledge& knowledge, const TraceWriter& write_trace) {
  const Activity analysing("analysing");
  Run run = facts_of(evidence);
  analyse_trace(evidence.trace, knowledge.options, run);
  run.problems.insert(run.problems.begin(), evidence.problems.begin(), evidence.problems.end());
  report_incomplete(run);
  if (evidence.session) join_session(*evidence.session, run);
  join_operators(evidence, knowledge.options.warmup, run);
  analysis::add_kernels_to_nodes(run);
  Counters(evidence, run).join();
  if (evidence.counters_missing) run.provenance.counters_missing = problem_of(*evidence.counters_missing);
  if (evidence.tracer != Tracer::kImport) {
    run.perturbation = measure_overhead(evidence, knowledge.options.warmup);
    run.energy = measure_energy(evidence, knowledge.options.warmup, run);
    leave_out_throttled(evidence, knowledge.options.warmup, run);
  }
  explain_absent_kernels(evidence, run);
  explain(knowledge, run);
  if (evidence.inputs_sha256.valid()) run.provenance.inputs_sha256 = evidence.inputs_sha256.get();
  if (const auto thinned = write_trace ? write_trace(run) : std::nullopt) run.provenance.adaptations.push_back(*thinned);
  if (Interrupts::signal() != 0 && gravest(run.problems) != ErrorKind::kInterrupted)
    run.problems.push_back(problem_of(interruption(Interrupts::signal())));
  const Trace& trace = evidence.trace;
  run.status = status_of(run.problems, trace.has_range_data || trace.has_kernel_data || trace.has_api_data);
  return run;
}

}  // namespace nl::orchestrator
