#include "analysis/statistics/difference.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics/signed_rank.h"
#include "tests/catch.h"
#include "tests/unit/analysis/statistics/simulated_noise.h"

using namespace nl::analysis;
using namespace nl::test;

namespace {

const double kLeast = std::log1p(0.01);

Interval of_percents(double low, double high) { return {std::log1p(low / 100), std::log1p(high / 100)}; }

}  // namespace

TEST_CASE("difference: the verdict follows from the interval alone") {
  CHECK(decision_of(of_percents(-16.2, -8.7), kLeast) == Decision::kLess);  // "unchanged", when a noise floor had its say
  CHECK(decision_of(of_percents(1.7, 2.8), kLeast) == Decision::kMore);     // "no difference shows"
  CHECK(decision_of(of_percents(108, 229), kLeast) == Decision::kMore);
  CHECK(decision_of(of_percents(-0.9, 0.9), kLeast) == Decision::kUnchanged);
  CHECK(decision_of(of_percents(0.4, 0.9), kLeast) == Decision::kUnchanged);
  CHECK(decision_of(of_percents(0.4, 2.8), kLeast) == Decision::kUndecided);
  CHECK(decision_of(of_percents(-2, 2), kLeast) == Decision::kUndecided);
}

TEST_CASE("difference: six pairs with one sign exclude that nothing changed, five do not at 95 %") {
  const std::vector<double> six = {0.04, 0.1, 0.17, 0.23, 0.35, 0.44}, five(six.begin(), six.end() - 1);
  const auto interval = signed_rank_interval(six, 0.95);
  REQUIRE(interval);
  CHECK(interval->low == Approx(0.04));
  CHECK(interval->high == Approx(0.44));
  CHECK_FALSE(signed_rank_interval(five, 0.95));
  CHECK(signed_rank_p(six, 0) == Approx(2.0 / 64));
  CHECK(signed_rank_p(six, 0.2) == Approx(1).margin(0.5));
}

TEST_CASE("difference: the order of the runs says how they are analysed") {
  const auto order = [](const std::string& sides) {
    std::vector<OrderedValue> values;
    for (std::size_t i = 0; i < sides.size(); ++i) values.push_back({0, static_cast<double>(i), sides[i] == 'B'});
    return order_of(values);
  };
  CHECK(order("ABBAABBA") == SideOrder::kPairs);
  CHECK(order("ABABAB") == SideOrder::kPairs);
  CHECK(order("AAABBB") == SideOrder::kBlocks);
  CHECK(order("BBBAAA") == SideOrder::kBlocks);
  CHECK(order("AABAB") == SideOrder::kMixed);
  CHECK(order_of({{0, 0, false}, {0, 0, true}}) == SideOrder::kUnknown);
}

TEST_CASE("difference: runs of a ledger tell how much runs differ, a change of the build among them hardly counts") {
  std::vector<double> logs;
  for (int i = 0; i < 60; ++i) logs.push_back((i < 30 ? 0 : 0.1) + 0.01 * (i * 7 % 5 - 2));
  const auto wander = wander_of(logs);
  REQUIRE(wander);
  CHECK(wander->spread > 0.01);
  CHECK(wander->spread < 0.02);
  CHECK_FALSE(wander_of({1, 2}));
  CHECK(pooled({0.035, 8}, {0.005, 40}).spread == Approx(std::sqrt((8 * 0.035 * 0.035 + 40 * 0.005 * 0.005) / 48)));
}

TEST_CASE("difference: more runs are asked for where the interval is wide, none where they would not help") {
  std::mt19937_64 random(3);
  const auto effect = effect_of(two_sides(noisy_runs(Noise::kNormal, 10, random), Turns::kPairs, std::log(1.03), random), {});
  const auto runs = runs_to_decide(*effect, 5, kLeast, 0.95);
  REQUIRE(runs);
  CHECK(*runs > 5);
  CHECK(*runs < 200);
  Effect at_the_edge = *effect;
  at_the_edge.difference = kLeast;
  CHECK_FALSE(runs_to_decide(at_the_edge, 5, kLeast, 0.95));
}

// bench/compare_honesty asks a thousand times and prints the tables of docs/compare.md.
TEST_CASE("difference: false changes at most 5 % and coverage at least 92 % in every cell, of the noise that machines have") {
  constexpr int kTrials = 250;
  for (const Noise noise : kNoises) {
    if (noise == Noise::kOutliers || noise == Noise::kRhythm) continue;  // docs/compare.md says what few runs cannot do
    for (const Turns turns : {Turns::kPairs, Turns::kBlocks})
      for (const std::size_t runs : {1, 2, 3, 5, 10}) {
        std::mt19937_64 random(17 * runs);
        int changed = 0, covered = 0;
        for (int i = 0; i < kTrials; ++i) {
          const auto effect = effect_of(two_sides(noisy_runs(noise, 2 * runs, random), turns, 0, random), {});
          const Interval interval = effect->interval(0.95);
          const Decision decision = decision_of(interval, kLeast);
          changed += decision == Decision::kLess || decision == Decision::kMore;
          covered += interval.low <= 0 && interval.high >= 0;
        }
        INFO(title_of(noise) << ", " << runs << " runs a side, " << (turns == Turns::kPairs ? "in pairs" : "in blocks"));
        CHECK(changed <= 0.05 * kTrials + 7);    // 5 % and two standard deviations of so few trials
        CHECK(covered >= 0.92 * kTrials - 8.6);  // 92 % less two
      }
  }
}

TEST_CASE("difference: a change of 10 % is found by five pairs in nine of ten") {
  int found = 0;
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    const auto effect = effect_of(two_sides(noisy_runs(Noise::kNormal, 10, random), Turns::kPairs, std::log(1.1), random), {});
    found += decision_of(effect->interval(0.95), kLeast) == Decision::kMore;
  }
  CHECK(found >= 180);
}
