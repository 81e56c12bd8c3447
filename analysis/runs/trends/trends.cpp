#include "analysis/runs/trends/trends.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/statistics/bootstrap.h"
#include "analysis/statistics/change_points.h"

namespace nl::analysis {
namespace {

static_assert(kLeastPointsOfChange == 2 * kLeastRuns);

// A commit stands where its first run was made. Runs without a commit are left out.
std::vector<TrendPoint> points_by_commit(const std::vector<TrendPoint>& runs) {
  std::vector<TrendPoint> points;
  std::vector<std::vector<double>> values;
  std::map<std::string, std::size_t> places;
  for (const TrendPoint& run : runs) {
    if (run.revision.empty()) continue;
    const auto [place, is_new] = places.emplace(run.revision, points.size());
    if (is_new) {
      points.push_back(run);
      values.emplace_back();
    }
    points[place->second].run_id = run.run_id;
    values[place->second].push_back(run.value);
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].runs = values[i].size();
    points[i].value = median_of(std::move(values[i]));
  }
  return points;
}

void judge_series(TrendSeries& series, double min_effect) {
  std::vector<double> values;
  for (const TrendPoint& point : series.points) values.push_back(point.value);
  const std::vector<SeriesLevel> levels = levels_of(values, min_effect);
  const bool positive = std::all_of(values.begin(), values.end(), [](double value) { return value >= 0; });
  for (const SeriesLevel& level : levels) {
    const double reach = expected_reach(level, min_effect), low = level.median - reach;
    series.levels.push_back(
        {level.first, level.last, level.median, positive ? std::max(0.0, low) : low, level.median + reach});  // no time is below zero
  }
  series.anomalies = anomalies_of(values, levels, min_effect);
}

}  // namespace

std::vector<TrendSeries> trend_series(std::vector<TrendValue> values, TrendBy by, double min_effect) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, TrendSeries> groups;
  for (TrendValue& value : values) {
    TrendSeries& series = groups[{value.hardware, value.model, value.precision, value.workload}];
    if (series.points.empty())
      series = {std::move(value.hardware),
                std::move(value.model),
                std::move(value.precision),
                std::move(value.workload),
                std::move(value.workload_text),
                {},
                {},
                {}};
    series.program_known = series.program_known && value.program_known;
    series.points.push_back(std::move(value.point));
  }
  std::vector<TrendSeries> all;
  for (auto& [key, series] : groups) {
    if (by == TrendBy::kCommit) series.points = points_by_commit(series.points);
    if (series.points.empty()) continue;
    judge_series(series, min_effect);
    all.push_back(std::move(series));
  }
  std::stable_sort(all.begin(), all.end(), [](const TrendSeries& a, const TrendSeries& b) { return a.points.size() > b.points.size(); });
  return all;
}

}  // namespace nl::analysis
