#include "analysis/statistics/time_order.h"

#include <cmath>
#include <vector>

#include "tests/catch.h"

using namespace nl::analysis;

namespace {

// A reproducible noise of ±1 that repeats after 1009 values.
double wobble(int i) { return static_cast<double>(i * 379 % 1009) / 504.5 - 1; }

std::vector<OrderedValue> in_order(const std::vector<double>& values, const std::vector<bool>& of_b) {
  std::vector<OrderedValue> ordered;
  for (std::size_t i = 0; i < values.size(); ++i) ordered.push_back({values[i], static_cast<double>(i + 1), of_b[i]});
  return ordered;
}

}  // namespace

TEST_CASE("independent values are each worth one, values that come in pairs half of it") {
  std::vector<double> alone, pairs;
  for (int i = 0; i < 400; ++i) {
    alone.push_back(wobble(i * i));
    pairs.push_back(wobble((i / 2) * (i / 2)));
  }
  CHECK(autocorrelation_time(alone) < 1.4);
  CHECK(autocorrelation_time(pairs) == Approx(2).margin(0.4));  // 1 + 2 × ½: only one neighbour is the same
}

TEST_CASE("a series that only rises is worth few values, a constant one or three are as they are") {
  std::vector<double> rising;
  for (int i = 0; i < 100; ++i) rising.push_back(i);
  CHECK(autocorrelation_time(rising) > 20);
  CHECK(autocorrelation_time(std::vector<double>(50, 3.0)) == 1);
  CHECK(autocorrelation_time(std::vector<double>{1, 2, 3}) == 1);
  CHECK(autocorrelation_time({}) == 1);
}

TEST_CASE("two sides without a trend: Student's t of two samples") {
  // Means 2.5 and 5, variances 5/3 and 14/3: t = 2.5 ÷ √(19/6 × 1/2) = 1.98680 with 6 degrees of freedom.
  const auto effect = side_effect(in_order({1, 2, 3, 4, 3, 4, 5, 8}, {false, false, false, false, true, true, true, true}), false);
  REQUIRE(effect);
  CHECK(effect->difference == Approx(2.5));
  CHECK(effect->p_value == Approx(student_p(1.98680, 6)).margin(1e-5));
}

TEST_CASE("a trend that explains the difference leaves none, where the sides take turns it does not matter") {
  std::vector<double> drifting;
  for (int i = 0; i < 12; ++i) drifting.push_back(100 + i + 0.1 * wobble(i));
  const std::vector<bool> blocks = {false, false, false, false, false, false, true, true, true, true, true, true};
  const std::vector<bool> turns = {false, true, true, false, false, true, true, false, false, true, true, false};
  const auto plain = side_effect(in_order(drifting, blocks), false), adjusted = side_effect(in_order(drifting, blocks), true);
  REQUIRE((plain && adjusted));
  CHECK(plain->p_value < 0.001);
  CHECK(adjusted->p_value > 0.05);
  CHECK(adjusted->trend == Approx(1).margin(0.1));
  CHECK(adjusted->trend_p_value < 0.001);
  CHECK(side_by_place(in_order(drifting, blocks)) == Approx(0.755).margin(0.001));
  for (int i = 0; i < 12; ++i) drifting[static_cast<std::size_t>(i)] += turns[static_cast<std::size_t>(i)] ? 1 : 0;
  const auto interleaved = side_effect(in_order(drifting, turns), true);
  REQUIRE(interleaved);
  CHECK(interleaved->difference == Approx(1).margin(0.15));
  CHECK(interleaved->p_value < 0.001);
  CHECK(side_by_place(in_order(drifting, turns)) < 0.05);
}

TEST_CASE("exchanged sides turn the sign and nothing else") {
  const std::vector<double> values = {1.1, 2.7, 0.3, 4.9, 3.3, 2.1, 5.7};
  std::vector<OrderedValue> there = in_order(values, {false, true, true, false, true, false, true}), back = there;
  for (OrderedValue& each : back) each.of_b = !each.of_b;
  for (const bool with_trend : {false, true}) {
    const auto one = side_effect(there, with_trend), other = side_effect(back, with_trend);
    REQUIRE((one && other));
    CHECK(one->difference == -other->difference);
    CHECK(one->p_value == other->p_value);
    CHECK(one->trend == other->trend);
    CHECK(one->trend_p_value == other->trend_p_value);
  }
}

TEST_CASE("where nothing scatters any difference is certain, and equal sides are equal") {
  CHECK(side_effect(in_order({1, 1, 2, 2}, {false, false, true, true}), false)->p_value == 0);
  CHECK(side_effect(in_order({1, 1, 1, 1}, {false, false, true, true}), false)->p_value == 1);
}

TEST_CASE("too few values, one side alone, or a place that is the side say nothing") {
  CHECK_FALSE(side_effect(in_order({1, 2}, {false, true}), false));
  CHECK_FALSE(side_effect(in_order({1, 2, 3, 4}, {true, true, true, true}), false));
  CHECK_FALSE(side_effect({{1, 1, false}, {2, 1, false}, {3, 2, true}, {4, 2, true}}, true));
  CHECK_FALSE(side_effect({}, true));
}
