#include "exporters/whatif/whatif.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "exporters/report/text/document.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/markdown.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

using namespace report;
using nlohmann::ordered_json;

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
             "the "
             "batch, but those that read weights.";
    case Assumption::kHostKeepsPace: return "The host's code takes as long for the larger batch.";
    case Assumption::kWeightsAreRead: return "Kernels that read weights take as long as the bytes that they read.";
    case Assumption::kScalesWithPeaks: return "Each kernel is faster by the other card's memory or arithmetic, whichever is more.";
  }
  return "";
}

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
  return prediction.changes.empty() ? "as captured" : fmt::format("{}", fmt::join(prediction.changes, " "));
}

// "−27 %" of what it takes without the tracer.
std::string saving_text(const Prediction& prediction, double from_ns) {
  const double change = from_ns > 0 ? prediction.predicted_ns / from_ns - 1 : 0;
  return fmt::format("{}{:.0f} %", change <= 0 ? "−" : "+", std::abs(change) * 100);
}

Table prediction_table(const WhatIf& result) {
  Table table{"Predictions",
              texts({"Change"}) + numbers({"Now, ms", "Predicted, ms", "Interval, ms", "Change of time"}) + texts({"Binds then"})};
  for (const Prediction& each : result.predictions) {
    if (each.refused) {
      table.rows.push_back({changes_text(each), ms_text(each.measured_ns), kNoValue, kNoValue, kNoValue, kNoValue});
      continue;
    }
    table.rows.push_back({changes_text(each), ms_text(each.unperturbed_ns), ms_text(each.predicted_ns),
                          fmt::format("{} to {}", ms_text(each.low_ns), ms_text(each.high_ns)), saving_text(each, each.unperturbed_ns),
                          binding_text(each.binds)});
  }
  return table;
}

// "First --graph decode_step: −61 %. Then --host audit=0: −9 % more."
std::string sequence_text(const std::vector<Prediction>& sequence) {
  std::string text;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const double before = i == 0 ? sequence[i].unperturbed_ns : sequence[i - 1].predicted_ns;
    text += fmt::format("{}{} {}: {}{}", i == 0 ? "" : " ", i == 0 ? "First" : "Then", sequence[i].changes.back(),
                        saving_text(sequence[i], before), i == 0 ? "." : " more.");
  }
  return text;
}

Document whatif_document(const WhatIf& result) {
  Document document{fmt::format("What if: {}", result.name), "", {}, {}, {}, true};
  const Prediction* now = result.predictions.empty() ? nullptr : &result.predictions.front();
  if (now != nullptr && !(now->refused && now->measured_ns == 0)) {
    std::string line = fmt::format("{} takes {} as captured", result.stage, time_text(now->measured_ns));
    if (now->unperturbed_ns < 0.995 * now->measured_ns)
      line += fmt::format(", and {} without the tracer's part", time_text(now->unperturbed_ns));
    if (result.unprofiled_ns) line += fmt::format(" ({} in passes without a tracer)", time_text(*result.unprofiled_ns));
    document.lead.push_back(Paragraph{line + fmt::format("; what binds is {}.", binding_text(result.binds))});
    document.lead.push_back(Paragraph{fmt::format("The replay of the capture is off by {:.1f} %.", result.replay_error * 100)});
  }
  if (result.predictions.empty()) document.lead.push_back(Paragraph{"No change that nl-stage knows would save more than half a percent."});
  else document.lead.push_back(prediction_table(result));
  List notes;
  std::vector<Assumption> said;
  for (const Prediction& each : result.predictions) {
    if (each.refused) notes.items.push_back({fmt::format("{}: {}", changes_text(each), refusal_text(*each.refused))});
    for (const Assumption assumption : each.assumptions)
      if (std::find(said.begin(), said.end(), assumption) == said.end()) said.push_back(assumption);
  }
  for (const Assumption assumption : said) notes.items.push_back({assumption_text(assumption)});
  if (result.sequence.size() > 1) document.lead.push_back(Paragraph{sequence_text(result.sequence)});
  if (!notes.items.empty()) document.lead.push_back(notes);
  return document;
}

ordered_json prediction_json(const Prediction& each) {
  ordered_json assumptions = ordered_json::array(), notes = ordered_json::array();
  for (const Assumption assumption : each.assumptions) assumptions.push_back(key_of(assumption));
  if (each.refused) notes.push_back(refusal_text(*each.refused));
  const auto figure = [&](double ns) { return each.refused ? ordered_json() : ordered_json(std::round(ns)); };
  return {{"changes", each.changes},
          {"stage", each.stage},
          {"measured_ns", std::round(each.measured_ns)},
          {"unperturbed_ns", std::round(each.unperturbed_ns)},
          {"predicted_ns", figure(each.predicted_ns)},
          {"low_ns", figure(each.low_ns)},
          {"high_ns", figure(each.high_ns)},
          {"binds", each.refused ? ordered_json() : ordered_json(key_of(each.binds))},
          {"ceiling", each.ceiling},
          {"assumptions", std::move(assumptions)},
          {"refused", each.refused ? ordered_json(key_of(*each.refused)) : ordered_json()},
          {"notes", std::move(notes)}};
}

}  // namespace

std::string whatif_markdown(const WhatIf& result) { return markdown(whatif_document(result)); }
std::string whatif_text(const WhatIf& result, std::size_t width) { return terminal_text(whatif_document(result), width); }

std::string whatif_json(const WhatIf& result) {
  ordered_json predictions = ordered_json::array(), sequence = ordered_json::array();
  for (const Prediction& each : result.predictions) predictions.push_back(prediction_json(each));
  for (const Prediction& each : result.sequence) sequence.push_back(prediction_json(each));
  const ordered_json json = {{"run", result.name},
                             {"stage", result.stage},
                             {"replay_error", result.replay_error},
                             {"binds", key_of(result.binds)},
                             {"unprofiled_ns", result.unprofiled_ns ? ordered_json(std::round(*result.unprofiled_ns)) : ordered_json()},
                             {"predictions", std::move(predictions)},
                             {"sequence", std::move(sequence)}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::exporters
