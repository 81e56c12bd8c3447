#include "analysis/statistics/change_points.h"

#include <cmath>
#include <random>

#include "tests/catch.h"

using nl::analysis::anomalies_of, nl::analysis::levels_of;

namespace {

// Sums of twelve uniform values are nearly normal, and the same with every standard library.
double unit_noise(std::mt19937& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(random()) / 4294967296.0;
  return sum;
}

std::vector<double> noisy_series(unsigned seed, std::size_t count, double correlation = 0) {
  std::mt19937 random(seed);
  std::vector<double> values;
  double noise = 0;
  for (std::size_t i = 0; i < count; ++i) {
    noise = correlation * noise + std::sqrt(1 - correlation * correlation) * unit_noise(random);
    values.push_back(100 + noise);
  }
  return values;
}

std::vector<std::size_t> borders_of(const std::vector<double>& values, double min_effect = 0.01) {
  std::vector<std::size_t> borders;
  for (const auto& level : levels_of(values, min_effect))
    if (level.first > 0) borders.push_back(level.first);
  return borders;
}

}  // namespace

TEST_CASE("change points: steps of a calm series are found where they are") {
  CHECK(levels_of({}, 0.01).empty());
  CHECK(borders_of({5, 5, 5}).empty());
  CHECK(borders_of({5, 5, 5, 5, 6, 6, 6, 6}) == std::vector<std::size_t>{4});
  CHECK(borders_of({5, 5, 5, 5, 6, 6, 6, 6, 5, 5, 5, 5}) == std::vector<std::size_t>{4, 8});
  CHECK(borders_of({5, 5, 5, 5, 5.01, 5.01, 5.01, 5.01}).empty());  // 0.2 %
  CHECK(borders_of({5, 5, 5, 5, 5.01, 5.01, 5.01, 5.01}, 0.001) == std::vector<std::size_t>{4});
}

TEST_CASE("change points: the levels are told by their medians") {
  std::vector<double> values(20, 10);
  values.insert(values.end(), {13, 13, 12, 13, 13, 13, 13, 12, 13, 13, 90, 13, 13, 13, 12, 13, 13, 13, 13, 13});
  const auto levels = levels_of(values, 0.01);
  REQUIRE(levels.size() == 2);
  CHECK(levels[0].median == 10);
  CHECK(levels[0].spread == 0);
  CHECK(levels[1].first == 20);
  CHECK(levels[1].last == 40);
  CHECK(levels[1].median == 13);
}

TEST_CASE("change points: one wild value is an anomaly and no change") {
  std::vector<double> values = noisy_series(1, 60);
  values[30] = 150;
  CHECK(borders_of(values).empty());
  CHECK(anomalies_of(values, levels_of(values, 0.01), 0.01) == std::vector<std::size_t>{30});
  values.resize(7, 100);  // too short a history
  values[3] = 150;
  CHECK(anomalies_of(values, levels_of(values, 0.01), 0.01).empty());
}

TEST_CASE("change points: a quiet series has none, also where its noise wanders") {
  constexpr unsigned kSeries = 200;
  for (const auto& [correlation, most] :
       {std::pair{0.0, 2}, {0.3, 4}, {0.6, 14}}) {  // 5 % are 10; more than 14 come by chance in one of ten cases
    int false_changes = 0;
    for (unsigned seed = 0; seed < kSeries; ++seed)
      false_changes += borders_of(noisy_series(seed, 100, correlation), 0.001).empty() ? 0 : 1;
    INFO("correlation " << correlation);
    CHECK(false_changes <= most);
  }
}

TEST_CASE("change points: a step of five times the noise is found in the last ten of sixty runs, and no other") {
  int found = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::vector<double> values = noisy_series(seed, 60);
    for (std::size_t i = 50; i < 60; ++i) values[i] += 5;
    found += borders_of(values) == std::vector<std::size_t>{50} ? 1 : 0;
  }
  CHECK(found >= 180);
}

TEST_CASE("change points: turned round, the series has the same changes from the other end") {
  std::vector<double> values = noisy_series(7, 90);
  for (std::size_t i = 30; i < 60; ++i) values[i] += 8;
  const std::vector<double> turned(values.rbegin(), values.rend());
  CHECK(borders_of(values) == std::vector<std::size_t>{30, 60});
  CHECK(borders_of(turned) == std::vector<std::size_t>{30, 60});
}

TEST_CASE("change points: two clocks that runs get at random are no change") {
  for (const unsigned slow_in_ten : {2u, 5u}) {
    int false_changes = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
      std::mt19937 random(seed);
      std::vector<double> values;
      for (int i = 0; i < 60; ++i) values.push_back((random() % 10 < slow_in_ten ? 108 : 100) + 0.5 * unit_noise(random));
      false_changes += borders_of(values).empty() ? 0 : 1;
    }
    INFO(slow_in_ten);
    CHECK(false_changes <= 5);
  }
}

TEST_CASE("change points: a tenth of disturbed runs leaves a step to be found") {
  int found = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    std::vector<double> values;
    for (int i = 0; i < 100; ++i)
      values.push_back((i < 60 ? 100 : 110) * (random() % 10 == 0 ? 1.1 + 0.1 * static_cast<double>(random() % 4) : 1) +
                       unit_noise(random));
    const auto borders = borders_of(values);
    found += borders.size() == 1 && borders[0] >= 58 && borders[0] <= 62;
  }
  CHECK(found >= 80);
}
