#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/statistics/confidence.h"

// Intervals of medians by resampling. Seeded, and the same on every machine.
namespace nl::analysis {

// The mean of the two middle values where the count is even; 0 of nothing.
double median_of(std::vector<double> values);

// The standard deviation of a normal distribution whose deviations from its middle have this median size: a few wild ones do not count.
double robust_sigma(std::vector<double> deviations);

// The medians of `count` samples drawn with replacement from values in the order of time. `block`: so many values in
// a row are drawn together (after the last comes the first), so that values that depend on their neighbours in time stay together.
std::vector<double> bootstrap_medians(std::span<const double> values, std::size_t block, std::size_t count, std::uint64_t seed);

// Differences b − a of two such sets of the same size, each of a with one of b. Which one is drawn the same way from both sides: a and
// b swapped give the same differences with the other sign.
std::vector<double> paired_differences(std::span<const double> a, std::span<const double> b);

// The interval that leaves out the share `tail` of the values at each end.
Interval percentile_interval(std::vector<double> values, double tail);

// The tail of a 95 % interval of a sample of so many independent values. Percentiles of resampled means are too narrow for few values
// (by √((n − 1) ÷ n), and as the normal to Student's distribution); a smaller tail makes up for it. Hesterberg 2015, "expanded percentiles".
double tail_95(double independent_values);

}  // namespace nl::analysis
