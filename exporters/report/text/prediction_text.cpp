#include "exporters/report/text/prediction_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "exporters/report/text/figure_text.h"

namespace nl::exporters::report {
namespace {

constexpr double kNothing = 0.005;  // of a window: 0 % as it is written

const char* assumption_text(Assumption assumption) {
  switch (assumption) {
    case Assumption::kGraphDropsHostCode:
      return "The host's code between the launches of a graph is gone, and what the launching function does before and after them, as far "
             "as samples show it.";
    case Assumption::kGraphInputsCopied: return "A small copy of the inputs is added before each graph.";
    case Assumption::kWaitNotNeeded: return "Nothing that follows needs what was waited for.";
    case Assumption::kSamplesTellTime: return "The time in a function is its share of the stack samples.";
    case Assumption::kRunsBeside:
      return "The function runs beside its caller, without Python's lock or in another process, and its result is not needed before its "
             "next call.";
    case Assumption::kKernelsScaleAlike: return "All kernels of that name change by the same factor, and no other does.";
    case Assumption::kHostScalesAlike: return "All code of the host and of the driver is faster by the same factor.";
    case Assumption::kPinnedRate: return "Copies run at the rate of this trace's pinned copies, or of PCIe 5 where it has none.";
    case Assumption::kFusedAsLongest: return "A fused kernel takes as long as the longest of its parts.";
    case Assumption::kTracerPerLaunch: return "The tracer adds the same to each launch.";
    case Assumption::kCopiesOverlap: return "Nothing that is launched after a copy needs what it copies in the same window.";
    case Assumption::kAttentionInOne: return "Fused attention takes between a quarter and all of the time of its two products.";
    case Assumption::kMeasuredCeiling: return "Kernels run as fast as the best of their kind was measured on this card.";
    case Assumption::kBatchByRoofline:
      return "At the low end kernels that have room on the GPU take as long as before; at the high end all take longer in proportion to "
             "the batch, but those that read weights.";
    case Assumption::kHostKeepsPace: return "The host's code takes as long for the larger batch.";
    case Assumption::kWeightsAreRead: return "Kernels that read weights take as long as the bytes that they read.";
    case Assumption::kScalesWithPeaks: return "Each kernel is faster by the other card's memory or arithmetic, whichever is more.";
  }
  return "";
}

// "−27 %" of what it took before.
std::string time_change_text(const Prediction& prediction, double from_ns) {
  const double change = from_ns > 0 ? prediction.predicted_ns / from_ns - 1 : 0;
  return fmt::format("{}{:.0f} %{}", change <= 0 ? "−" : "+", std::abs(change) * 100, prediction.ceiling ? " at best" : "");
}

// Shares of a window: what is expected, and the ends of its interval, of which the lower may be below zero.
struct SavedShare {
  double expected = 0, low = 0, high = 0;
};

SavedShare saved_share_of(const Prediction& prediction) {
  const auto saved = [&](double ns) { return prediction.unperturbed_ns > 0 ? 1 - ns / prediction.unperturbed_ns : 0; };
  return {saved(prediction.predicted_ns), saved(prediction.high_ns), saved(prediction.low_ns)};
}

enum class SavingForm : std::uint8_t { kNone, kAtBest, kUpTo, kRange };

SavingForm form_of(const Prediction& prediction, const SavedShare& saved) {
  if ((prediction.ceiling ? saved.expected : saved.high) < kNothing) return SavingForm::kNone;
  if (prediction.ceiling) return SavingForm::kAtBest;
  return saved.low < kNothing ? SavingForm::kUpTo : SavingForm::kRange;
}

}  // namespace

std::string refusal_text(NoPrediction why) {
  switch (why) {
    case NoPrediction::kNotReplayed:
      return "The replay of what was measured is off by more than 5 %: the trace does not show what the stage waits for.";
    case NoPrediction::kNothingToChange: return "The trace has nothing that this change is about.";
    case NoPrediction::kAlreadyGraph: return "The stage is launched as CUDA graphs already.";
    case NoPrediction::kNoStacks: return "The host's code was not sampled: capture with mark.host_samples_hz.";
    case NoPrediction::kNoStage: return "The capture has no windows of this stage.";
    case NoPrediction::kPartial: return "The capture is not complete.";
    case NoPrediction::kNoCeiling: return "The ceilings of this card were not measured: run nl-stage ceilings.";
    case NoPrediction::kUnknownCard: return "The peaks of that card are not known: nl-stage doctor lists those that are.";
    case NoPrediction::kUnknownWeights: return "The precision of the weights is not known.";
  }
  return "";
}

const char* binding_text(Binding binding) {
  switch (binding) {
    case Binding::kGpu: return "the GPU";
    case Binding::kHostCode: return "the host's code";
    case Binding::kLaunches: return "launching";
    case Binding::kWaits: return "waits";
  }
  return "";
}

std::string changes_text(const Prediction& prediction) {
  return prediction.changes.empty() ? "as captured" : join(prediction.changes, " ");
}

std::string what_if_lead(const WhatIf& result, const std::string& stage) {
  const Prediction* now = result.predictions.empty() ? nullptr : &result.predictions.front();
  if (now == nullptr || (now->refused && now->measured_ns == 0)) return {};
  std::string line = fmt::format("{} takes {} as captured", stage, time_text(now->measured_ns));
  if (now->unperturbed_ns < 0.995 * now->measured_ns)
    line += fmt::format(", and {} without the tracer's part", time_text(now->unperturbed_ns));
  if (result.unprofiled_ns) line += fmt::format(" ({} in passes without a tracer)", time_text(*result.unprofiled_ns));
  return line + fmt::format("; what binds is {}.", binding_text(result.binds));
}

std::string replay_text(const WhatIf& result) {
  return fmt::format("The replay of the capture is off by {:.1f} %.", result.replay_error * 100);
}

Table prediction_table(const std::vector<Prediction>& predictions) {
  Table table{"Predictions",
              texts({"Change"}) + numbers({"Now, ms", "Predicted, ms", "Interval, ms", "Change of time"}) + texts({"Binds then"})};
  for (const Prediction& each : predictions) {
    if (each.refused) {
      table.rows.push_back({changes_text(each), ms_text(each.measured_ns), kNoValue, kNoValue, kNoValue, kNoValue});
      continue;
    }
    table.rows.push_back({changes_text(each), ms_text(each.unperturbed_ns), ms_text(each.predicted_ns),
                          each.ceiling ? "at best" : fmt::format("{} to {}", ms_text(each.low_ns), ms_text(each.high_ns)),
                          time_change_text(each, each.unperturbed_ns), binding_text(each.binds)});
  }
  return table;
}

std::string sequence_text(const std::vector<Prediction>& sequence) {
  std::string text;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const double before = i == 0 ? sequence[i].unperturbed_ns : sequence[i - 1].predicted_ns;
    const std::string change = sequence[i].changes.empty() ? changes_text(sequence[i]) : sequence[i].changes.back();
    text += fmt::format("{} {}: {}{} ", i == 0 ? "First" : "Then", change, time_change_text(sequence[i], before), i == 0 ? "." : " more.");
  }
  if (sequence.empty()) return text;
  const Prediction& last = sequence.back();
  return text + fmt::format("Together {} becomes {} ({}).", time_text(last.unperturbed_ns), time_text(last.predicted_ns),
                            predicted_interval(last));
}

std::string predicted_interval(const Prediction& prediction) {
  return prediction.ceiling ? "at best" : fmt::format("{} to {}", time_text(prediction.low_ns), time_text(prediction.high_ns));
}

List assumption_list(const std::vector<Prediction>& predictions) {
  List list;
  std::vector<Assumption> said;
  for (const Prediction& each : predictions)
    for (const Assumption assumption : each.assumptions)
      if (std::find(said.begin(), said.end(), assumption) == said.end()) {
        said.push_back(assumption);
        list.items.push_back({assumption_text(assumption)});
      }
  return list;
}

std::string refusals_text(const std::vector<Prediction>& predictions) {
  std::vector<std::pair<NoPrediction, std::vector<std::string>>> by_reason;
  for (const Prediction& each : predictions) {
    if (!each.refused) continue;
    auto same = std::find_if(by_reason.begin(), by_reason.end(), [&](const auto& group) { return group.first == *each.refused; });
    if (same == by_reason.end()) same = by_reason.insert(by_reason.end(), {*each.refused, {}});
    same->second.push_back(changes_text(each));
  }
  std::vector<std::string> parts;
  for (const auto& [why, changes] : by_reason) parts.push_back(fmt::format("{}: {}", join_and(changes), refusal_text(why)));
  return parts.empty() ? "" : "No prediction of " + join(parts, " Nor of ");
}

std::string saving_text(const Prediction& prediction) {
  const SavedShare saved = saved_share_of(prediction);
  switch (form_of(prediction, saved)) {
    case SavingForm::kNone: return "predicted to save nothing";
    case SavingForm::kAtBest: return fmt::format("predicted to save {} of each {} at best", rough_share(saved.expected), prediction.stage);
    case SavingForm::kUpTo: return fmt::format("predicted to save up to {} of each {}", rough_share(saved.high), prediction.stage);
    case SavingForm::kRange: break;
  }
  return fmt::format("predicted to save {} of each {} ({:.0f} to {})", rough_share(saved.expected), prediction.stage, saved.low * 100,
                     rough_share(saved.high));
}

std::string saving_times_text(const Prediction& prediction) {
  const SavingForm form = form_of(prediction, saved_share_of(prediction));
  if (form == SavingForm::kNone) return {};
  const double then_ns = form == SavingForm::kUpTo ? prediction.low_ns : prediction.predicted_ns;
  return fmt::format("{}{} instead of {}", form == SavingForm::kRange ? "" : "at best ", time_text(then_ns),
                     time_text(prediction.unperturbed_ns));
}

std::string plain_saving_text(const Prediction& prediction, const std::string& unit) {
  const SavedShare saved = saved_share_of(prediction);
  switch (form_of(prediction, saved)) {
    case SavingForm::kNone: return "saves nothing, as a replay of the trace predicts";
    case SavingForm::kAtBest: return fmt::format("saves {} of each {} at best", rough_share(saved.expected), unit);
    case SavingForm::kUpTo: return fmt::format("saves up to {} of each {}", rough_share(saved.high), unit);
    case SavingForm::kRange: break;
  }
  return fmt::format("saves about {} of each {}, between {:.0f} and {}", rough_share(saved.expected), unit, saved.low * 100,
                     rough_share(saved.high));
}

// A change is an option and its value, which may hold what a shell would not take as it is: "--host step.<locals>.run=0".
std::string whatif_command(const Prediction& prediction) {
  std::vector<std::string> words = {"nl-stage", "whatif", "RUN"};
  for (const std::string& change : prediction.changes) {
    const std::size_t end = change.find(' ');
    words.push_back(change.substr(0, end));
    if (end != std::string::npos) words.push_back(change.substr(end + 1));
  }
  return shell_text(words);
}

}  // namespace nl::exporters::report
