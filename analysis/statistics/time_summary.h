#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/durations.h"
#include "model/run.h"

namespace nl::analysis {

// The mean of the two middle values where the count is even. Reorders `values` so that the upper half is last; it must not be empty.
template <class Value>
double median_in_place(std::vector<Value>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return static_cast<double>(*middle);
  return (static_cast<double>(*std::max_element(values.begin(), middle)) + static_cast<double>(*middle)) / 2;
}

// Exact, as nsys computes them. Reorders `values`.
TimeSummary summarise_times(std::vector<Ns>& values);
TimeSummary summarise_times(const Durations& durations);

}  // namespace nl::analysis
