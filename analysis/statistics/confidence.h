#pragma once

#include <optional>
#include <vector>

namespace nl::analysis {

struct Interval {
  double low = 0, high = 0;
};

// The t with P(|T| < t) = confidence for Student's distribution; degrees of freedom need not be whole.
double student_t(double confidence, double degrees_of_freedom);

// How often |T| is at least this large by chance: the two-sided p-value.
double student_p(double t, double degrees_of_freedom);

// Interval of mean(b) − mean(a), by Welch: the two may scatter differently. Nothing where either has fewer than two values.
std::optional<Interval> difference_interval(const std::vector<double>& a, const std::vector<double>& b, double confidence);

// The same at 95 %.
std::optional<Interval> difference_95(const std::vector<double>& a, const std::vector<double>& b);

// The same for a single b, which is taken to scatter as the values of `a` do.
std::optional<Interval> difference_95(const std::vector<double>& a, double b);

// 95 % interval of a share of which `hits` of `all` independent draws have it, by Wilson: it holds for few draws and for shares near 0 and 1,
// too. From 0 to 1 where there are no draws.
Interval share_95(double hits, double all);

// Benjamini and Hochberg: the q-value of each p-value. Of all with q ≤ 0.05, one in twenty at most is there by chance; where nothing is
// real, the chance of any is one in twenty. A p-value that is not finite counts as 1.
std::vector<double> q_values(std::vector<double> p_values);

}  // namespace nl::analysis
