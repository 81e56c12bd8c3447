#include "analysis/runs/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/runs/compare/comparability.h"
#include "analysis/runs/compare/counter_lines.h"
#include "analysis/runs/compare/run_lines.h"
#include "analysis/runs/compare/stage_kernels.h"
#include "analysis/runs/compare/stage_lines.h"
#include "analysis/runs/compare/waterfall.h"
#include "analysis/runs/compare/whole_capture.h"

namespace nl::analysis {
namespace {

// The main stage decides. Where its time did not change, another stage that did has its say, but not the whole process: its start-up
// differs from run to run, and is not what is compared.
void conclude_whole(const RunLines& lines, const std::string& whole_stage, Comparison& comparison) {
  if (!lines.main_wall) return;
  comparison.verdict = lines.main_wall->line.verdict;
  comparison.reason = lines.main_wall->line.reason;
  if (comparison.verdict != CompareVerdict::kUnchanged) return;
  const CompareLine* largest = nullptr;
  for (const LineTest& test : lines.stages) {
    const bool wall = test.line.figure == CompareFigure::kWall || test.line.figure == CompareFigure::kUnprofiledWall;
    if (!wall || test.line.stage == whole_stage || !changed(test.line) || !test.line.change) continue;
    if (largest == nullptr || std::abs(test.line.change->log_ratio) > std::abs(largest->change->log_ratio)) largest = &test.line;
  }
  if (largest == nullptr) return;
  comparison.verdict = largest->verdict;
  comparison.reason = largest->reason;
}

void tell_drift(const Sides& sides, const RunLines& lines, Comparison& comparison) {
  if (!sides.trend_can_be_told() || !lines.main_wall) return;
  comparison.drift_per_run = std::expm1(lines.main_wall->trend);
  comparison.drift_significant = lines.main_wall->trend_p < 0.05;
}

void set_missing(Comparison& comparison, LineReason reason) {
  for (CompareSection* section :
       {&comparison.headline, &comparison.stages, &comparison.budget, &comparison.operators, &comparison.layers, &comparison.api,
        &comparison.nsys_counters, &comparison.ncu_counters, &comparison.efficiency, &comparison.energy, &comparison.host_code})
    section->missing = reason;
  comparison.kernels_missing = reason;
  comparison.reason = reason;
}

void fill(const Sides& sides, const CompareOptions& options, Comparison& comparison) {
  const Judge judge(sides, options);
  comparison.main_stage = main_stage_of(sides, options.whole_stage);
  KernelComparison kernels(sides);
  RunLines lines = run_lines(sides, judge, comparison.main_stage, kernels.p_values(judge));
  comparison.budget = budget_lines(sides, judge, lines);
  comparison.operators = operator_lines(sides, judge, lines);
  comparison.layers = layer_lines(sides, judge, lines);
  comparison.api = api_lines(sides, judge, lines);
  comparison.host_code = host_lines(sides, judge, lines);
  comparison.nsys_counters = sampled_lines(sides, judge, lines);
  comparison.ncu_counters = counted_lines(sides, judge, lines);
  comparison.kernels = kernels.decide(judge, lines);
  if (comparison.kernels.empty()) comparison.kernels_missing = LineReason::kNotCaptured;
  comparison.waterfall = waterfall_of(sides, comparison.main_stage, comparison.kernels);
  conclude_whole(lines, options.whole_stage, comparison);
  tell_drift(sides, lines, comparison);
  comparison.headline = section_of(std::move(lines.headline));
  comparison.stages = section_of(std::move(lines.stages));
  comparison.efficiency = section_of(std::move(lines.efficiency));
  comparison.energy = section_of(std::move(lines.energy));
}

Comparison compare_runs(std::span<const Run> a, std::span<const Run> b, const CompareOptions& options, bool has_stages) {
  Comparison comparison;
  const Sides sides = choose_runs(a, b, options, comparison);
  comparison.comparability = comparability_of(sides, options, has_stages);
  if (sides.basis == CompareBasis::kNothing || common_stages(sides).empty() || comparison.comparability.refused)
    set_missing(comparison, LineReason::kNotComparable);
  else fill(sides, options, comparison);
  return comparison;
}

}  // namespace

Comparison compare(std::span<const Run> a, std::span<const Run> b, const CompareOptions& options) {
  const bool has_stages = any_has_stages(a) || any_has_stages(b);
  if (!only_whole_captures(a, b)) return compare_runs(a, b, options, has_stages);
  Comparison comparison = compare_runs(as_whole_captures(a), as_whole_captures(b), options, has_stages);
  tell_as_gpu_work(comparison);
  return comparison;
}

}  // namespace nl::analysis
