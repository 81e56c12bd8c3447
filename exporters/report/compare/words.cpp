#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "exporters/report/compare/compare.h"
#include "exporters/report/text/budget_bins.h"
#include "exporters/report/text/figure_text.h"
#include "model/comparison.h"
#include "model/run_metrics.h"
#include "model/stage.h"

namespace nl::exporters::report {
namespace {

// What differs, as it is read before two values.
std::string_view difference_words(DifferenceCode code) {
  switch (code) {
    case DifferenceCode::kGpu: return "GPU";
    case DifferenceCode::kGpuCount: return "number of GPUs";
    case DifferenceCode::kClocks: return "GPU clock";
    case DifferenceCode::kPowerLimit: return "power limit";
    case DifferenceCode::kThrottling: return "throttling";
    case DifferenceCode::kDriver: return "driver";
    case DifferenceCode::kCpu: return "CPU";
    case DifferenceCode::kVersion: return "version of";
    case DifferenceCode::kBackend: return "backend";
    case DifferenceCode::kModel: return "model";
    case DifferenceCode::kPrecision: return "precision";
    case DifferenceCode::kBatch: return "batch size";
    case DifferenceCode::kTokens: return "tokens per window of";
    case DifferenceCode::kWarmup: return "warm-up iterations";
    case DifferenceCode::kCaptureMode: return "capture mode";
    case DifferenceCode::kStageSource: return "source of the stage";
    case DifferenceCode::kOverhead: return "profiling overhead of";
    case DifferenceCode::kRunStatus: return "status of a run";
    case DifferenceCode::kNoCommonStage: return "stages: none is on both sides";
    case DifferenceCode::kNoStage: return "no stage is marked or found";
    case DifferenceCode::kCommand: return "command";
    case DifferenceCode::kMixedSide: return "runs of one side differ in";
  }
  return "";
}

}  // namespace

std::string verdict_reason(LineReason reason) {
  switch (reason) {
    case LineReason::kDecided: return "significant";
    case LineReason::kNoDifference: return "exactly the same";
    case LineReason::kWithinNoise: return "within the noise";
    case LineReason::kBelowMinimum: return "too small to matter";
    case LineReason::kTooNoisy: return "too noisy: the interval would hide a large change";
    case LineReason::kDrift: return "the runs drift over time, and the sides were captured one after the other";
    case LineReason::kBlockOrder: return "the sides were captured one after the other: a drift cannot be ruled out";
    case LineReason::kFewRuns: return "too few runs";
    case LineReason::kStageUnchanged: return "its stage did not change";
    case LineReason::kStageUndecided: return "its stage is undecided";
    case LineReason::kOnlyInA: return "only in A";
    case LineReason::kOnlyInB: return "only in B";
    case LineReason::kNotCaptured: return "not captured";
    case LineReason::kNotCapturedA: return "not captured in A";
    case LineReason::kNotCapturedB: return "not captured in B";
    case LineReason::kNotComparable: return "not comparable";
    case LineReason::kRankOnly: return "paired by rank alone: a guess";
    case LineReason::kNoDirection: return "neither more nor less is better";
  }
  return "";
}

std::string change_text(const CompareChange& change) { return fmt::format("{:+.1f} %", 100 * CompareChange::relative(change.log_ratio)); }

std::string estimate_text(const CompareLine& line, double value) {
  if (line.figure == CompareFigure::kCounter) return metric_text(line.key, value);
  const RunMetricInfo* info = find_compared(key_of(line.figure));
  if ((info != nullptr ? measured_unit(info->unit) : line.unit) == MetricUnit::kNanoseconds) return time_text(value);
  if (info != nullptr && info->unit == FigureUnit::kUtilisation) return utilisation_text(value);
  return figure_text(value, std::string(info != nullptr ? key_of(info->unit) : key_of(line.unit)).c_str());
}

std::string bin_label(const std::string& key) {
  for (const BudgetBinKey& bin : kBudgetBinKeys)
    for (const BudgetBin& drawn : kBudgetBins)
      if (key == bin.key && drawn.time == bin.time_ns) return drawn.label;
  return key;
}

std::string function_name(std::string_view kernel) {
  std::string given(kernel);
  for (const std::string_view unnamed : {"(anonymous namespace)::", "<unnamed>::"})
    for (std::size_t at; (at = given.find(unnamed)) != std::string::npos;) given.erase(at, unnamed.size());
  std::string_view name = std::string_view(given).substr(0, given.find_first_of("<("));
  if (const std::size_t space = name.rfind(' '); space != std::string_view::npos) name.remove_prefix(space + 1);
  if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos) name.remove_prefix(colon + 1);
  return std::string(name.empty() ? kernel : name);
}

std::string difference_text(const Difference& difference) {
  std::string text(difference_words(difference.code));
  if (!difference.subject.empty()) text += " " + difference.subject;
  if (difference.a.empty() && difference.b.empty()) return text;
  const auto value = [](const std::string& side) { return side.empty() ? "not known" : side; };
  return fmt::format("{}: {} and {}", text, value(difference.a), value(difference.b));
}

}  // namespace nl::exporters::report
