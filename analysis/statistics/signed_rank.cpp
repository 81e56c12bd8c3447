#include "analysis/statistics/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace nl::analysis {
namespace {

constexpr std::size_t kMostExact = 30;  // pairs; for more the normal distribution differs by less than 0.1 % of the probability

// P(sum of the positive ranks ≤ sum) of so many pairs, by counting: each rank is positive or negative.
std::vector<double> rank_sum_distribution(std::size_t pairs) {
  std::vector<double> share(pairs * (pairs + 1) / 2 + 1, 0.0);
  share[0] = 1;
  std::size_t most = 0;
  for (std::size_t rank = 1; rank <= pairs; ++rank) {
    most += rank;
    for (std::size_t sum = most + 1; sum-- > 0;) share[sum] = (share[sum] + (sum >= rank ? share[sum - rank] : 0)) / 2;
  }
  for (std::size_t sum = 1; sum < share.size(); ++sum) share[sum] += share[sum - 1];
  return share;
}

double at_most(double sum, std::size_t pairs) {
  if (sum < 0) return 0;
  if (pairs <= kMostExact) {
    const std::vector<double> below = rank_sum_distribution(pairs);
    return below[std::min(below.size() - 1, static_cast<std::size_t>(sum))];
  }
  const auto count = static_cast<double>(pairs);
  const double mean = count * (count + 1) / 4, deviation = std::sqrt(count * (count + 1) * (2 * count + 1) / 24);
  return 0.5 * std::erfc(-(sum + 0.5 - mean) / deviation / std::numbers::sqrt2);
}

// How many of the smallest means lie below the interval; nothing where not even the smallest does.
std::optional<std::size_t> cut_of(std::size_t pairs, double confidence) {
  const double tail = (1 - confidence) / 2;
  const std::size_t most = pairs * (pairs + 1) / 2;
  if (pairs <= kMostExact) {
    const std::vector<double> below = rank_sum_distribution(pairs);
    std::size_t cut = 0;
    while (cut < most / 2 && below[cut] <= tail) ++cut;
    return cut > 0 ? std::optional(cut - 1) : std::nullopt;
  }
  std::size_t low = 0, high = most / 2;
  while (low + 1 < high) {
    const std::size_t middle = (low + high) / 2;
    (at_most(static_cast<double>(middle), pairs) <= tail ? low : high) = middle;
  }
  return low;
}

}  // namespace

std::optional<Interval> signed_rank_interval(std::span<const double> differences, double confidence) {
  const std::optional<std::size_t> cut = cut_of(differences.size(), confidence);
  if (!cut) return std::nullopt;
  std::vector<double> means;
  for (std::size_t i = 0; i < differences.size(); ++i)
    for (std::size_t j = i; j < differences.size(); ++j) means.push_back((differences[i] + differences[j]) / 2);
  std::sort(means.begin(), means.end());
  return Interval{means[*cut], means[means.size() - 1 - *cut]};
}

double signed_rank_p(std::span<const double> differences, double middle) {
  std::vector<double> off;
  for (const double difference : differences)
    if (difference != middle) off.push_back(difference - middle);
  if (off.empty()) return 1;
  std::sort(off.begin(), off.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  double positive = 0, negative = 0;
  for (std::size_t first = 0, last = 0; first < off.size(); first = last) {
    while (last < off.size() && std::abs(off[last]) == std::abs(off[first])) ++last;
    const double rank = static_cast<double>(first + last + 1) / 2;  // of equal ones the mean of their ranks
    for (std::size_t i = first; i < last; ++i) (off[i] > 0 ? positive : negative) += rank;
  }
  return std::min(1.0, 2 * at_most(std::min(positive, negative), off.size()));
}

}  // namespace nl::analysis
