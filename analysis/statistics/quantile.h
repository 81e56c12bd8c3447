#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/statistics/confidence.h"

// Percentiles as different tools compute them, of sorted values, and how far one is uncertain. `share` is 0.99 for p99.
namespace nl::analysis {

// The smallest value that at least this share of the values does not exceed.
double nearest_rank(std::span<const double> sorted, double share);

// Between the two values beside the place (n − 1) · share, as numpy.percentile() does it by default.
double linear_quantile(std::span<const double> sorted, double share);

// Of values with weights, sorted by value: the smallest at which the sum of the weights reaches this share of all.
double weighted_quantile(std::span<const std::pair<double, double>> sorted, double share);

// 95 % interval of a quantile by the ranks of the values, whatever their distribution: so many of n values lie below it as a coin of that share
// falls. Values that depend on their neighbours count as `independent` ones. Nothing where so few values do not reach that far.
std::optional<Interval> quantile_interval(std::span<const double> sorted, double share, double independent);

}  // namespace nl::analysis
