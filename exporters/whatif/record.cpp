#include "exporters/whatif/record.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "exporters/report/text/document.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/markdown.h"

namespace nl::exporters {
namespace {

using namespace report;
using nlohmann::ordered_json;

// "61", "3.4": percent, with a digit more where it is small
std::string size_of_change(double change) {
  const double percent = std::abs(change) * 100;
  return percent < 9.95 ? fmt::format("{:.1f}", percent) : fmt::format("{:.0f}", percent);
}

std::string percent_change(double change) {
  constexpr double kNoChange = 0.0005;
  return std::abs(change) < kNoChange ? "0" : (change < 0 ? "−" : "+") + size_of_change(change);
}

std::string ratio_text(double ratio) { return percent_change(ratio - 1) + " %"; }

std::string ratio_range(double low, double high) { return fmt::format("{} to {} %", percent_change(low - 1), percent_change(high - 1)); }

std::string figures_text(const PairFigures& figures) {
  return fmt::format("{}, median error {}, {} in the interval ({:.0f} %)", plural(figures.pairs, "pair"), share_text(figures.median_error),
                     figures.within, 100.0 * static_cast<double>(figures.within) / static_cast<double>(figures.pairs));
}

Table pair_table(const PredictionRecord& record) {
  Table table{"Pairs", texts({"Recorded at", "Stage", "Change", "From"}) + numbers({"Predicted", "Interval", "Measured", "Off"}) +
                           texts({"In the interval"})};
  for (const PredictionPair& pair : record.pairs)
    table.rows.push_back({pair.recorded_at, pair.stage, pair.changes, pair.tracer.empty() ? kNoValue : pair.tracer,
                          ratio_text(pair.predicted_ratio), ratio_range(pair.low_ratio, pair.high_ratio), ratio_text(pair.measured_ratio),
                          percent_change(pair.error()) + " %", pair.within() ? "yes" : "no"});
  return table;
}

Table kinds_table(const PredictionRecord& record) {
  Table table{"Kinds of change", texts({"Kind of change"}) + numbers({"Pairs", "Median error", "In the interval"})};
  for (const PairsOfKind& each : record.kinds)
    table.rows.push_back(
        {each.kind, std::to_string(each.figures.pairs), share_text(each.figures.median_error), std::to_string(each.figures.within)});
  return table;
}

std::string scale_text(const PredictionRecord& record) {
  if (record.interval_scale == 1) return "The intervals of whatif are as shipped: nine pairs change them.";
  return fmt::format("These pairs scale the intervals of whatif by {:.3g}.", record.interval_scale);
}

Document record_document(const std::vector<PredictionRecord>& records, const std::string& ledger) {
  Document document{"Predictions and what came of them", "", {}, {}, {}, true};
  if (records.empty())
    document.lead.push_back(Paragraph{fmt::format(
        "{} has no prediction with its outcome: `nl-stage try --predicted whatif.json --a COMMAND --b COMMAND` records one.", ledger)});
  for (const PredictionRecord& record : records) {
    document.lead.push_back(
        Paragraph{fmt::format("{}: {}.", record.hardware.empty() ? "hardware not known" : record.hardware, figures_text(record.figures))});
    document.lead.push_back(pair_table(record));
    document.lead.push_back(kinds_table(record));
    document.lead.push_back(Paragraph{scale_text(record)});
  }
  return document;
}

ordered_json text_if_known(const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); }

ordered_json number_if_known(const std::optional<double>& number) { return number ? ordered_json(*number) : ordered_json(); }

ordered_json pair_json(const PredictionPair& pair) {
  return {{"recorded_at", pair.recorded_at},
          {"workload", text_if_known(pair.workload)},
          {"workload_text", text_if_known(pair.workload_text)},
          {"stage", pair.stage},
          {"changes", pair.changes},
          {"kind", pair.kind},
          {"tracer", text_if_known(pair.tracer)},
          {"interval_scale", pair.interval_scale},
          {"predicted_ratio", pair.predicted_ratio},
          {"low_ratio", pair.low_ratio},
          {"high_ratio", pair.high_ratio},
          {"measured_ratio", pair.measured_ratio},
          {"measured_low_ratio", number_if_known(pair.measured_low_ratio)},
          {"measured_high_ratio", number_if_known(pair.measured_high_ratio)},
          {"error", pair.error()},
          {"within", pair.within()}};
}

void put_figures(ordered_json& json, const PairFigures& figures) {
  json["count"] = figures.pairs;
  json["median_error"] = figures.median_error;
  json["within"] = figures.within;
}

}  // namespace

std::string pair_sentence(const PredictionPair& pair) {
  const bool tested = pair.measured_low_ratio && pair.measured_high_ratio;
  const std::string measured = ratio_text(pair.measured_ratio) +
                               (tested ? fmt::format(" ({})", ratio_range(*pair.measured_low_ratio, *pair.measured_high_ratio)) : "");
  const std::string predicted =
      fmt::format("Predicted {} ({})", ratio_text(pair.predicted_ratio), ratio_range(pair.low_ratio, pair.high_ratio));
  if (pair.within()) return fmt::format("{}, measured {}: within the interval.", predicted, measured);
  return fmt::format("{}, measured {}: outside the interval, {} % {} than predicted.", predicted, measured, size_of_change(pair.error()),
                     pair.error() > 0 ? "longer" : "shorter");
}

std::string record_markdown(const std::vector<PredictionRecord>& records, const std::string& ledger) {
  return markdown(record_document(records, ledger));
}

std::string record_text(const std::vector<PredictionRecord>& records, const std::string& ledger, std::size_t width) {
  return terminal_text(record_document(records, ledger), width);
}

std::string record_json(const std::vector<PredictionRecord>& records, const std::string& ledger) {
  ordered_json json = {{"ledger", ledger}, {"machines", ordered_json::array()}};
  for (const PredictionRecord& record : records) {
    ordered_json machine = {{"hardware", text_if_known(record.hardware)}};
    put_figures(machine, record.figures);
    machine["interval_scale"] = record.interval_scale;
    machine["kinds"] = machine["pairs"] = ordered_json::array();
    for (const PairsOfKind& each : record.kinds) {
      ordered_json kind = {{"kind", each.kind}};
      put_figures(kind, each.figures);
      machine["kinds"].push_back(std::move(kind));
    }
    for (const PredictionPair& pair : record.pairs) machine["pairs"].push_back(pair_json(pair));
    json["machines"].push_back(std::move(machine));
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::exporters
