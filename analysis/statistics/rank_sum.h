#pragma once

#include <optional>
#include <vector>

#include "analysis/statistics/confidence.h"

// The shift between two sides by the ranks of their values (Mann and Whitney 1947). A disturbed run spoils its own differences alone, where that of a
// pair spoils the whole pair.
namespace nl::analysis {

// The interval of b − a, by the differences of any value of one side and any of the other (Hodges and Lehmann). Nothing where so few values cannot give
// that confidence.
std::optional<Interval> rank_sum_interval(const std::vector<double>& a, const std::vector<double>& b, double confidence);

// How often chance alone ranks the sides this unevenly, if b is larger by `shift`: the two-sided p-value.
double rank_sum_p(const std::vector<double>& a, const std::vector<double>& b, double shift);

}  // namespace nl::analysis
