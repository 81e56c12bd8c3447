#pragma once

#include <string>
#include <vector>

#include "model/trend.h"

namespace nl::exporters {

// For a terminal of this many columns: each series as a picture of characters, then its changes and anomalies in words.
inline constexpr std::size_t kPictureColumns = 100;
std::string trend_text(const Trend& trend, std::size_t columns = kPictureColumns);

std::string trend_json(const Trend& trend);  // {metric, unit, better, by, series: [{hardware, model, points, levels, changes, anomalies}]}
std::string trend_svg(const Trend& trend);   // a picture that stands alone
std::string trend_html(const Trend& trend);  // the picture, and tables of changes and anomalies; nothing is loaded from elsewhere

// What these say alike.
namespace trends {

std::string value_text(const Trend& trend, double value);                // "4.20 ms"
std::string series_title(const TrendSeries& series);                     // "NVIDIA H200, Llama-3.1-8B, bf16"
std::string points_text(const Trend& trend, const TrendSeries& series);  // "3 commits"

struct Change {
  std::size_t at = 0;                       // the first point of the new level
  double before = 0, after = 0, share = 0;  // share: of the level before; 0.05: 5 % more
  std::string verdict;                      // "better", "worse"; empty: not known which way is better
};
std::vector<Change> changes_of(const Trend& trend, const TrendSeries& series);

// A single point makes no picture: it is told.
inline bool is_drawn(const TrendSeries& series) { return series.points.size() > 1; }

std::string point_name(const Trend& trend, const TrendPoint& point);  // a run's id, or a commit's first digits
std::string change_sentence(const Trend& trend, const TrendSeries& series, const Change& change);
std::string no_change_sentence(const Trend& trend, const TrendSeries& series);  // "2 runs are too few to tell a change (6 are needed)."
std::string point_sentence(const Trend& trend, const TrendPoint& point);        // "run-1 (2026-11-16): 4.00 ms"
std::string anomaly_sentence(const Trend& trend, const TrendSeries& series, std::size_t at);

struct Range {
  double low = 0, high = 0;
};
Range value_range(const TrendSeries& series);  // of the points, with some room; never empty

}  // namespace trends
}  // namespace nl::exporters
