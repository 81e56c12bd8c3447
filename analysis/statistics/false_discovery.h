#pragma once

#include <vector>

namespace nl::analysis {

// Benjamini and Hochberg: the q-value of each p-value. Of all with q ≤ 0.05, one in twenty at most is there by chance; where nothing is
// real, the chance of any is one in twenty. What is no number counts as 1.
std::vector<double> q_values(std::vector<double> p_values);

}  // namespace nl::analysis
