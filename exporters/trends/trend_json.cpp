#include <nlohmann/json.hpp>

#include "exporters/trends/trends.h"

namespace nl::exporters {
namespace {

using nlohmann::ordered_json;

ordered_json name_or_null(const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); }

ordered_json point_json(const TrendPoint& point) {
  return {{"run_id", point.run_id},
          {"created_at", point.created_at},
          {"revision", name_or_null(point.revision)},
          {"value", point.value},
          {"runs", point.runs}};
}

ordered_json series_json(const Trend& trend, const TrendSeries& series) {
  ordered_json json = {{"hardware", name_or_null(series.hardware)},
                       {"model", name_or_null(series.model)},
                       {"precision", name_or_null(series.precision)},
                       {"workload", name_or_null(series.workload)},
                       {"workload_text", name_or_null(series.workload_text)}};
  for (const char* list : {"points", "levels", "changes", "anomalies"}) json[list] = ordered_json::array();
  for (const TrendPoint& point : series.points) json["points"].push_back(point_json(point));
  for (const TrendLevel& level : series.levels)
    json["levels"].push_back({{"first", level.first},
                              {"last", level.last - 1},
                              {"median", level.median},
                              {"expected_low", level.low},
                              {"expected_high", level.high}});
  for (const trends::Change& change : trends::changes_of(trend, series))
    json["changes"].push_back({{"point", change.at},
                               {"run_id", series.points[change.at].run_id},
                               {"before", change.before},
                               {"after", change.after},
                               {"share", change.share},
                               {"verdict", name_or_null(change.verdict)}});
  for (const std::size_t at : series.anomalies)
    json["anomalies"].push_back({{"point", at}, {"run_id", series.points[at].run_id}, {"value", series.points[at].value}});
  return json;
}

}  // namespace

std::string trend_json(const Trend& trend) {
  ordered_json json = {{"metric", trend.metric},
                       {"unit", trend.info ? name_or_null(std::string(key_of(trend.info->unit))) : ordered_json()},
                       {"better", trend.info ? ordered_json(trend.info->better == Better::kLower ? "lower" : "higher") : ordered_json()},
                       {"by", trend.by == TrendBy::kCommit ? "commit" : "date"},
                       {"min_effect", trend.min_effect},
                       {"series", ordered_json::array()}};
  for (const TrendSeries& series : trend.series) json["series"].push_back(series_json(trend, series));
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::exporters
