#include "load/arrivals.h"

#include <cmath>

#include "tests/catch.h"

using namespace nl;

namespace {

constexpr Ns kDay = 86'400'000'000'000;

LoadArrivals arrivals(ArrivalKind kind, double rate, std::uint64_t seed = 1, std::optional<double> burstiness = {}) {
  LoadArrivals out;
  out.kind = kind;
  out.rate_per_s = rate;
  out.seed = seed;
  out.burstiness = burstiness;
  return out;
}

struct Moments {
  double mean = 0, variance = 0;
};

Moments gaps_of(const std::vector<Ns>& times) {
  Moments out;
  std::vector<double> gaps;
  for (std::size_t i = 0; i < times.size(); ++i) gaps.push_back(static_cast<double>(times[i] - (i == 0 ? 0 : times[i - 1])) / 1e9);
  for (const double gap : gaps) out.mean += gap / static_cast<double>(gaps.size());
  for (const double gap : gaps) out.variance += (gap - out.mean) * (gap - out.mean) / static_cast<double>(gaps.size() - 1);
  return out;
}

// Mean 1/rate, variance 1/(b rate²). The mean of n gaps scatters by 1/√(b n); the variance of gamma gaps by √((2 + 6/b)/n), from their fourth moment.
// Four of each: one in 16,000 draws fails, and the seed is fixed.
void check_gaps(const std::vector<Ns>& times, double rate, double burstiness) {
  const Moments gaps = gaps_of(times);
  const auto count = static_cast<double>(times.size());
  CHECK(std::abs(gaps.mean * rate - 1) < 4 / std::sqrt(burstiness * count));
  CHECK(std::abs(gaps.variance * rate * rate * burstiness - 1) < 4 * std::sqrt((2 + 6 / burstiness) / count));
}

}  // namespace

TEST_CASE("load arrivals: Poisson gaps have the mean and the variance of the rate") {
  for (const std::uint64_t seed : {1, 2, 3})
    check_gaps(load::arrival_times(arrivals(ArrivalKind::kPoisson, 50, seed), 40'000, kDay), 50, 1);
}

TEST_CASE("load arrivals: gamma gaps have the variance of their burstiness") {
  for (const double burstiness : {0.25, 0.5, 1.0, 4.0})
    check_gaps(load::arrival_times(arrivals(ArrivalKind::kGamma, 20, 7, burstiness), 40'000, kDay), 20, burstiness);
}

TEST_CASE("load arrivals: the share of long Poisson gaps is that of the exponential distribution") {
  const auto times = load::arrival_times(arrivals(ArrivalKind::kPoisson, 10), 20'000, kDay);
  std::size_t longer = 0;
  for (std::size_t i = 1; i < times.size(); ++i) longer += times[i] - times[i - 1] > 200'000'000 ? 1 : 0;
  // e⁻² of 20,000, within four standard deviations of a binomial number
  CHECK(std::abs(static_cast<double>(longer) / 20'000 - std::exp(-2)) < 4 * std::sqrt(std::exp(-2) * (1 - std::exp(-2)) / 20'000));
}

TEST_CASE("load arrivals: constant ones are exact, without a sum of rounded gaps") {
  const auto times = load::arrival_times(arrivals(ArrivalKind::kConstant, 3), 100'000, kDay);
  REQUIRE(times.size() == 100'000);
  for (std::size_t i = 0; i < times.size(); i += 3) CHECK(times[i] == static_cast<Ns>(i / 3) * 1'000'000'000);
}

TEST_CASE("load arrivals: a seed gives the same times again, another seed gives others, and none is late") {
  const auto of_seed = [](std::uint64_t seed) {
    return load::arrival_times(arrivals(ArrivalKind::kGamma, 100, seed, 0.5), 1000, 5'000'000'000);
  };
  CHECK(of_seed(1) == of_seed(1));
  CHECK(of_seed(1) != of_seed(2));
  const auto times = of_seed(3);
  CHECK(times.size() < 1000);
  CHECK(std::is_sorted(times.begin(), times.end()));
  CHECK(times.back() < 5'000'000'000);
}
