#pragma once

#include <optional>
#include <span>

#include "analysis/statistics/confidence.h"

// Differences of pairs by their signed ranks (Wilcoxon 1945): a wild pair counts by its rank alone, so that one disturbed run in ten costs hardly any
// power. It holds where a difference and its opposite are equally likely without an effect; the random order inside of each pair makes it so.
namespace nl::analysis {

// The interval of the middle of the differences, by the means of any two of them (Hodges and Lehmann). Nothing where so few pairs cannot give
// that confidence.
std::optional<Interval> signed_rank_interval(std::span<const double> differences, double confidence);

// How often chance alone ranks the differences around `middle` this unevenly: the two-sided p-value.
double signed_rank_p(std::span<const double> differences, double middle);

}  // namespace nl::analysis
