#pragma once

#include <string>
#include <vector>

#include "model/trend.h"

namespace nl::analysis {

// One recorded value of the metric.
struct TrendValue {
  TrendPoint point;
  std::string hardware, model, precision;
};

// The values, in the order of time, told apart by hardware, model and precision; with the changes and anomalies of each.
std::vector<TrendSeries> trend_series(std::vector<TrendValue> values, TrendBy by, double min_effect);

}  // namespace nl::analysis
