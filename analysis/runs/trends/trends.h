#pragma once

#include <string>
#include <vector>

#include "model/trend.h"

namespace nl::analysis {

// One recorded value of the metric.
struct TrendValue {
  TrendPoint point;
  std::string hardware, model, precision, workload, workload_text;
  bool program_known = true;
};

// The values in the order of time, one series for each hardware and workload, with its changes and anomalies.
std::vector<TrendSeries> trend_series(std::vector<TrendValue> values, TrendBy by, double min_effect);

}  // namespace nl::analysis
