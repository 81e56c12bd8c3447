#pragma once

#include <string>
#include <vector>

#include "model/trend.h"

// What the renderers of trends say alike.
namespace nl::exporters::trends {

std::string value_text(const Trend& trend, double value);  // "4.20 ms"
std::string series_title(const TrendSeries& series);       // "NVIDIA H200, Llama-3.1-8B, bf16"

struct Change {
  std::size_t at = 0;                       // the first point of the new level
  double before = 0, after = 0, share = 0;  // share: of the level before; 0.05: 5 % more
  std::string verdict;                      // "better", "worse"; empty: not known which way is better
};
std::vector<Change> changes_of(const Trend& trend, const TrendSeries& series);

std::string point_name(const Trend& trend, const TrendPoint& point);  // a run's id, or a commit's first digits
std::string change_sentence(const Trend& trend, const TrendSeries& series, const Change& change);
std::string anomaly_sentence(const Trend& trend, const TrendSeries& series, std::size_t at);

struct Range {
  double low = 0, high = 0;
};
Range value_range(const TrendSeries& series);  // of the points, with some room; never empty

}  // namespace nl::exporters::trends
