#include "analysis/statistics/time_summary.h"

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

TEST_CASE("a single time has no deviation") {
  std::vector<Ns> values{42};
  TimeSummary s = summarise_times(values);
  CHECK(s.count == 1);
  CHECK(s.mean_ns == 42);
  CHECK(s.median_ns == 42);
  CHECK_FALSE(s.p99_ns);
  CHECK(s.max_ns == 42);
  CHECK(s.stddev_ns == 0);
}

TEST_CASE("no times at all") {
  std::vector<Ns> values;
  CHECK(summarise_times(values).count == 0);
  CHECK(summarise_times(Durations()).count == 0);
}

TEST_CASE("the median of an even count is the mean of the middle two") {
  std::vector<Ns> values{9, 1, 4, 3};
  TimeSummary s = summarise_times(values);
  CHECK(s.median_ns == 3.5);
  CHECK(s.total_ns == 17);
  CHECK(s.min_ns == 1);
  CHECK(s.max_ns == 9);
  CHECK(s.stddev_ns == Approx(3.40343).epsilon(1e-6));  // n - 1
}

TEST_CASE("p99 is the nearest rank") {
  std::vector<Ns> values;
  for (Ns i = 100; i >= 1; --i) values.push_back(i);
  CHECK(summarise_times(values).p99_ns == 99);
  values.push_back(101);
  CHECK(summarise_times(values).p99_ns == 100);
  std::vector<Ns> two{7, 5};
  CHECK(summarise_times(two).max_ns == 7);
}

TEST_CASE("percentiles only of as many values as make them another value than the longest") {
  const auto of_first = [](Ns count) {
    std::vector<Ns> values;
    for (Ns i = 0; i < count; ++i) values.push_back((i * 37) % count + 1);  // 1 to count, mixed
    return summarise_times(values);
  };
  for (const Ns few : {1, 3, 19}) {
    CAPTURE(few);
    const TimeSummary s = of_first(few);
    CHECK_FALSE(s.p90_ns);
    CHECK_FALSE(s.p95_ns);
    CHECK_FALSE(s.p99_ns);
    CHECK(s.max_ns == few);
  }
  CHECK(of_first(20).p90_ns == 18);
  CHECK(of_first(20).p95_ns == 19);
  CHECK_FALSE(of_first(20).p99_ns);
  CHECK_FALSE(of_first(99).p99_ns);
  const TimeSummary s = of_first(1000);
  CHECK(s.median_ns == 500.5);
  CHECK(s.p90_ns == 900);
  CHECK(s.p95_ns == 950);
  CHECK(s.p99_ns == 990);
  CHECK(s.max_ns == 1000);
}

TEST_CASE("a run of an older format may have a p99 of three windows: it is not quoted") {
  TimeSummary s;
  s.count = 3;
  s.p99_ns = 500;
  CHECK_FALSE(s.p99());
  s.count = 100;
  CHECK(s.p99() == 500);
}

TEST_CASE("the deviation keeps its digits where times are long and close together") {
  std::vector<Ns> values{1'000'000'000'000'000, 1'000'000'000'000'001, 1'000'000'000'000'002};
  CHECK(summarise_times(values).stddev_ns == 1.0);
}

TEST_CASE("packed durations give the same as plain ones, also past 32 bits") {
  Durations packed;
  std::vector<Ns> plain;
  for (Ns i = 0; i < 40000; ++i) {
    Ns value = i * 7919 % 100003;
    packed.add(value);
    plain.push_back(value);
  }
  auto same = [&] {
    std::vector<Ns> copy = plain;
    TimeSummary a = summarise_times(copy), b = summarise_times(packed);
    CHECK(a.total_ns == b.total_ns);
    CHECK(a.median_ns == b.median_ns);
    CHECK(a.p90_ns == b.p90_ns);
    CHECK(a.p95_ns == b.p95_ns);
    CHECK(a.p99_ns == b.p99_ns);
    CHECK(a.stddev_ns == Approx(b.stddev_ns).epsilon(1e-12));
    CHECK(a.max_ns == b.max_ns);
  };
  same();
  packed.add(5'000'000'000);
  plain.push_back(5'000'000'000);
  same();
  Durations more;
  for (Ns i = 0; i < 20000; ++i) {
    more.add(i);
    plain.push_back(i);
  }
  packed.append(std::move(more));
  same();
}

TEST_CASE("many packed durations give the same as plain ones, however they are spread") {
  const std::vector<std::vector<Ns>> spreads = {
      {1'000'000, 1'000'001},  // all in one bucket
      {0, 0, 0, 0xFFFFFFFF},
      {0, 127, 128, 255, 256, 511, 512, 0xFFFFFFFE, 0xFFFFFFFF},
      {7},
      {2'000, 2'003, 2'090, 3'000, 40'000, 5'000'000, 4'000'000'000},
  };
  for (const auto& spread : spreads)
    for (const std::size_t count : {8191u, 8192u, 8193u, 20001u}) {
      CAPTURE(spread.front(), count);
      Durations packed;
      std::vector<Ns> plain;
      for (std::size_t i = 0; i < count; ++i) {
        plain.push_back(spread[i * i % spread.size()]);
        packed.add(plain.back());
      }
      const TimeSummary a = summarise_times(packed), b = summarise_times(plain);
      CHECK(a.count == b.count);
      CHECK(a.total_ns == b.total_ns);
      CHECK(a.min_ns == b.min_ns);
      CHECK(a.max_ns == b.max_ns);
      CHECK(a.mean_ns == b.mean_ns);
      CHECK(a.median_ns == b.median_ns);
      CHECK(a.p90_ns == b.p90_ns);
      CHECK(a.p95_ns == b.p95_ns);
      CHECK(a.p99_ns == b.p99_ns);
      CHECK(a.stddev_ns == Approx(b.stddev_ns).epsilon(1e-9));
    }
}
