#include <cmath>
#include <limits>
#include <regex>
#include <string>
#include <vector>

#include "exporters/report/html/html.h"
#include "exporters/report/reports.h"
#include "exporters/report/sections/sections.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

// Drawings are measured: where each mark lies and how large it is, from the numbers that it stands for.

using namespace nl::exporters::report;
using nl::exporters::html::figure_markup;
using nl::test::count;
using nl::test::has;

namespace {

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

double attribute_of(const std::string& element, const std::string& name) {
  const std::regex pattern(" " + name + "=\"(-?[0-9.]+)%?\"");
  std::smatch found;
  return std::regex_search(element, found, pattern) ? std::stod(found[1]) : 0;
}

// The elements that begin with this, in order, as far as their first ">".
std::vector<std::string> elements(const std::string& text, const std::string& beginning) {
  std::vector<std::string> out;
  for (std::size_t at = text.find(beginning); at != std::string::npos; at = text.find(beginning, at + 1))
    out.push_back(text.substr(at, text.find('>', at) - at));
  return out;
}

std::vector<Box> boxes(const std::string& text, const std::string& beginning) {
  std::vector<Box> out;
  for (const auto& each : elements(text, beginning))
    out.push_back({attribute_of(each, "x"), attribute_of(each, "y"), attribute_of(each, "width"), attribute_of(each, "height")});
  return out;
}

template <class Chart>
Chart chart_in(const Blocks& blocks) {
  for (const auto& block : blocks)
    if (const auto* figure = std::get_if<Figure>(&block))
      if (const auto* chart = std::get_if<Chart>(figure)) return *chart;
  FAIL("no such chart");
  return {};
}

Approx near(double value) { return Approx(value).margin(0.002); }

}  // namespace

TEST_CASE("a stacked bar: widths as the values, side by side, never more than the whole") {
  const std::string bar = figure_markup(BarChart{{{"", "", {{50, "a", "", "50 %"}, {0, "b"}, {20, "c"}, {80, "d"}}, 100, "", "x", 0, 0}}});
  const auto rects = boxes(bar, "<rect");
  REQUIRE(rects.size() == 3);  // what is nothing is not drawn
  CHECK(rects[0].x == near(0));
  CHECK(rects[0].width == near(50));
  CHECK(rects[1].x == near(50));
  CHECK(rects[1].width == near(20));
  CHECK(rects[2].x == near(70));
  CHECK(rects[2].width == near(30));  // all that is left
  CHECK(attribute_of(elements(bar, "<text").at(0), "x") == near(25));
  CHECK(elements(figure_markup(BarChart{{{"", "", {{1, "a"}}, 0, "", "", 0, 0}}}), "<rect").empty());
}

TEST_CASE("a bar's tick and line lie where the median and p99 do") {
  const std::string bar = figure_markup(BarChart{{{"decode", "", {{40, "s-0"}}, 200, "", "", 50, 150}}});
  CHECK(boxes(bar, "<rect").at(0).width == near(20));
  const auto far = elements(bar, "<line class=\"far\"");
  REQUIRE(far.size() == 2);
  CHECK(attribute_of(far[0], "x1") == near(20));
  CHECK(attribute_of(far[0], "x2") == near(75));
  CHECK(attribute_of(far[1], "x1") == near(75));
  CHECK(attribute_of(elements(bar, "<line class=\"tick\"").at(0), "x1") == near(25));
}

TEST_CASE("the budget's bars of a run are its bins, to scale") {
  const nl::Run run = nl::test::full_run();
  const auto rects = boxes(figure_markup(chart_in<BarChart>(budgets(run).blocks)), "<rect");
  REQUIRE(rects.size() == 7);
  const double expected[] = {60, 5, 4, 10, 15, 5, 1};
  double at = 0;
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(rects[i].width == near(expected[i]));
    CHECK(rects[i].x == near(at));
    at += expected[i];
  }
}

TEST_CASE("columns: heights as the values, parts on top of each other, cut at the top") {
  const std::string chart = figure_markup(ColumnChart{"x", 200, {{"", false, 100, {{40, "p"}, {20, "q"}}}, {"", true, 500, {{500, "p"}}}}});
  const auto rects = boxes(chart, "<rect");
  REQUIRE(rects.size() == 5);
  CHECK(rects[0].y == near(50));
  CHECK(rects[0].height == near(50));
  CHECK(rects[1].y == near(80));
  CHECK(rects[1].height == near(20));
  CHECK(rects[2].y == near(70));
  CHECK(rects[2].height == near(10));
  CHECK(rects[3].height == near(100));
  CHECK(rects[3].x == near(4));
  CHECK(rects[3].width == near(3.2));
  CHECK(count(chart, "<g class=\"warmup\">") == 1);
}

TEST_CASE("the time axis has a line at every round step, the last one within the span") {
  const std::string picture = figure_markup(CurveChart{9e6, "x", {}, {}});  // 9 ms: steps of 2 ms
  const auto lines = elements(picture, "<line class=\"grid\"");
  REQUIRE(lines.size() == 5);
  for (std::size_t i = 0; i < lines.size(); ++i) CHECK(attribute_of(lines[i], "x1") == near(100.0 * 2 * static_cast<double>(i) / 9));
  for (const char* label : {">0<", ">2 ms<", ">8 ms<"}) CHECK(has(picture, label));
}

TEST_CASE("points of the roofline lie at the logarithm of their figures, on or under their roofs") {
  RooflineChart chart;
  chart.points = {{10, 1e12, "decode", ""}, {1, 1e11, "a", "", "p-memory", 1}, {100, 1e13, "b", "", "p-compute", 2}};
  chart.roofs = {{1e14, "bf16"}};
  chart.bytes_per_s = 1e12;
  chart.memory = "memory";
  const std::string picture = figure_markup(chart);
  // x: 10^-1 … 10^3 (ridge at 100, and room behind it); y: 10^10 … 10^15.
  const auto marks = boxes(picture, "<svg class=\"mark\"");
  REQUIRE(marks.size() == 3);
  CHECK(marks[0].x == near(50));  // the stage
  CHECK(marks[0].y == near(60));
  CHECK(marks[1].x == near(25));
  CHECK(marks[1].y == near(80));
  CHECK(marks[2].x == near(75));
  CHECK(marks[2].y == near(40));
  const auto roof = elements(picture, "<line class=\"roof\"").at(0), slope = elements(picture, "<line class=\"roof slope\"").at(0);
  CHECK(attribute_of(roof, "x1") == near(75));  // from the ridge, at 10^14 ÷ 10^12 FLOPs a byte,
  CHECK(attribute_of(roof, "x2") == near(100));
  CHECK(attribute_of(roof, "y1") == near(20));
  CHECK(attribute_of(slope, "x2") == near(75));  // where the slope meets it
  CHECK(attribute_of(slope, "y2") == near(20));
  CHECK(attribute_of(slope, "x1") == near(0));
  CHECK(attribute_of(slope, "y1") == near(80));
}

TEST_CASE("roofs too near for a line of text share one label, and a stage's name keeps clear of kernels") {
  RooflineChart chart;
  chart.bytes_per_s = 4e12;
  chart.memory = "DRAM";
  chart.roofs = {{1979e12, "fp8 1979 TFLOP/s"}, {989e12, "bf16 989 TFLOP/s"}, {67e12, "f32 67 TFLOP/s"}};
  chart.points = {{1, 1e9, "", "", "p-memory", 1}, {1.0, 1e9, "decode", "", "", 0}, {1000, 1e9, "prefill", "", "", 0}};
  const std::string picture = figure_markup(chart);
  CHECK(has(picture, ">fp8 1979 · bf16 989 TFLOP/s</text>"));
  CHECK(has(picture, ">f32 67 TFLOP/s</text>"));
  CHECK(count(picture, "class=\"rooflabel\" x=\"100%\"") == 2);
  CHECK(has(picture, "dy=\"17\">decode</text>"));  // below the kernel's mark
  CHECK(has(picture, "dy=\"4\">prefill</text>"));
}

TEST_CASE("the roofline is drawn of what has a place in it") {
  nl::Run run = nl::test::rich_run();
  const auto picture_of = [&] { return figure_markup(chart_in<RooflineChart>(roofline(run))); };
  const std::string picture = picture_of();
  CHECK(count(picture, "<circle") == 6);
  CHECK(count(picture, "class=\"stage\"") == 3);
  CHECK(has(picture, "bf16, f16 989 TFLOP/s"));
  CHECK(has(picture, "memory 4.80 TB/s"));
  CHECK(has(picture, "FLOPs per byte of DRAM traffic"));
  run.roofline.points[0].intensity = 0;
  run.roofline.points[1].flops_per_s = std::numeric_limits<double>::infinity();
  run.roofline.points[2].intensity = std::numeric_limits<double>::quiet_NaN();
  const std::string fewer = picture_of();
  CHECK(count(fewer, "<circle") == 3);
  CHECK_FALSE(has(fewer, "nan"));
  CHECK_FALSE(has(fewer, "inf"));
  run.peaks.reset();
  CHECK_FALSE(has(picture_of(), "class=\"roof"));
  CHECK(roofline(nl::Run()).empty());
}

TEST_CASE("the strips of a step: each part where it lies, on one scale, host above GPU") {
  const auto chart = chart_in<StripChart>(what_if(nl::test::rich_run()).blocks);
  CHECK(chart.label ==
        "One decode_step; now 3.600 ms: GPU works 22.2 %, host runs its code 41.7 %, host launches 33.3 %, host waits 25.0 %; after 1.188 "
        "ms: "
        "GPU works 54.7 %, host runs its code 33.7 %, host launches 4.2 %, host waits 62.1 %");
  const std::string markup = figure_markup(chart);
  CHECK(has(markup, "role=\"img\" aria-label=\"One decode_step; now 3.600 ms: GPU works 22.2 %,"));
  CHECK(has(markup, "<span><b>now</b></span><span>host</span><span>GPU</span><span><b>after</b></span><span>host</span><span>GPU</span>"));
  const auto grounds = boxes(markup, "<rect class=\"window\""), launches = boxes(markup, "<rect class=\"b-latency\""),
             works = boxes(markup, "<rect class=\"b-compute\"");
  REQUIRE(grounds.size() == 2);
  CHECK(grounds[0].width == near(100));
  CHECK(grounds[1].width == near(100 * 1.188 / 3.6));
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].x == near(25));
  CHECK(launches[0].width == near(100 * 1.2 / 3.6));
  CHECK(launches[1].x == near(100 * 0.4 / 3.6));
  REQUIRE(works.size() == 3);
  CHECK(works[1].x == near(100 * 3.0 / 3.6));
  CHECK(works[2].width == near(100 * 0.65 / 3.6));
  CHECK(works[0].y - launches[0].y == 22);
  CHECK(launches[1].y - launches[0].y == 66);
  CHECK(launches[0].y >= grounds[0].y);
  CHECK(works[2].y + works[2].height <= grounds[1].y + grounds[1].height);
  CHECK(has(markup, "<title>host launches for 1.200 ms, from 900.00 µs</title>"));
  CHECK(figure_markup(StripChart{}).empty());
}

TEST_CASE("the best sequence: bars that float from now to what is left, with its interval") {
  const auto chart = chart_in<BarChart>(what_if(nl::test::rich_run()).blocks);
  const std::string markup = figure_markup(chart);
  const auto saved = boxes(markup, "<rect class=\"w-less\""), whole = boxes(markup, "<rect class=\"w-side\"");
  REQUIRE(saved.size() == 2);
  CHECK(saved[0].x == near(100 * 1.548 / 3.6));
  CHECK(saved[0].x + saved[0].width == near(100));
  CHECK(saved[1].x == near(100 * 1.188 / 3.6));
  CHECK(saved[1].x + saved[1].width == near(saved[0].x));
  REQUIRE(whole.size() == 2);
  CHECK(whole[1].width == near(100 * 1.188 / 3.6));
  CHECK(has(markup, "after all <span class=\"muted\">950.00 µs to 1.500 ms</span></span>"));
  CHECK(has(markup, "aria-label=\"after all: 1.188 ms (950.00 µs to 1.500 ms)\""));
  CHECK(has(markup, "<span class=\"fig\">1.188 ms</span>"));
  CHECK(attribute_of(elements(markup, "<line class=\"tick\"").at(0), "x1") == near(100 * 0.95 / 3.6));
  CHECK(attribute_of(elements(markup, "<line class=\"far\"").at(0), "x2") == near(100 * 1.5 / 3.6));
}
