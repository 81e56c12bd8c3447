#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analyse.h"
#include "analysis/figures/counters/join_counters.h"
#include "analysis/figures/counters/ncu_match.h"
#include "analysis/figures/efficiency/device_peaks.h"
#include "analysis/figures/efficiency/efficiency.h"
#include "analysis/figures/efficiency/roofline.h"
#include "analysis/figures/nodes/operator_figures.h"
#include "analysis/figures/operators/layers.h"
#include "analysis/figures/operators/operators.h"
#include "analysis/verdicts/rules/judge.h"
#include "model/words.h"

// Tests look at parts of a run one at a time: these put what one function of the analysis returns into a run, as analyse() does with
// all of them.
namespace nl::analysis {

struct SummaryOptions {
  std::vector<std::string> stages = {"prefill", "decode"};
  std::size_t top_n_kernels = 10;
  WarmupRule warmup = {};
  TokenCounts tokens = {};

  operator AnalysisOptions() const { return {{stages, top_n_kernels}, warmup, tokens}; }
};

inline void summarise(const Trace& trace, const AnalysisOptions& options, Run& run) {
  Run traced = traced_run(StagedTrace(trace, options.warmup), options);
  traced.problems.insert(traced.problems.begin(), run.problems.begin(), run.problems.end());
  run.problems = std::move(traced.problems);
  run.import_stats = std::move(traced.import_stats);
  if (run.hardware.gpus.empty()) run.hardware.gpus = std::move(traced.hardware.gpus);
  run.stages = std::move(traced.stages);
  run.phases = std::move(traced.phases);
  run.iterations = std::move(traced.iterations);
  run.latency = std::move(traced.latency);
  run.timeline = std::move(traced.timeline);
  run.kernels = std::move(traced.kernels);
  if (!run.kernels_note) run.kernels_note = std::move(traced.kernels_note);
  run.api = std::move(traced.api);
  run.ranges = std::move(traced.ranges);
  run.coverage = std::move(traced.coverage);
  run.communication = std::move(traced.communication);
  run.activity = std::move(traced.activity);
  run.clock = std::move(traced.clock);
  run.host = std::move(traced.host);
  run.workload.verdict = std::move(traced.workload.verdict);
}

// Lends the operators of a run, and takes them back.
class LentOperators {
 public:
  explicit LentOperators(Run& run)
      : run_(run), figures_{std::move(run.operators),
                            std::move(run.operators_note),
                            std::move(run.operator_steps),
                            std::move(run.layers),
                            std::move(run.layers_note),
                            {},
                            {}} {}
  ~LentOperators() {
    run_.operators = std::move(figures_.operators);
    run_.operators_note = std::move(figures_.operators_note);
    run_.operator_steps = std::move(figures_.operator_steps);
    run_.layers = std::move(figures_.layers);
    run_.layers_note = std::move(figures_.layers_note);
    run_.import_stats.notes.insert(run_.import_stats.notes.end(), figures_.notes.begin(), figures_.notes.end());
  }
  LentOperators(const LentOperators&) = delete;
  LentOperators& operator=(const LentOperators&) = delete;
  operator OperatorFigures&() { return figures_; }

 private:
  Run& run_;
  OperatorFigures figures_;
};

inline void add_operators(const Trace& trace, const OperatorOptions& options, Run& run) {
  LentOperators lent(run);
  add_operators(trace, options, lent);
}

inline void add_operator_table_from(const Trace& other, const std::string& source, const std::string& file, Run& run,
                                    const OperatorOptions& options = {}) {
  LentOperators lent(run);
  add_operator_table_from(other, source, file, lent, options);
}

inline void add_operator_records(const OperatorRecords& records, Run& run) {
  LentOperators lent(run);
  add_operator_records(records, lent);
}

inline void add_layers(const Trace& trace, Run& run) {
  LayerTable table = layer_table(trace);
  run.layers = std::move(table.layers);
  run.layers_note = std::move(table.note);
}

inline void add_operator_pass(const Trace& clean, const Trace& pass, std::span<const OperatorDtypes> dtypes, const WarmupRule& rule,
                              Run& run) {
  LentOperators lent(run);
  add_operator_pass(StagedTrace(clean, rule), pass, dtypes, lent);
}

inline void add_operator_steps(const Trace& trace, const WarmupRule& rule, const std::string& file, Run& run) {
  LentOperators lent(run);
  add_operator_steps(StagedTrace(trace, rule), file, lent);
}

inline void add_kernels_to_nodes(Run& run) {
  if (!run.session) return;
  LentOperators lent(run);
  add_kernels_to_nodes(run.session->backend, lent);
}

inline void apply_stage_counters(const CounterReport& report, Run& run) {
  for (const Remark& note : report.notes) add_once(run.import_stats.notes, note);
  add_damage(run.import_stats.rows_damaged, report.rows_damaged, "counters");
  for (const Remark& note : add_stage_counters(report, run.stages)) run.import_stats.notes.push_back(note);
}

inline NcuMatch match_ncu(const NcuReport& ncu, const Trace& trace, Run& run, Meter measured_by = Meter::kNcu) {
  std::vector<KernelEntry> none;
  add_damage(run.ncu_rows_damaged, ncu.rows_damaged);
  return match_ncu(ncu, trace, run.kernels ? *run.kernels : none, measured_by);
}

inline void fill_efficiency(const std::vector<DeviceTableEntry>& table, Run& run) {
  Efficiency efficiency = efficiency_of(run, table);
  run.peaks = std::move(efficiency.peaks);
  run.efficiency = std::move(efficiency.stages);
}

inline void fill_dram_use(Run& run) { add_dram_use(run, run.stages, run.kernels); }

inline void fill_roofline(Run& run) { run.roofline = roofline_of(run); }

inline void set_judgement(Judgement judgement, Run& run) {
  run.findings = std::move(judgement.findings);
  run.abstentions = std::move(judgement.abstentions);
}
inline void judge(const Rules& rules, Run& run) { set_judgement(judge(rules, std::as_const(run)), run); }
inline void judge(const ParsedRules& rules, Run& run) { set_judgement(judge(rules, std::as_const(run)), run); }

}  // namespace nl::analysis
