#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/compare/compare.h"
#include "exporters/report/text/figure_text.h"
#include "model/comparison.h"

namespace nl::exporters {
namespace {

using namespace report;

constexpr double kAsLongAs = 0.02;  // an interval that reaches no farther says that nothing changed
constexpr double kMostOfIt = 0.5;   // of the difference: one row that large is the cause to name

double size_of(const CompareChange& change) { return std::abs(CompareChange::relative(change.log_ratio)); }

// " (95 % interval +2.5 % to +3.9 %)"
std::string interval_text(const CompareChange& change) {
  if (!change.low || !change.high) return {};
  return fmt::format(" (95 % interval {:+.1f} % to {:+.1f} %)", 100 * CompareChange::relative(*change.low),
                     100 * CompareChange::relative(*change.high));
}

std::string refusal(const Comparability& comparability) {
  std::vector<std::string> reasons;
  for (const Difference& difference : comparability.differences)
    if (difference.severity == Severity::kHigh) reasons.push_back(difference_text(difference));
  return fmt::format("A and B cannot be compared: they differ in {}.", reasons.empty() ? "too much" : join(reasons, "; "));
}

// The interval says how much could have changed unseen: where that is not little, it is not known that both take as long.
std::string what_stayed(const Comparison& comparison, const CompareLine& line, const std::string& times) {
  if (line.reason == LineReason::kNoDifference)
    return fmt::format("B's {} takes exactly as long as A's: {}.", comparison.main_stage, time_text(line.a->median));
  if (!line.change) return fmt::format("B's {} takes as long as A's: {}.", comparison.main_stage, times);
  const CompareChange& change = *line.change;
  const bool narrow = change.low && change.high && std::max(-*change.low, *change.high) <= kAsLongAs;
  return fmt::format("{}: {}, {}{}.",
                     narrow ? fmt::format("B's {} takes as long as A's", comparison.main_stage)
                            : fmt::format("No difference shows between A's and B's {}", comparison.main_stage),
                     times, change_text(change), interval_text(change));
}

// The line that the verdict is about: the main stage, unprofiled where both sides have that.
const CompareLine* deciding_line(const Comparison& comparison) {
  const CompareLine* found = nullptr;
  for (const CompareLine& line : comparison.stages.lines) {
    if (line.stage != comparison.main_stage) continue;
    if ((line.figure == CompareFigure::kWall || line.stage == kWholeCapture) && found == nullptr) found = &line;
    if (line.figure == CompareFigure::kUnprofiledWall && line.p_value) found = &line;
  }
  return found;
}

// "B's decode_step takes 3.2 % less time than A's: 12.41 ms against 12.82 ms (95 % interval …)."
std::string what_changed(const Comparison& comparison) {
  const CompareLine* line = deciding_line(comparison);
  if (line == nullptr || !line->a || !line->b) return "No stage is on both sides, so there is nothing to compare.";
  const std::string how = line->figure == CompareFigure::kUnprofiledWall ? ", unprofiled"
                          : line->figure == CompareFigure::kGpuWork      ? ", GPU time of its kernels"
                                                                         : "";
  const std::string times =
      fmt::format("{} against {}{}", estimate_text(*line, line->b->median), estimate_text(*line, line->a->median), how);
  const bool changed = comparison.verdict == CompareVerdict::kImproved || comparison.verdict == CompareVerdict::kRegressed;
  if (changed && line->verdict == comparison.verdict && line->change)
    return fmt::format("B's {} takes {:.1f} % {} time than A's: {}{}.", comparison.main_stage, 100 * size_of(*line->change),
                       line->change->log_ratio < 0 ? "less" : "more", times, interval_text(*line->change));
  if (comparison.verdict == CompareVerdict::kUnchanged) return what_stayed(comparison, *line, times);
  if (changed) return fmt::format("B {} outside {}, which takes {}.", key_of(comparison.verdict), comparison.main_stage, times);
  return fmt::format("Whether B's {} is faster or slower than A's is undecided ({}): {}{}.", comparison.main_stage,
                     verdict_reason(comparison.reason), times, line->change ? interval_text(*line->change) : "");
}

std::string row_name(const WaterfallRow& row) {
  if (row.part == WaterfallPart::kBin) return bin_label(row.key) + " time";
  return row.part == WaterfallPart::kOtherKernels ? "the other kernels" : "the kernel " + function_name(row.key);
}

std::string relation_text(KernelRelation relation) {
  switch (relation) {
    case KernelRelation::kSame: return {};
    case KernelRelation::kRenamed: return " (renamed)";
    case KernelRelation::kFused: return " (fused in B)";
    case KernelRelation::kSplit: return " (split in B)";
    case KernelRelation::kAdded: return " (only in B)";
    case KernelRelation::kRemoved: return " (only in A)";
  }
  return {};
}

// The rows that pull with the whole, the largest first.
std::string where_it_changed(const Comparison& comparison) {
  if (!comparison.waterfall || comparison.verdict == CompareVerdict::kUnchanged) return {};
  const Waterfall& waterfall = *comparison.waterfall;
  const Ns whole = waterfall.b_ns - waterfall.a_ns;
  std::vector<const WaterfallRow*> rows;
  for (const WaterfallRow& row : waterfall.rows)
    if ((row.b_ns - row.a_ns > 0) == (whole > 0) && row.b_ns != row.a_ns) rows.push_back(&row);
  if (whole == 0 || rows.empty()) return {};
  std::stable_sort(rows.begin(), rows.end(),
                   [](const WaterfallRow* x, const WaterfallRow* y) { return std::abs(x->b_ns - x->a_ns) > std::abs(y->b_ns - y->a_ns); });
  const bool undecided = comparison.verdict == CompareVerdict::kUndecidable;
  const std::string window = waterfall.stage == kWholeCapture ? "the GPU time of the whole capture" : "a window of " + waterfall.stage;
  const auto part = [&](const WaterfallRow& row) {
    return fmt::format("{}{} ({}{})", row_name(row), relation_text(row.relation), row.b_ns > row.a_ns ? "+" : "−",
                       time_text(static_cast<double>(std::abs(row.b_ns - row.a_ns))));
  };
  std::string text = undecided
                         ? fmt::format("Where a difference would lie is undecided, too; the largest part of the {} between the means is {}",
                                       time_text(static_cast<double>(std::abs(whole))), part(*rows[0]))
                         : fmt::format("Of the {} that {} {}, the largest part is {}", time_text(static_cast<double>(std::abs(whole))),
                                       window, whole > 0 ? "gains" : "loses", part(*rows[0]));
  const bool alone =
      static_cast<double>(std::abs(rows[0]->b_ns - rows[0]->a_ns)) > kMostOfIt * static_cast<double>(std::abs(whole)) && rows.size() > 1;
  if (rows.size() > 1 && !alone) text += ", then " + part(*rows[1]);
  return text + ".";
}

std::string counted_runs(const CompareSide& side) {
  const auto kept = std::count_if(side.runs.begin(), side.runs.end(), [](const ComparedRun& run) { return !run.left_out; });
  return std::to_string(kept);
}

std::string basis_of_runs(const Comparison& comparison) {
  const std::string runs = fmt::format("{} and {} runs", counted_runs(comparison.a), counted_runs(comparison.b));
  switch (comparison.basis) {
    case CompareBasis::kNothing: return "No stage is on both sides";
    case CompareBasis::kOneRunEach:
      if (comparison.main_stage == kWholeCapture || stage_kind(comparison.main_stage) == StageKind::kCapture)
        return "This is one run a side: how much runs differ from each other is not known";
      return "This is one run a side: the spread of its steps is known, how much runs differ from each other is not";
    case CompareBasis::kOneRunOneSide: return fmt::format("This rests on {}; the single run is taken to scatter as the others do", runs);
    case CompareBasis::kFewRuns: return fmt::format("This rests on {}, too few to look at their order", runs);
    case CompareBasis::kRuns: break;
  }
  const char* order = comparison.order == RunOrder::kInterleaved ? ", captured alternately"
                      : comparison.order == RunOrder::kBlocks    ? ", captured one side after the other"
                                                                 : "";
  return fmt::format(
      "This rests on {}{}{}", runs, order,
      comparison.drift_significant ? fmt::format("; they drift by {:+.1f} % a run", 100 * comparison.drift_per_run.value_or(0)) : "");
}

// As few as decide anything, and twice as many as there were.
std::size_t more_runs(const Comparison& comparison) {
  constexpr std::size_t kLeastRuns = 5;
  const auto counted = [](const CompareSide& side) {
    return static_cast<std::size_t>(
        std::count_if(side.runs.begin(), side.runs.end(), [](const ComparedRun& run) { return !run.left_out; }));
  };
  return std::max(kLeastRuns, 2 * std::max(counted(comparison.a), counted(comparison.b)));
}

const char* why_whole(const Comparison& comparison) {
  const auto& differences = comparison.comparability.differences;
  const bool other = std::any_of(differences.begin(), differences.end(),
                                 [](const Difference& each) { return each.code == DifferenceCode::kNoCommonStage; });
  return other ? "No stage is on both sides" : "No stage is marked or found";
}

std::string basis_text(const Comparison& comparison) {
  const std::string basis = basis_of_runs(comparison);
  if (comparison.main_stage == kWholeCapture)
    return fmt::format("{}, so the GPU time of all kernels in the capture is compared, warm-up included. {}", why_whole(comparison), basis);
  if (stage_kind(comparison.main_stage) == StageKind::kCapture)
    return "No stage is marked or found, so the steady part of each capture is compared as a whole. " + basis;
  return basis;
}

// "; one of them was given more than once and counts once"
std::string repeated_text(const Comparison& comparison) {
  std::size_t repeated = 0;
  for (const CompareSide* side : {&comparison.a, &comparison.b})
    repeated +=
        static_cast<std::size_t>(std::count_if(side->runs.begin(), side->runs.end(), [](const ComparedRun& run) { return run.given > 1; }));
  if (repeated == 0) return {};
  return repeated == 1 ? "; one run was given more than once and counts once"
                       : fmt::format("; {} runs were given more than once and count once each", repeated);
}

// What would tell more; empty where nothing would, or it is decided.
std::string what_would_decide(const Comparison& comparison) {
  if (comparison.verdict != CompareVerdict::kUndecidable || comparison.basis == CompareBasis::kNothing) return {};
  switch (comparison.reason) {
    case LineReason::kDrift:
    case LineReason::kBlockOrder: return " Undecided: runs that are captured alternately may decide it; `nl-stage try` makes them.";
    case LineReason::kTooNoisy:
    case LineReason::kFewRuns:
      return fmt::format(" Undecided: more runs may decide it, {} a side at least and captured alternately; `nl-stage try` makes them.",
                         more_runs(comparison));
    default: return {};
  }
}

std::string what_it_rests_on(const Comparison& comparison) {
  std::vector<std::string> differences;
  for (const Difference& difference : comparison.comparability.differences)
    if (difference.code != DifferenceCode::kNoCommonStage && difference.severity >= Severity::kMedium && differences.size() < 3)
      differences.push_back(difference_text(difference));
  return basis_text(comparison) + repeated_text(comparison) +
         (differences.empty() ? "." : "; the sides differ in " + join(differences, "; ") + ".") + what_would_decide(comparison);
}

}  // namespace

std::vector<std::string> comparison_sentences(const Comparison& comparison) {
  if (comparison.comparability.refused && !comparison.comparability.forced) return {refusal(comparison.comparability)};
  std::vector<std::string> all = {what_changed(comparison), where_it_changed(comparison), what_it_rests_on(comparison)};
  std::erase_if(all, [](const std::string& each) { return each.empty(); });
  return all;
}

}  // namespace nl::exporters
