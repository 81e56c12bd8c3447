#include "analysis/runs/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "analysis/runs/compare/parts.h"
#include "analysis/runs/compare/run_lines.h"
#include "analysis/trace/kernel_class.h"
#include "model/stage.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kMostKernels = 12;

struct Part {
  WaterfallRow row;
  double a = 0, b = 0;
};

// The bins of a window, mean over the runs; nothing where no run has them.
std::optional<std::vector<double>> mean_bins(const std::vector<const Run*>& runs, const std::string& stage) {
  std::vector<double> bins(kBudgetBinKeys.size());
  double known = 0;
  for (const Run* run : runs) {
    const StageEntry* entry = find_stage(*run, stage);
    if (entry == nullptr || !entry->budget) continue;
    ++known;
    for (std::size_t i = 0; i < bins.size(); ++i)
      bins[i] += static_cast<double>((*entry->budget).*kBudgetBinKeys[i].time_ns) / static_cast<double>(entry->wall.count);
  }
  if (known == 0) return std::nullopt;
  for (double& bin : bins) bin /= known;
  return bins;
}

double time_of(const std::vector<ComparedKernel>& kernels) {
  double sum = 0;
  for (const ComparedKernel& kernel : kernels) sum += kernel.time_ns;
  return sum;
}

// The budget has a bin of its own for communication that no computing hides.
bool communicates(const KernelPair& pair) {
  const auto all = [](const std::vector<ComparedKernel>& kernels) {
    return std::all_of(kernels.begin(), kernels.end(),
                       [](const ComparedKernel& each) { return classify_kernel(each.name) == KernelClass::kCommunication; });
  };
  return all(pair.a) && all(pair.b);
}

// The pairs with the largest differences; what is left of the computing time is one row.
std::vector<Part> kernel_parts(const StageKernels& kernels, double compute_a, double compute_b) {
  std::vector<Part> parts;
  for (const KernelPair& pair : kernels.pairs)
    if (!communicates(pair))
      parts.push_back({{WaterfallPart::kKernels, pair.line.key, pair.relation, 0, 0}, time_of(pair.a), time_of(pair.b)});
  std::stable_sort(parts.begin(), parts.end(), [](const Part& x, const Part& y) { return std::abs(x.b - x.a) > std::abs(y.b - y.a); });
  if (parts.size() > kMostKernels) parts.resize(kMostKernels);
  Part rest{{WaterfallPart::kOtherKernels, {}, KernelRelation::kSame, 0, 0}, compute_a, compute_b};
  for (const Part& part : parts) {
    rest.a -= part.a;
    rest.b -= part.b;
  }
  parts.push_back(rest);
  return parts;
}

// Whole nanoseconds that add up to the rounded sum: the running sum is rounded, not the parts.
Ns round_parts(std::vector<Part>& parts, double Part::* exact, Ns WaterfallRow::* whole) {
  double sum = 0;
  Ns told = 0;
  for (Part& part : parts) {
    sum += part.*exact;
    const Ns now = std::llround(sum);
    part.row.*whole = now - told;
    told = now;
  }
  return told;
}

// From A's window of the stage to B's. Nothing where a side has no budget of it.
std::optional<Waterfall> waterfall_of(const Sides& sides, const std::string& stage, const std::vector<StageKernels>& kernels) {
  const auto a = mean_bins(sides.a, stage), b = mean_bins(sides.b, stage);
  if (!a || !b) return std::nullopt;
  std::vector<Part> parts;
  const auto of_stage = std::find_if(kernels.begin(), kernels.end(), [&](const StageKernels& each) { return each.stage == stage; });
  for (std::size_t i = 0; i < a->size(); ++i) {
    const BudgetBinKey& bin = kBudgetBinKeys[i];
    if (bin.time_ns == &Budget::gpu_compute_ns && of_stage != kernels.end()) {
      for (Part& part : kernel_parts(*of_stage, (*a)[i], (*b)[i])) parts.push_back(std::move(part));
      continue;
    }
    if ((*a)[i] != 0 || (*b)[i] != 0) parts.push_back({{WaterfallPart::kBin, bin.key, KernelRelation::kSame, 0, 0}, (*a)[i], (*b)[i]});
  }
  Waterfall waterfall;
  waterfall.stage = stage;
  waterfall.a_ns = round_parts(parts, &Part::a, &WaterfallRow::a_ns);
  waterfall.b_ns = round_parts(parts, &Part::b, &WaterfallRow::b_ns);
  for (Part& part : parts) waterfall.rows.push_back(std::move(part.row));
  const auto rank = [](const WaterfallRow& row) { return std::tuple(row.part, -std::abs(row.b_ns - row.a_ns), std::string_view(row.key)); };
  std::stable_sort(waterfall.rows.begin(), waterfall.rows.end(),
                   [&](const WaterfallRow& x, const WaterfallRow& y) { return rank(x) < rank(y); });
  return waterfall;
}

// Stages with windows; or the steady part of a capture in which no stage was found, which does not count as one.
bool any_has_stages(std::span<const Run> runs, bool steady_part = false) {
  return std::any_of(runs.begin(), runs.end(), [&](const Run& run) {
    return std::any_of(run.stages.begin(), run.stages.end(), [&](const StageEntry& stage) {
      return stage.wall.count > 0 && (stage_kind(stage.name) == StageKind::kCapture) == steady_part;
    });
  });
}

Ns kernel_time(const Run& run) {
  Ns sum = 0;
  if (run.kernels)
    for (const KernelEntry& kernel : *run.kernels) sum += kernel.time.total_ns;
  return sum;
}

// A capture without stages: what the GPU computed in the whole of it is all that can be compared. The run has then one stage, kWholeCapture,
// with a window as long as all of its kernels together.
Run as_whole_capture(Run run) {
  const Ns time_ns = kernel_time(run);
  run.stages.clear();
  if (time_ns <= 0) return run;
  StageEntry& stage = run.stages.emplace_back();
  stage.name = kWholeCapture;
  const auto value = static_cast<double>(time_ns);
  stage.wall = {1, time_ns, value, value, time_ns, time_ns, time_ns, 0};
  stage.budget = Budget{};
  stage.budget->wall_ns = stage.budget->gpu_compute_ns = time_ns;
  for (KernelEntry& kernel : *run.kernels) {
    kernel.measured = {{kWholeCapture, kernel.time.total_ns, kernel.time.count}};
    kernel.measured_ns = kernel.time.total_ns;
    kernel.measured_calls = kernel.time.count;
  }
  return run;
}

// A side has no stage at all, both have kernels, and not both a steady part, which says more.
bool only_whole_captures(std::span<const Run> a, std::span<const Run> b) {
  const bool unmarked = !any_has_stages(a) || !any_has_stages(b);
  const auto computes = [](const Run& run) { return kernel_time(run) > 0; };
  const bool steady = any_has_stages(a, true) && any_has_stages(b, true);
  return unmarked && !steady && std::any_of(a.begin(), a.end(), computes) && std::any_of(b.begin(), b.end(), computes);
}

std::vector<Run> as_whole_captures(std::span<const Run> runs) {
  std::vector<Run> whole;
  for (const Run& run : runs) whole.push_back(as_whole_capture(run));
  return whole;
}

// The line of a whole capture is one of GPU work, not of a window's length; and there is no budget but the kernels'.
void tell_as_gpu_work(Comparison& comparison) {
  for (CompareLine& line : comparison.stages.lines)
    if (line.figure == CompareFigure::kWall) line.figure = CompareFigure::kGpuWork;
  comparison.budget = {{}, LineReason::kNotCaptured, {}};
}

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

void tell_drift(const RunLines& lines, Comparison& comparison) {
  if (!lines.main_wall || !lines.main_wall->effect || !lines.main_wall->effect->trend_known) return;
  comparison.drift_per_run = std::expm1(lines.main_wall->effect->trend);
  comparison.drift_significant = lines.main_wall->effect->trend_p < 0.05;
}

bool any_kernels(const std::vector<const Run*>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const Run* run) { return run->kernels && !run->kernels->empty(); });
}

LineReason why_no_kernels(const Sides& sides) {
  const bool in_a = any_kernels(sides.a), in_b = any_kernels(sides.b);
  return in_a && in_b ? LineReason::kNoCommonKernel : why_not_captured(in_a, in_b);
}

void set_missing(Comparison& comparison, LineReason reason) {
  for (CompareSection* section :
       {&comparison.headline, &comparison.stages, &comparison.budget, &comparison.operators, &comparison.layers, &comparison.api,
        &comparison.nsys_counters, &comparison.ncu_counters, &comparison.efficiency, &comparison.energy, &comparison.host_code})
    section->missing = reason;
  comparison.kernels_missing = reason;
  comparison.reason = reason;
}

// How much runs of one build differ, where these are too few to show it: assumed, and by the record of this workload where there is one.
Wander wander_for(const Sides& sides, const CompareOptions& options, Comparison& comparison) {
  Wander wander;
  if (sides.show_spread()) return wander;
  const auto recorded = options.recorded ? options.recorded(*sides.a.front(), comparison.main_stage) : std::nullopt;
  if (recorded) wander = pooled(wander, recorded->wander);
  comparison.wander.source = recorded ? WanderSource::kLedger : WanderSource::kAssumed;
  comparison.wander.spread = std::expm1(wander.spread);
  comparison.wander.runs = recorded ? recorded->runs : 0;
  return wander;
}

void fill(const Sides& sides, const CompareOptions& options, Comparison& comparison) {
  comparison.main_stage = main_stage_of(sides, options.whole_stage);
  const Judge judge(sides, options, wander_for(sides, options, comparison));
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
  if (comparison.kernels.empty()) comparison.kernels_missing = why_no_kernels(sides);
  comparison.waterfall = waterfall_of(sides, comparison.main_stage, comparison.kernels);
  conclude_whole(lines, options.whole_stage, comparison);
  tell_drift(lines, comparison);
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

Comparison with_cause(Comparison times, const Comparison& cause) {
  times.waterfall = cause.waterfall;
  times.kernels = cause.kernels;
  times.kernels_missing = cause.kernels_missing;
  for (CompareSection Comparison::* section :
       {&Comparison::budget, &Comparison::operators, &Comparison::layers, &Comparison::api, &Comparison::nsys_counters,
        &Comparison::ncu_counters, &Comparison::efficiency, &Comparison::host_code})
    times.*section = cause.*section;
  if (times.energy.missing) times.energy = cause.energy;
  return times;
}

}  // namespace nl::analysis
