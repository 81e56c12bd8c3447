#include "analysis/runs/trends/trends.h"

#include "tests/catch.h"

using namespace nl;

namespace {

analysis::TrendValue trend_value(const std::string& run, const std::string& commit, double value, const std::string& hardware = "H200",
                                 const std::string& workload = "") {
  return {{run, "2026-11-16T10:00:00Z", commit, value, 1}, hardware, "llama", "", workload, workload, true};
}

}  // namespace

TEST_CASE("trends: runs of another GPU are a series of their own, the longest first") {
  const auto series =
      analysis::trend_series({trend_value("a", "", 1, "A100"), trend_value("b", "", 2), trend_value("c", "", 3)}, TrendBy::kDate, 0.01);
  REQUIRE(series.size() == 2);
  CHECK(series[0].hardware == "H200");
  REQUIRE(series[0].points.size() == 2);
  CHECK(series[0].points[1].run_id == "c");
  CHECK(series[1].hardware == "A100");
}

TEST_CASE("trends: another workload is a series of its own, also one that is not known") {
  const auto series = analysis::trend_series({trend_value("a", "", 1, "H200", "generate.py, batch 8"), trend_value("b", "", 2),
                                              trend_value("c", "", 3, "H200", "generate.py, batch 1"), trend_value("d", "", 4)},
                                             TrendBy::kDate, 0.01);
  REQUIRE(series.size() == 3);
  CHECK(series[0].workload.empty());
  CHECK(series[0].points.size() == 2);
  CHECK(series[1].workload_text == "generate.py, batch 1");
  CHECK(series[2].workload_text == "generate.py, batch 8");
}

TEST_CASE("trends: the program of a series is known where every run of it has a command") {
  std::vector<analysis::TrendValue> values = {trend_value("a", "", 1), trend_value("b", "", 2)};
  CHECK(analysis::trend_series(values, TrendBy::kDate, 0.01)[0].program_known);
  values[1].program_known = false;
  CHECK_FALSE(analysis::trend_series(values, TrendBy::kDate, 0.01)[0].program_known);
}

TEST_CASE("trends: a commit is the median of its runs, at the place of its first") {
  const auto series = analysis::trend_series({trend_value("1", "aa", 10), trend_value("2", "bb", 20), trend_value("3", "aa", 12),
                                              trend_value("4", "", 99), trend_value("5", "aa", 50)},
                                             TrendBy::kCommit, 0.01);
  REQUIRE(series.size() == 1);
  REQUIRE(series[0].points.size() == 2);
  CHECK(series[0].points[0].revision == "aa");
  CHECK(series[0].points[0].value == 12);
  CHECK(series[0].points[0].runs == 3);
  CHECK(series[0].points[0].run_id == "5");
  CHECK(series[0].points[1].value == 20);
}

TEST_CASE("trends: changes and anomalies against the history") {
  std::vector<analysis::TrendValue> values;
  for (int i = 0; i < 12; ++i) values.push_back(trend_value(std::to_string(i), "", 10));
  for (int i = 12; i < 24; ++i) values.push_back(trend_value(std::to_string(i), "", 11));
  values[5].point.value = 30;
  const auto series = analysis::trend_series(values, TrendBy::kDate, 0.01);
  REQUIRE(series[0].levels.size() == 2);
  CHECK(series[0].levels[1].first == 12);
  CHECK(series[0].levels[0].median == 10);
  CHECK(series[0].levels[0].low == Approx(9.9));
  CHECK(series[0].levels[0].high == Approx(10.1));
  CHECK(series[0].anomalies == std::vector<std::size_t>{5});
}

TEST_CASE("trends: no time below zero is expected, and runs without a model are one series") {
  std::vector<analysis::TrendValue> values;
  for (int i = 0; i < 12; ++i)
    values.push_back({{"run-" + std::to_string(i), "2026-11-16T10:00:00Z", "", i % 2 == 0 ? 0.1 : 9.0, 1}, "H200", "", "", "", "", false});
  const auto series = analysis::trend_series(values, TrendBy::kDate, 0.01);
  REQUIRE(series.size() == 1);
  for (const TrendLevel& level : series[0].levels) CHECK(level.low >= 0);
  for (analysis::TrendValue& value : values) value.point.value -= 5;  // what may be negative stays so
  CHECK(analysis::trend_series(values, TrendBy::kDate, 0.01)[0].levels[0].low < 0);
}
