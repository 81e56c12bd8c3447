#include "analysis/analyse.h"

#include <algorithm>
#include <future>
#include <utility>

#include "analysis/account/gpu_pass.h"
#include "analysis/figures/capture/capture_tables.h"
#include "analysis/figures/counters/join_counters.h"
#include "analysis/figures/counters/sampling.h"
#include "analysis/figures/efficiency/device_peaks.h"
#include "analysis/figures/efficiency/efficiency.h"
#include "analysis/figures/efficiency/roofline.h"
#include "analysis/figures/host/host_code.h"
#include "analysis/figures/nodes/operator_figures.h"
#include "analysis/figures/nodes/session_figures.h"
#include "analysis/figures/overhead/measured.h"
#include "analysis/figures/overhead/sampled_steps.h"
#include "analysis/figures/ranks/rank_figures.h"
#include "analysis/figures/serving/serving.h"
#include "analysis/figures/stages/median_step.h"
#include "analysis/figures/stages/stage_entries.h"
#include "analysis/figures/stages/timeline.h"
#include "analysis/figures/workload/workload_kind.h"
#include "analysis/staging/phases.h"
#include "analysis/staging/traced_steps.h"
#include "analysis/verdicts/rules/judge.h"
#include "analysis/what_if.h"
#include "model/error.h"
#include "model/headline.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

template <class Item>
void append(std::vector<Item>& to, const std::vector<Item>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

void append(std::vector<Remark>& notes, const std::optional<Remark>& note) {
  if (note) notes.push_back(*note);
}

// What was captured, and by whom, beside what the trace shows.
Run with_facts(Run run, const Evidence& evidence) {
  run.run_id = evidence.run_id;
  run.created_at = evidence.created_at;
  run.name = evidence.name;
  run.mode = evidence.mode;
  std::vector<Device> gpus = std::move(run.hardware.gpus);
  run.hardware = evidence.hardware;
  run.hardware.gpus = std::move(gpus);
  run.software = evidence.software;
  run.model = evidence.model;
  WorkloadVerdict verdict = std::move(run.workload.verdict);
  run.workload = evidence.workload;
  run.workload.verdict = std::move(verdict);
  run.problems.insert(run.problems.begin(), evidence.problems.begin(), evidence.problems.end());
  run.provenance.tracer = evidence.tracer;
  run.provenance.passes = evidence.passes;
  run.provenance.adaptations = evidence.adaptations;
  run.provenance.workload_starts = evidence.workload_starts;
  run.provenance.expected_s = evidence.expected_s;
  run.provenance.budget_s = evidence.budget_s;
  if (const auto utc_ns = evidence.trace.utc_start_ns ? evidence.trace.utc_start_ns : evidence.traced_at_ns)
    run.provenance.captured_at = utc_text(*utc_ns);
  if (evidence.counters_missing) run.provenance.counters_missing = problem_of(*evidence.counters_missing);
  return run;
}

// A trace that has only a part of the run is trouble, not a remark: rules look for it among the problems.
void report_incomplete(Run& run) {
  std::vector<Remark>& notes = run.import_stats.notes;
  const auto rest =
      std::stable_partition(notes.begin(), notes.end(), [](const Remark& note) { return !is_one_of(note.code, kCaptureIncomplete); });
  std::for_each(rest, notes.end(), [&](const Remark& note) { run.problems.push_back(problem_of(note)); });
  notes.erase(rest, notes.end());
}

void tell_operators(const Evidence& evidence, OperatorFigures figures, Run& run) {
  if (evidence.session) run.session = session_figures(*evidence.session);
  run.operators = std::move(figures.operators);
  run.operators_note = std::move(figures.operators_note);
  run.operator_steps = std::move(figures.operator_steps);
  run.layers = std::move(figures.layers);
  run.layers_note = std::move(figures.layers_note);
  append(run.import_stats.notes, figures.notes);
  add_damage(run.import_stats.rows_damaged, figures.rows_damaged);
}

void tell_counters(const Evidence& evidence, Run& run) {
  CounterFigures figures =
      join_counters(evidence, {std::move(run.stages), std::move(run.kernels), std::move(run.kernels_note), std::move(run.import_stats)});
  run.stages = std::move(figures.stages);
  run.kernels = std::move(figures.kernels);
  run.kernels_note = std::move(figures.kernels_note);
  run.import_stats = std::move(figures.import_stats);
  run.ncu_rows_damaged = std::move(figures.ncu_rows_damaged);
  run.provenance.meter = figures.meter;
  append(run.problems, figures.problems);
}

// How well the clocks of CPU and GPU fit each other, against the shortest of the stages.
ClockFit clock_fit(const Trace& trace, const std::vector<StageEntry>& stages) {
  ClockFit fit;
  if (!trace.clock) return fit;
  fit.error_ns = trace.clock->error_ns();
  fit.launch_slack_ns = trace.clock->launch_slack_ns;
  fit.wait_slack_ns = trace.clock->wait_slack_ns;
  fit.contradictions = trace.clock->contradictions;
  for (const StageEntry& stage : stages) {
    if (stage.wall.count == 0 || stage.wall.median_ns <= 0) continue;
    if (fit.shortest_stage_ns && stage.wall.median_ns >= *fit.shortest_stage_ns) continue;
    fit.shortest_stage = stage.name;
    fit.shortest_stage_ns = stage.wall.median_ns;
  }
  if (fit.error_ns && fit.shortest_stage_ns) fit.share_of_shortest_stage = static_cast<double>(*fit.error_ns) / *fit.shortest_stage_ns;
  return fit;
}

std::optional<Remark> why_no_kernels(const Evidence& evidence, const Run& run) {
  if (run.kernels || evidence.tracer == Tracer::kImport) return run.kernels_note;
  if (evidence.no_kernels_note) return evidence.no_kernels_note;
  if (evidence.tracer != Tracer::kCupti) return run.kernels_note;
  const Remark* trouble = find_first(run.import_stats.notes, {Code::kNotRecorded});
  return trouble != nullptr ? *trouble : Remark{Code::kNoKernels};
}

}  // namespace

Run traced_run(const StagedTrace& staged, const AnalysisOptions& options) {
  const Trace& trace = staged.trace;
  Run run;
  run.hardware.gpus = gpus_of(trace);
  run.import_stats = trace.stats;
  std::vector<Remark>& notes = run.import_stats.notes;
  append(notes, backward_ranges(trace));
  const PhasePartition partition(staged.table, staged.plan, staged.windows);
  const GpuPass pass =
      pass_over_gpu_work(trace, staged.table, options.kernels.stage_ids(staged.table), staged.plan, staged.windows, partition);
  run.stages = stage_entries(trace, staged.table, staged.windows, pass);
  HostFigures host = host_figures(trace, staged.windows, pass.budgets, run.stages);
  for (std::size_t i = 0; i < run.stages.size(); ++i) {
    run.stages[i].host_code = std::move(host.stages[i]);
    run.stages[i].gaps = std::move(host.gaps[i]);
  }
  run.host = std::move(host.stacks);
  append(notes, host.note);
  run.latency = derive_latency(staged, options.tokens, run.stages);
  std::erase_if(run.stages, [](const StageEntry& stage) { return stage.ranges.empty() && !stage.derived; });
  run.workload.verdict = workload_kind(staged, run.stages, options.tokens);
  const std::string unit = stage_to_predict(run);
  auto of_ranks = std::async(std::launch::async, [&] { return rank_figures(staged, unit); });
  // Between steps that were traced lies what was not: no time of its own.
  if (!has_traced_steps(trace)) run.phases = phase_figures(trace, staged.table, staged.windows, partition, pass);
  run.sampled = sampled_stages(trace);
  run.iterations = list_iterations(trace, staged.table, staged.plan, staged.windows);
  run.timeline = draw_timeline(trace, staged.plan);
  KernelList list = list_kernels(staged, pass.sweep, options.kernels);
  run.kernels = std::move(list.kernels);
  run.kernels_note = std::move(list.missing);
  if (list.fallback) run.problems.push_back(problem_of(*list.fallback));
  run.api = api_entries(trace);
  RangeList ranges = range_entries(staged, pass.sweep);
  run.ranges = std::move(ranges.ranges);
  append(notes, ranges.note);
  CoverageFigures coverage = coverage_of(trace, pass);
  run.coverage = std::move(coverage.coverage);
  run.communication = std::move(coverage.communication);
  std::vector<std::optional<StageSampling>> sampling = stage_sampling(staged, run.stages);
  for (std::size_t i = 0; i < run.stages.size(); ++i) run.stages[i].sampling = std::move(sampling[i]);
  run.activity = activity_curves(trace);
  if (run.kernels && !trace.stalls.empty() && !add_stalls(trace, *run.kernels)) notes.push_back({Code::kStallsUnmatched});
  run.clock = clock_fit(trace, run.stages);
  run.median_step = median_step(staged, unit);
  RankFigures ranks = of_ranks.get();
  run.ranks = std::move(ranks.ranks);
  run.rank_matrix = std::move(ranks.matrix);
  run.collective_rates = std::move(ranks.rates);
  run.rank_pairs = std::move(ranks.pairs);
  run.expert_loads = std::move(ranks.experts);
  run.rank_hang = std::move(ranks.hang);
  return run;
}

namespace {

// What was predicted of the run before, for rules that ask for the same.
std::optional<Prediction> predicted_before(const Run& run, const std::string& stage, const std::string& change) {
  const auto same = [&](const Prediction& each) {
    return each.stage == stage && each.changes.size() == 1 && each.changes.front() == change;
  };
  for (const Finding& finding : run.findings)
    if (finding.prediction && same(*finding.prediction)) return finding.prediction;
  if (!run.what_if) return std::nullopt;
  const auto found = std::find_if(run.what_if->predictions.begin(), run.what_if->predictions.end(), same);
  return found != run.what_if->predictions.end() ? std::optional(*found) : std::nullopt;
}

void add_findings(Run& run, const Rules& rules, const PredictChange& predict) {
  Judgement judgement = analysis::judge(rules, run, predict);
  run.findings = std::move(judgement.findings);
  run.abstentions = std::move(judgement.abstentions);
  run.summary = run_summary(run);
}

Run with_limits(Run run, const Knowledge& knowledge) {
  Efficiency efficiency = efficiency_of(run, knowledge.devices);
  run.peaks = std::move(efficiency.peaks);
  run.efficiency = std::move(efficiency.stages);
  add_dram_use(run, run.stages, run.kernels);
  run.roofline = roofline_of(run);
  return run;
}

}  // namespace

Run judged(Run run, const Rules& rules) {
  add_findings(run, rules, [&](const std::string& stage, const std::string& change) { return predicted_before(run, stage, change); });
  return run;
}

Run explained(Run run, const Knowledge& knowledge) { return judged(with_limits(std::move(run), knowledge), knowledge.rules); }

Run figures_of(const Evidence& evidence, const Knowledge& knowledge, const StagedTrace& staged) {
  const AnalysisOptions& options = knowledge.options;
  auto operators = std::async(std::launch::async, [&] { return operator_figures(evidence, staged, options.warmup); });
  Run run = with_facts(traced_run(staged, options), evidence);
  report_incomplete(run);
  tell_operators(evidence, operators.get(), run);
  tell_counters(evidence, run);
  if (evidence.tracer == Tracer::kImport) run.perturbation = overhead_by_turns(evidence.trace, options.overhead);
  run.serving = serving_of(evidence);
  if (evidence.tracer != Tracer::kImport) {
    run.perturbation = measured_overhead(evidence, staged, options.overhead);
    run.energy = measured_energy(evidence, staged, run.kernels, run.stages);
    run.stages = without_throttled(evidence, staged, run.kernels, std::move(run.stages));
  }
  run.perturbation.limit = options.overhead.limit;
  run.perturbation.tracing = tracing_costs(run, evidence.trace.processes, knowledge.tracing);
  run.kernels_note = why_no_kernels(evidence, run);
  if (evidence.inputs_sha256.valid()) run.provenance.inputs_sha256 = evidence.inputs_sha256.get();
  run = with_limits(std::move(run), knowledge);
  const Trace& trace = evidence.trace;
  run.status = status_of(run.problems, trace.has_range_data || trace.has_kernel_data || trace.has_api_data);
  return run;
}

namespace {

// Nothing for what is no change once the rule's own figures are filled in: no capture is lost for a rule that somebody wrote.
std::optional<Prediction> prediction_for_rule(const RunReplay& replay, const std::string& stage, const std::string& change) {
  try {
    return replay.predict(stage, {change_of(change)});
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Run analyse(const Evidence& evidence, const Knowledge& knowledge) {
  const StagedTrace staged(evidence.trace, knowledge.options.warmup);
  Run run = figures_of(evidence, knowledge, staged);
  if (evidence.trace.kernels.empty() || evidence.trace.api_calls.empty()) {
    add_findings(run, knowledge.rules, {});
    return run;
  }
  const std::string stage = stage_to_predict(run);
  constexpr std::size_t kMostWorks = 100'000;  // a report takes no longer for the many steps of a long capture, which are alike
  const RunReplay replay(run, staged, knowledge, {stage, std::nullopt, 1, kMostWorks});
  run.what_if = replay.everything(stage);
  std::map<std::pair<std::string, std::string>, std::optional<Prediction>> predicted;  // several rules ask for the same
  add_findings(run, knowledge.rules, [&](const std::string& stage, const std::string& change) {
    const auto [found, is_new] = predicted.try_emplace({stage, change});
    if (is_new) found->second = prediction_for_rule(replay, stage, change);
    return found->second;
  });
  return run;
}

}  // namespace nl::analysis
