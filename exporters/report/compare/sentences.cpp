#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/compare/compare.h"
#include "exporters/report/text/figure_text.h"
#include "model/comparison.h"

namespace nl::exporters {
namespace {

using namespace report;

constexpr double kMostOfIt = 0.5;  // of the difference: one row that large is the cause to name

double size_of(const CompareChange& change) { return std::abs(CompareChange::relative(change.log_ratio)); }

// " (95 % interval +2.5 % to +3.9 %)"
std::string interval_text(const CompareChange& change) {
  if (!change.low || !change.high) return {};
  return fmt::format(" ({} interval {} to {})", confidence_text(change), signed_percent(CompareChange::relative(*change.low)),
                     signed_percent(CompareChange::relative(*change.high)));
}

bool has(const Comparability& comparability, DifferenceCode code) {
  return std::any_of(comparability.differences.begin(), comparability.differences.end(),
                     [&](const Difference& each) { return each.code == code && each.severity == Severity::kHigh; });
}

std::string refusal(const Comparability& comparability) {
  std::vector<std::string> reasons;
  for (const Difference& difference : comparability.differences)
    if (difference.severity == Severity::kHigh && difference.code != DifferenceCode::kNoStage)
      reasons.push_back(difference_text(difference));
  std::string text = "A and B cannot be compared:";
  if (has(comparability, DifferenceCode::kNoStage))
    text += " no step, block or other unit of work is marked or found in them, and how long a capture is says nothing about its speed";
  else if (reasons.empty()) reasons.emplace_back("too much");
  if (!reasons.empty()) text += fmt::format("{} they differ in {}", text.back() == ':' ? "" : ";", join(reasons, "; "));
  return text + ".";
}

std::string what_stayed(const Comparison& comparison, const CompareLine& line, const std::string& times) {
  if (line.reason == LineReason::kNoDifference)
    return fmt::format("B's {} takes exactly as long as A's: {}.", comparison.main_stage, estimate_text(line, line.a->median));
  if (!line.change) return fmt::format("B's {} takes as long as A's: {}.", comparison.main_stage, times);
  return fmt::format("B's {} takes as long as A's: {}, {}{}.", comparison.main_stage, times, change_text(*line.change),
                     interval_text(*line.change));
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
std::string change_sentence(const CompareLine& line, const std::string& times) {
  return fmt::format("B's {} takes {:.1f} % {} time than A's: {}{}.", line.stage, 100 * size_of(*line.change),
                     line.change->log_ratio < 0 ? "less" : "more", times, interval_text(*line.change));
}

std::string times_of(const CompareLine& line) {
  const std::string how = line.figure == CompareFigure::kUnprofiledWall ? ", unprofiled"
                          : line.figure == CompareFigure::kGpuWork      ? ", GPU time of its kernels"
                                                                        : "";
  return fmt::format("{} against {}{}", estimate_text(line, line.b->median), estimate_text(line, line.a->median), how);
}

std::string what_changed(const Comparison& comparison) {
  const CompareLine* line = deciding_line(comparison);
  if (line == nullptr || !line->a || !line->b) return "No stage is on both sides, so there is nothing to compare.";
  const std::string times = times_of(*line);
  const bool changed = line->verdict == CompareVerdict::kImproved || line->verdict == CompareVerdict::kRegressed;
  if (changed && line->change) return change_sentence(*line, times);
  if (line->verdict == CompareVerdict::kUnchanged) return what_stayed(comparison, *line, times);
  return fmt::format("Whether B's {} is faster or slower than A's is undecided ({}): {}{}.", comparison.main_stage,
                     verdict_reason(line->reason), times, line->change ? interval_text(*line->change) : "");
}

// "Beside it: prefill improved (−4.1 %, 12 ms against 13 ms)": what changed outside of the main stage, for the better and for the worse.
std::string what_else_changed(const Comparison& comparison) {
  constexpr std::size_t kMostTold = 5;
  std::vector<std::string> told;
  std::size_t more = 0;
  for (const CompareLine* line : headline_changes(comparison)) {
    if (line->stage == comparison.main_stage || !line->a || !line->b) continue;
    if (told.size() == kMostTold) {
      ++more;
      continue;
    }
    const std::string change = line->change ? change_text(*line->change) + ", " : "";
    told.push_back(fmt::format("{} {} ({}{})", line->stage.empty() ? subject_text(*line) : line->stage, key_of(line->verdict), change,
                               times_of(*line)));
  }
  if (told.empty()) return {};
  return fmt::format("Beside it: {}{}.", join(told, "; "), more > 0 ? fmt::format("; and {} more", more) : "");
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
  const CompareLine* line = deciding_line(comparison);
  if (!comparison.waterfall || line == nullptr || line->verdict == CompareVerdict::kUnchanged) return {};
  const Waterfall& waterfall = *comparison.waterfall;
  const Ns whole = waterfall.b_ns - waterfall.a_ns;
  std::vector<const WaterfallRow*> rows;
  for (const WaterfallRow& row : waterfall.rows)
    if ((row.b_ns - row.a_ns > 0) == (whole > 0) && row.b_ns != row.a_ns) rows.push_back(&row);
  if (whole == 0 || rows.empty()) return {};
  std::stable_sort(rows.begin(), rows.end(),
                   [](const WaterfallRow* x, const WaterfallRow* y) { return std::abs(x->b_ns - x->a_ns) > std::abs(y->b_ns - y->a_ns); });
  const bool undecided = line->verdict == CompareVerdict::kUndecidable;
  const std::string times = waterfall.stage == kWholeCapture ? "GPU times" : "means of " + waterfall.stage;
  const auto part = [&](const WaterfallRow& row) {
    return fmt::format("{}{} ({}{})", row_name(row), relation_text(row.relation), row.b_ns > row.a_ns ? "+" : "−",
                       time_text(static_cast<double>(std::abs(row.b_ns - row.a_ns))));
  };
  std::string text = undecided
                         ? fmt::format("Where a difference would lie is undecided, too; the largest part of the {} between the means is {}",
                                       time_text(static_cast<double>(std::abs(whole))), part(*rows[0]))
                         : fmt::format("Of the {} between the {}, the largest part is {}", time_text(static_cast<double>(std::abs(whole))),
                                       times, part(*rows[0]));
  const bool alone =
      static_cast<double>(std::abs(rows[0]->b_ns - rows[0]->a_ns)) > kMostOfIt * static_cast<double>(std::abs(whole)) && rows.size() > 1;
  if (rows.size() > 1 && !alone) text += ", then " + part(*rows[1]);
  return text + ".";
}

std::string counted_runs(const CompareSide& side) {
  const auto kept = std::count_if(side.runs.begin(), side.runs.end(), [](const ComparedRun& run) { return !run.left_out; });
  return std::to_string(kept);
}

std::string_view order_text(RunOrder order) {
  switch (order) {
    case RunOrder::kUnknown: return "";
    case RunOrder::kInterleaved: return ", captured alternately";
    case RunOrder::kPairs: return " in pairs";
    case RunOrder::kBlocks: return ", captured one side after the other";
  }
  return "";
}

// What is taken of other runs, because these are too few to show it.
std::string wander_text(const CompareWander& wander) {
  if (!wander.spread) return {};
  const std::string spread = fmt::format("{:.1f} %", 100 * *wander.spread);
  if (wander.source == WanderSource::kLedger)
    return fmt::format(": that runs of one build differ by {} is taken from {} of this workload in the ledger", spread,
                       plural(wander.runs, "run"));
  return fmt::format(": that runs of one build differ by {} is assumed", spread);
}

std::string basis_of_runs(const Comparison& comparison) {
  const std::string runs = fmt::format("{} and {} runs", counted_runs(comparison.a), counted_runs(comparison.b));
  switch (comparison.basis) {
    case CompareBasis::kNothing: return "No stage is on both sides";
    case CompareBasis::kOneRunEach: return "This is one run a side" + wander_text(comparison.wander);
    case CompareBasis::kFewRuns:
    case CompareBasis::kRuns: break;
  }
  return fmt::format(
      "This rests on {}{}{}{}", runs, order_text(comparison.order), wander_text(comparison.wander),
      comparison.drift_significant ? fmt::format("; they drift by {} a run", signed_percent(comparison.drift_per_run.value_or(0))) : "");
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

std::string runs_to_make(std::uint64_t runs, MoreRuns more_runs) {
  const std::string rounds = fmt::format("about {} would decide it; --rounds {}", plural(runs, "round"), runs);
  switch (more_runs) {
    case MoreRuns::kTry:
      return fmt::format("about {} a side, captured alternately, would decide it; `nl-stage try` makes them", plural(runs, "run"));
    case MoreRuns::kRounds: return rounds + " allows them";
    case MoreRuns::kRoundsAndBudget: return rounds + " and a longer --budget allow them";
  }
  return {};
}

// What would tell more; empty where nothing would, or it is decided.
std::string what_would_decide(const Comparison& comparison, MoreRuns more_runs) {
  const CompareLine* line = deciding_line(comparison);
  if (line == nullptr || line->verdict != CompareVerdict::kUndecidable || !line->change || !line->change->low) return {};
  if (!line->runs_to_decide) return " Undecided: more than 1000 runs a side would be needed; the difference is next to the minimum effect.";
  return fmt::format(" Undecided: {}.", runs_to_make(*line->runs_to_decide, more_runs));
}

std::string what_it_rests_on(const Comparison& comparison, MoreRuns more_runs) {
  std::vector<std::string> differences;
  for (const Difference& difference : comparison.comparability.differences)
    if (difference.code != DifferenceCode::kNoCommonStage && difference.severity >= Severity::kMedium && differences.size() < 3)
      differences.push_back(difference_text(difference));
  return basis_text(comparison) + repeated_text(comparison) +
         (differences.empty() ? "." : "; the sides differ in " + join(differences, "; ") + ".") + what_would_decide(comparison, more_runs);
}

}  // namespace

std::vector<std::string> comparison_sentences(const Comparison& comparison, MoreRuns more_runs) {
  if (comparison.comparability.refused && !comparison.comparability.forced) return {refusal(comparison.comparability)};
  std::vector<std::string> all = {what_changed(comparison), what_else_changed(comparison), where_it_changed(comparison),
                                  what_it_rests_on(comparison, more_runs)};
  std::erase_if(all, [](const std::string& each) { return each.empty(); });
  return all;
}

}  // namespace nl::exporters
