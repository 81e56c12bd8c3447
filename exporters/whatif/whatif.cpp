#include "exporters/whatif/whatif.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "exporters/report/text/document.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/markdown.h"
#include "exporters/report/text/prediction_text.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

using namespace report;
using nlohmann::ordered_json;

Document whatif_document(const WhatIf& result, const PredictionOrigin& origin) {
  Document document{fmt::format("What if: {}", result.name), "", {}, {}, {}, true};
  if (const std::string lead = what_if_lead(result, result.stage); !lead.empty())
    document.lead = {Paragraph{lead}, Paragraph{replay_text(result)}};
  if (result.predictions.empty()) document.lead.push_back(Paragraph{kNoChangeSaves});
  else document.lead.push_back(prediction_table(result.predictions));
  if (result.sequence.size() > 1) document.lead.push_back(Paragraph{sequence_text(result.sequence)});
  if (origin.interval_scale != 1)
    document.lead.push_back(Paragraph{
        fmt::format("Intervals are scaled by {:.3g}, by {} of this ledger.", origin.interval_scale, plural(origin.pairs, "pair"))});
  List notes = assumption_list(result.predictions);
  if (const std::string refused = refusals_text(result.predictions); !refused.empty()) notes.items.insert(notes.items.begin(), {refused});
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

std::string whatif_markdown(const WhatIf& result, const PredictionOrigin& origin) { return markdown(whatif_document(result, origin)); }

std::string whatif_text(const WhatIf& result, const PredictionOrigin& origin, std::size_t width) {
  return terminal_text(whatif_document(result, origin), width);
}

std::string whatif_json(const WhatIf& result, const PredictionOrigin& origin) {
  const auto text_or_null = [](const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); };
  ordered_json predictions = ordered_json::array(), sequence = ordered_json::array();
  for (const Prediction& each : result.predictions) predictions.push_back(prediction_json(each));
  for (const Prediction& each : result.sequence) sequence.push_back(prediction_json(each));
  const ordered_json json = {{"run", result.name},
                             {"hardware", text_or_null(origin.hardware)},
                             {"tracer", text_or_null(origin.tracer)},
                             {"stage", result.stage},
                             {"replay_error", result.replay_error},
                             {"binds", key_of(result.binds)},
                             {"unprofiled_ns", result.unprofiled_ns ? ordered_json(std::round(*result.unprofiled_ns)) : ordered_json()},
                             {"interval_scale", origin.interval_scale},
                             {"predictions", std::move(predictions)},
                             {"sequence", std::move(sequence)}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::exporters
