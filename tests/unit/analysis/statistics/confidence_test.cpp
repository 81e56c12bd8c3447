#include "analysis/statistics/confidence.h"

#include <cmath>
#include <numbers>
#include <random>

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

TEST_CASE("Student's t agrees with the printed tables") {
  // The tables have three or four decimals.
  struct {
    double confidence, df, t;
  } const known[] = {{0.95, 1, 12.7062}, {0.95, 2, 4.3027},   {0.95, 3, 3.1824}, {0.95, 4, 2.7764}, {0.95, 5, 2.5706},  {0.95, 10, 2.2281},
                     {0.95, 30, 2.0423}, {0.95, 120, 1.9799}, {0.90, 2, 2.9200}, {0.99, 4, 4.6041}, {0.99, 10, 3.1693}, {0.50, 1, 1.0000}};
  for (const auto& row : known) {
    INFO(row.confidence << " with " << row.df);
    CHECK(student_t(row.confidence, row.df) == Approx(row.t).epsilon(3e-5));
  }
}

TEST_CASE("Student's t with degrees of freedom between whole numbers") {
  // df 1 and 2 have closed forms: tan(πc/2), and c·√(2/(1 − c²)).
  for (double c : {0.5, 0.9, 0.95, 0.99}) {
    CHECK(student_t(c, 1) == Approx(std::tan(std::numbers::pi * c / 2)).epsilon(1e-6));
    CHECK(student_t(c, 2) == Approx(c * std::sqrt(2 / (1 - c * c))).epsilon(1e-6));
  }
  double before = student_t(0.95, 1);
  for (double df = 1.1; df < 12; df += 0.1) {
    const double t = student_t(0.95, df);
    CHECK(t < before);
    CHECK(t > 1.959);  // the normal distribution's
    before = t;
  }
}

TEST_CASE("Welch's interval, worked by hand") {
  // means 2 and 5, variances 1 and 4, n 3: se = √(1/3 + 4/3), df = (5/3)² / ((1/9 + 16/9) / 2) = 50/17
  const auto interval = difference_95(std::vector<double>{1, 2, 3}, std::vector<double>{3, 5, 7});
  REQUIRE(interval);
  const double reach = std::sqrt(5.0 / 3) * student_t(0.95, 50.0 / 17);
  CHECK(interval->low == Approx(3 - reach));
  CHECK(interval->high == Approx(3 + reach));
  const auto one = difference_95(std::vector<double>{1, 2, 3}, 5.0);
  REQUIRE(one);
  CHECK(one->high == Approx(3 + std::sqrt(4.0 / 3) * student_t(0.95, 2)));
}

TEST_CASE("no interval from single values, and a point from values that do not scatter") {
  CHECK_FALSE(difference_95(std::vector<double>{1}, std::vector<double>{2, 3}));
  CHECK_FALSE(difference_95(std::vector<double>{1, 2}, std::vector<double>{2}));
  CHECK_FALSE(difference_95(std::vector<double>{}, std::vector<double>{}));
  CHECK_FALSE(difference_95(std::vector<double>{1}, 2.0));
  const auto flat = difference_95(std::vector<double>{1, 1}, std::vector<double>{3, 3});
  REQUIRE(flat);
  CHECK(flat->low == 2);
  CHECK(flat->high == 2);
}

TEST_CASE("the interval holds the true difference about as often as it says") {
  std::mt19937 random(7);
  std::normal_distribution<double> a(0, 1), b(0.3, 3);
  int hits = 0;
  constexpr int kTries = 2000;
  for (int i = 0; i < kTries; ++i) {
    const auto interval = difference_95({a(random), a(random), a(random)}, {b(random), b(random), b(random)});
    hits += interval->low <= 0.3 && 0.3 <= interval->high;
  }
  // Welch is approximate, a little too wide or narrow at n = 3; 2000 tries scatter by 0.5 %.
  CHECK(hits > 0.92 * kTries);
  CHECK(hits < 0.99 * kTries);
}

TEST_CASE("the p-value of Student's t is two-sided") {
  CHECK(student_p(2.228138852, 10) == Approx(0.05).margin(1e-6));  // tables: t of 95 % and 10 degrees of freedom
  CHECK(student_p(-12.7062047, 1) == Approx(0.05).margin(1e-6));
  CHECK(student_p(1.96, 1e6) == Approx(0.05).margin(1e-5));
  CHECK(student_p(2.2, 200.1) == Approx(student_p(2.2, 199.9)).margin(1e-5));
  CHECK(student_p(0, 5) == Approx(1));
  // Far out and with few or many degrees of freedom, too: the one of 1 and of 2 have closed forms.
  CHECK(student_p(1e9, 1) == Approx(2e-9 / std::numbers::pi).epsilon(1e-9).margin(0));
  CHECK(student_p(1e9, 2) == Approx(1e-18).epsilon(1e-9).margin(0));
  for (const double df : {0.5, 3.7, 250.0, 1e4})
    for (const double confidence : {0.5, 0.95, 0.999}) {
      CAPTURE(df, confidence);
      CHECK(student_p(student_t(confidence, df), df) == Approx(1 - confidence).epsilon(1e-9).margin(0));
    }
}
