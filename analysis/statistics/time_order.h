#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/statistics/confidence.h"

// Values that were measured one after another: how much neighbours depend on each other, and whether two sides differ beyond a common
// trend.
namespace nl::analysis {

// How many neighbours in time hold the information of one independent value: 1 + 2 × the sum of the autocorrelations until they are
// lost in noise. At least 1. `count` values are worth count ÷ this independent ones.
double autocorrelation_time(std::span<const double> values);

struct OrderedValue {
  double value = 0;
  double place = 0;  // in the order of time
  bool of_b = false;
};

struct SideEffect {
  double difference = 0;                              // b − a, the trend taken out
  double standard_error = 0, degrees_of_freedom = 1;  // of the difference
  double p_value = 1;                                 // that chance gives it
  double trend = 0;                                   // a place; 0 where it was not asked for
  double trend_p_value = 1;
};

// By least squares, value = level + difference · side + trend · place. Nothing where the values are not enough: there are not
// more values than unknowns, only one side has values, or (with a trend) the place follows from the side.
std::optional<SideEffect> side_effect(std::vector<OrderedValue> values, bool with_trend);

// How well the place predicts the side, 0..1: 0.75 where all of one side came first, near 0 where they take turns.
double side_by_place(const std::vector<OrderedValue>& values);

}  // namespace nl::analysis
