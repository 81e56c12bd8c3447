#include "exporters/trends/trends.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl;
using test::count, test::has;

namespace {

// Six runs at 4 ms, six at 5 ms with one of 9.
Trend made_trend() {
  Trend trend{"tpot_ms", find_metric("tpot_ms"), TrendBy::kDate, 0.01, {}};
  TrendSeries series{"NVIDIA H200", "a <model>", "bf16", "", "", {}, {}, {9}};
  for (int i = 0; i < 12; ++i)
    series.points.push_back({"run-" + std::to_string(i), "2026-11-" + std::to_string(10 + i) + "T10:00:00Z", "0123456789abcdef",
                             i == 9  ? 9.0
                             : i < 6 ? 4.0
                                     : 5.0,
                             1});
  series.levels = {{0, 6, 4, 3.9, 4.1}, {6, 12, 5, 4.9, 5.1}};
  trend.series = {series};
  return trend;
}

}  // namespace

TEST_CASE("trends: the terminal shows the picture, the change and the anomaly in words") {
  const std::string text = exporters::trend_text(made_trend(), 80);
  CHECK(has(text, "tpot_ms of NVIDIA H200, a <model>, bf16, 12 runs\n"));
  CHECK(has(text, "change 1: from run-6 (2026-11-16, commit 0123456789): 4.00 ms to 5.00 ms, +25.0 %, worse\n"));
  Trend faster = made_trend();
  std::swap(faster.series[0].levels[0].median, faster.series[0].levels[1].median);
  CHECK(has(exporters::trend_text(faster, 80), ": 5.00 ms to 4.00 ms, −20.0 %, better\n"));
  CHECK(has(text, "anomaly: run-9 (2026-11-19): 9.00 ms, expected 4.90 ms to 5.10 ms\n"));
  CHECK(count(text, "•") == 11);
  CHECK(count(text, "!") == 1);
  CHECK(has(text, "2026-11-10"));
  CHECK(has(text, "2026-11-21"));
}

TEST_CASE("trends: a series is called by its workload where that is known") {
  Trend trend = made_trend();
  trend.series[0].workload = "0123456789abcdef";
  trend.series[0].workload_text = "generate.py, llama, batch 8";
  CHECK(has(exporters::trend_text(trend, 80), "tpot_ms of NVIDIA H200, generate.py, llama, batch 8, 12 runs\n"));
}

TEST_CASE("trends: lines of the picture have no more columns than asked for, with one run as with many") {
  Trend trend = made_trend();
  for (int i = 0; i < 500; ++i) trend.series[0].points.push_back(trend.series[0].points[11]);
  trend.series[0].levels[1].last = 512;
  trend.series.push_back({"", "", "", "", "", {trend.series[0].points[0]}, {{0, 1, 4, 4, 4}}, {}});
  const std::string text = exporters::trend_text(trend, 60);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (has(line, "│") || has(line, "└"))
      CHECK(std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }) <= 60);
  CHECK(has(text, "hardware not known, 1 run\n"));
}

TEST_CASE("trends: fewer runs than a change needs are not said to show none") {
  Trend trend = made_trend();
  TrendSeries& series = trend.series[0];
  series.anomalies.clear();
  series.points.resize(6);
  series.levels = {{0, 6, 4, 3.9, 4.1}};
  CHECK(has(exporters::trend_text(trend, 80), "No change of 1 % or more.\n"));
  CHECK(has(exporters::trend_html(trend), "<p>No change of 1 % or more.</p>"));
  series.points.resize(2);
  series.levels[0].last = 2;
  const std::string told = "2 runs are too few to tell a change (6 are needed).";
  CHECK(has(exporters::trend_text(trend, 80), told + "\n"));
  CHECK(has(exporters::trend_html(trend), "<p>" + told + "</p>"));
  CHECK_FALSE(has(exporters::trend_text(trend, 80), "No change"));
  trend.by = TrendBy::kCommit;
  CHECK(has(exporters::trend_text(trend, 80), "2 commits are too few to tell a change (6 are needed).\n"));
}

TEST_CASE("trends: a single run is told instead of drawn") {
  Trend trend = made_trend();
  TrendSeries& series = trend.series[0];
  series.anomalies.clear();
  series.points.resize(1);
  series.levels = {{0, 1, 4, 3.9, 4.1}};
  CHECK(exporters::trend_text(trend, 80) ==
        "tpot_ms of NVIDIA H200, a <model>, bf16, 1 run\nrun-0 (2026-11-10): 4.00 ms\n1 run is too few to tell a change (6 are needed).\n");
  const std::string svg = exporters::trend_svg(trend);
  CHECK(has(svg, ">run-0 (2026-11-10): 4.00 ms</text>"));
  CHECK(has(svg, "viewBox=\"0 0 960 74\""));
  CHECK_FALSE(has(svg, "class=\"dot\""));
}

TEST_CASE("trends: a series of runs without a command says that their program is not known") {
  Trend trend = made_trend();
  trend.series[0].program_known = false;
  CHECK(has(exporters::trend_text(trend, 80), "tpot_ms of NVIDIA H200, a <model>, bf16, program not known, 12 runs\n"));
}

TEST_CASE("trends: the axis of times ends at zero") {
  Trend trend = made_trend();
  trend.series[0].points[0].value = 0.01;
  CHECK_FALSE(has(exporters::trend_text(trend, 80), "-0"));
  CHECK_FALSE(has(exporters::trend_svg(trend), ">-"));
}

TEST_CASE("trends: the SVG stands alone, escapes names, and marks what is worse") {
  const std::string svg = exporters::trend_svg(made_trend());
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(has(svg, "a &lt;model&gt;"));
  CHECK_FALSE(has(svg, "<model>"));
  CHECK(count(svg, "class=\"dot\"") == 12);
  CHECK(count(svg, "class=\"odd\"") == 1);
  CHECK(count(svg, "<line class=\"worse\"") == 1);
  CHECK(count(svg, "<line class=\"level\"") == 2);
  const std::string html = exporters::trend_html(made_trend());
  CHECK(has(html, svg));
  CHECK(has(html, "<li>from run-6 (2026-11-16, commit 0123456789): 4.00 ms to 5.00 ms, +25.0 %, worse</li>"));
}

TEST_CASE("trends: the JSON has every point, change and anomaly") {
  const auto json = nlohmann::json::parse(exporters::trend_json(made_trend()));
  CHECK(json["metric"] == "tpot_ms");
  CHECK(json["unit"] == "ms");
  CHECK(json["better"] == "lower");
  const auto& series = json["series"][0];
  CHECK(series["points"].size() == 12);
  CHECK(series["points"][9]["value"] == 9.0);
  CHECK(series["changes"] ==
        nlohmann::json::parse(R"([{"point": 6, "run_id": "run-6", "before": 4.0, "after": 5.0, "share": 0.25, "verdict": "worse"}])"));
  CHECK(series["anomalies"] == nlohmann::json::parse(R"([{"point": 9, "run_id": "run-9", "value": 9.0}])"));
  CHECK(series["levels"][1]["last"] == 11);
}

TEST_CASE("trends: many points make a picture of bounded size") {
  Trend trend = made_trend();
  const TrendPoint last = trend.series[0].points.back();
  trend.series[0].points.resize(100000, last);
  trend.series[0].levels[1].last = 100000;
  CHECK(exporters::trend_svg(trend).size() < 500000);
}
