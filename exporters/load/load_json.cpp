#include <nlohmann/json.hpp>

#include "exporters/load/json_parts.h"
#include "exporters/load/load.h"
#include "exporters/load/words.h"

namespace nl::exporters {
namespace {

using nlohmann::ordered_json;
using namespace loads;

ordered_json bounds_json(const std::optional<LoadBounds>& bounds) {
  return bounds ? ordered_json::array({bounds->low, bounds->high}) : ordered_json();
}

ordered_json spread_json(LoadFigure figure, const LoadSpread& spread) {
  return {{"figure", key_of(figure)},
          {"definition", definition_of(figure, LoadTool::kNlStage)},
          {"n", spread.count},
          {"mean_ns", spread.mean_ns},
          {"median_ns", spread.median_ns},
          {"median_95_ns", bounds_json(spread.median_95)},
          {"p90_ns", or_null(spread.p90_ns)},
          {"p95_ns", or_null(spread.p95_ns)},
          {"p99_ns", or_null(spread.p99_ns)},
          {"p99_95_ns", bounds_json(spread.p99_95)},
          {"min_ns", spread.min_ns},
          {"max_ns", spread.max_ns}};
}

ordered_json tool_figures_json(const LoadReport& load) {
  ordered_json rows = ordered_json::array();
  for (const auto& [figure, spreads] : load.by_tool)
    for (std::size_t i = 0; i < kDefiningTools; ++i)
      if (const auto tool = static_cast<LoadTool>(i); spreads[i])
        rows.push_back({{"figure", key_of(figure)},
                        {"tool", key_of(tool)},
                        {"definition", definition_of(figure, tool)},
                        {"n", spreads[i]->count},
                        {"mean_ns", spreads[i]->mean_ns},
                        {"median_ns", spreads[i]->median_ns},
                        {"p99_ns", spreads[i]->p99_ns}});
  return rows;
}

ordered_json tool_rates_json(const LoadReport& load) {
  ordered_json rows = ordered_json::array();
  for (std::size_t i = 0; i < kDefiningTools; ++i) {
    const ToolRates& rates = load.tool_rates[i];
    const auto tool = static_cast<LoadTool>(i);
    rows.push_back({{"tool", key_of(tool)},
                    {"window", window_of(tool)},
                    {"requests_per_s", or_null(rates.requests_per_s)},
                    {"output_tokens_per_s", or_null(rates.output_tokens_per_s)},
                    {"good_per_s", or_null(rates.good_per_s)}});
  }
  return rows;
}

ordered_json rates_json(const LoadRates& rates) {
  return {{"requested_per_s", or_null(rates.requested_per_s)},
          {"scheduled_per_s", or_null(rates.scheduled_per_s)},
          {"sent_per_s", or_null(rates.sent_per_s)},
          {"answered_per_s", or_null(rates.answered_per_s)},
          {"prompt_tokens_per_s", or_null(rates.prompt_tokens_per_s)},
          {"output_tokens_per_s", or_null(rates.output_tokens_per_s)}};
}

ordered_json goodput_json(const LoadReport& load) {
  if (!load.goodput) return {};
  return {{"limits",
           {{"ttft_ns", or_null(load.limits.ttft_ns)},
            {"tpot_ns", or_null(load.limits.tpot_ns)},
            {"itl_ns", or_null(load.limits.itl_ns)},
            {"e2e_ns", or_null(load.limits.e2e_ns)}}},
          {"good", load.goodput->good},
          {"of", load.goodput->sent},
          {"share_95", ordered_json::array({load.goodput->share_95.low, load.goodput->share_95.high})},
          {"per_s", or_null(load.goodput->per_s)}};
}

ordered_json delay_json(const std::optional<DelaySpread>& delay) {
  if (!delay) return {};
  return {{"n", delay->count}, {"median_ns", delay->median_ns}, {"p99_ns", delay->p99_ns}, {"max_ns", delay->max_ns}};
}

ordered_json load_json(const LoadReport& load) {
  ordered_json json = {{"name", load.run.name}}, failed = ordered_json::object(), figures = ordered_json::array(),
               notes = ordered_json::array();
  for (const auto& [outcome, count] : load.failed) failed[std::string(key_of(outcome))] = count;
  for (const auto& [figure, spread] : load.figures) figures.push_back(spread_json(figure, spread));
  for (const LoadNote& note : load.notes) notes.push_back({{"remark", key_of(note.remark)}, {"text", note_text(note)}});
  json.update(facts_json(load.run));
  json.update({{"requests", load.requests},
               {"answered", load.answered},
               {"failed", std::move(failed)},
               {"first_error", or_null(load.first_error)},
               {"warmups", load.warmups},
               {"prompt_tokens", load.prompt_tokens},
               {"output_tokens", load.output_tokens},
               {"figures", std::move(figures)},
               {"schedule_delay", delay_json(load.schedule_delay)},
               {"rates", rates_json(load.rates)},
               {"goodput", goodput_json(load)},
               {"figures_by_tool", tool_figures_json(load)},
               {"rates_by_tool", tool_rates_json(load)},
               {"notes", std::move(notes)}});
  return json;
}

}  // namespace

std::string load_json(const std::vector<LoadReport>& reports, const std::string& records) {
  ordered_json loads = ordered_json::array();
  for (const LoadReport& load : reports) loads.push_back(load_json(load));
  const ordered_json root = {{"records", or_null(records)}, {"loads", std::move(loads)}};
  return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::exporters
