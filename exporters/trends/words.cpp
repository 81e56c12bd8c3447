#include "exporters/trends/trends.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/text/figure_text.h"
#include "model/visible_text.h"

namespace nl::exporters::trends {
namespace {

constexpr std::size_t kCommitDigits = 10;

std::string day_of(const std::string& time) { return time.substr(0, 10); }

const TrendLevel& level_at(const TrendSeries& series, std::size_t point) {
  return *std::find_if(series.levels.begin(), series.levels.end(), [&](const TrendLevel& level) { return point < level.last; });
}

}  // namespace

std::string value_text(const Trend& trend, double value) {
  const std::string number = three_digits(value);
  return trend.info == nullptr || key_of(trend.info->unit).empty() ? number : fmt::format("{} {}", number, key_of(trend.info->unit));
}

std::string series_title(const TrendSeries& series) {
  std::string title = series.hardware.empty() ? "hardware not known" : series.hardware;
  if (!series.workload_text.empty()) title += ", " + series.workload_text;
  else
    for (const std::string& part : {series.model, series.precision})
      if (!part.empty()) title += ", " + part;
  return series.program_known ? title : title + ", program not known";
}

std::string points_text(const Trend& trend, const TrendSeries& series) {
  return plural(series.points.size(), trend.by == TrendBy::kCommit ? "commit" : "run");
}

std::vector<Change> changes_of(const Trend& trend, const TrendSeries& series) {
  std::vector<Change> changes;
  for (std::size_t i = 1; i < series.levels.size(); ++i) {
    const double before = series.levels[i - 1].median, after = series.levels[i].median;
    Change change{series.levels[i].first, before, after, before != 0 ? (after - before) / std::abs(before) : 0, ""};
    if (trend.info != nullptr) change.verdict = (after > before) == (trend.info->better == Better::kHigher) ? "better" : "worse";
    changes.push_back(std::move(change));
  }
  return changes;
}

std::string point_name(const Trend& trend, const TrendPoint& point) {
  return trend.by == TrendBy::kCommit ? point.revision.substr(0, kCommitDigits) : point.run_id;
}

std::string change_sentence(const Trend& trend, const TrendSeries& series, const Change& change) {
  const TrendPoint& point = series.points[change.at];
  const std::string commit =
      trend.by == TrendBy::kDate && !point.revision.empty() ? fmt::format(", commit {}", point.revision.substr(0, kCommitDigits)) : "";
  return fmt::format("from {} ({}{}): {} to {}, {}{}", point_name(trend, point), day_of(point.created_at), commit,
                     value_text(trend, change.before), value_text(trend, change.after), signed_percent(change.share),
                     change.verdict.empty() ? "" : ", " + change.verdict);
}

std::string no_change_sentence(const Trend& trend, const TrendSeries& series) {
  if (series.points.size() >= kLeastPointsOfChange) return fmt::format("No change of {} % or more.", 100 * trend.min_effect);
  return fmt::format("{} {} too few to tell a change ({} are needed).", points_text(trend, series),
                     series.points.size() == 1 ? "is" : "are", kLeastPointsOfChange);
}

std::string point_sentence(const Trend& trend, const TrendPoint& point) {
  return fmt::format("{} ({}): {}", point_name(trend, point), day_of(point.created_at), value_text(trend, point.value));
}

std::string anomaly_sentence(const Trend& trend, const TrendSeries& series, std::size_t at) {
  const TrendLevel& level = level_at(series, at);
  return fmt::format("{}, expected {} to {}", point_sentence(trend, series.points[at]), value_text(trend, level.low),
                     value_text(trend, level.high));
}

Range value_range(const TrendSeries& series) {
  Range range{series.points[0].value, series.points[0].value};
  for (const TrendPoint& point : series.points) range = {std::min(range.low, point.value), std::max(range.high, point.value)};
  const double room = range.high > range.low ? 0.05 * (range.high - range.low) : std::max(1e-9, 0.05 * std::abs(range.low));
  const bool positive = range.low >= 0;  // a time cannot be below zero: the axis ends there
  return {positive ? std::max(0.0, range.low - room) : range.low - room, range.high + room};
}

}  // namespace nl::exporters::trends
