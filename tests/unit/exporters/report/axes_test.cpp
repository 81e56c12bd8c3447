#include <string>

#include "exporters/report/html/html.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

// Axes, labels and marks of the drawings at their bounds; charts_test.cpp measures the rest.
using namespace nl::exporters::report;
using nl::exporters::html::figure_markup;
using nl::test::count;
using nl::test::has;

namespace {

RooflineChart one_point(double intensity, double rate) {
  RooflineChart chart;
  chart.points = {{intensity, rate, "decode", "a tip"}};
  return chart;
}

std::string axis_over(double span_ns) { return figure_markup(CurveChart{span_ns, "no curves", {}, {}}); }

}  // namespace

TEST_CASE("the time axis is in the unit that fits the span") {
  CHECK(has(axis_over(1'999'999), ">500 µs<"));
  CHECK(has(axis_over(2e6), ">0.5 ms<"));
  CHECK(has(axis_over(1.9e9), ">500 ms<"));
  CHECK(has(axis_over(2e9), ">0.5 s<"));
  CHECK(has(axis_over(900), ">0.2 µs<"));
}

TEST_CASE("labels of the time axis stay inside the picture") {
  const std::string picture = axis_over(8e6);  // 1 ms a step
  CHECK(count(picture, "<line class=\"grid\"") == 9);
  CHECK(has(picture, "x=\"0.000%\" y=\"11\">0<"));
  CHECK(has(picture, "x=\"12.500%\" y=\"11\" text-anchor=\"middle\">1 ms<"));
  CHECK(has(picture, "x=\"100.000%\" y=\"11\" text-anchor=\"end\">8 ms<"));
  CHECK(has(picture, "aria-label=\"no curves\" height=\"20\""));
  CHECK(has(picture, "aria-label=\"Activity over time; plus and minus zoom\""));
}

TEST_CASE("a segment is labelled where it is wide enough, and where it has a label") {
  const auto bar = [](double value, const char* label) {
    return figure_markup(BarChart{{{"", "", {{value, "a", "tip", label}}, 100, "", "spoken", 0, 0}}});
  };
  CHECK(has(bar(9, "9 %"), "<text class=\"in\" x=\"4.500%\" y=\"50%\">9 %</text>"));
  CHECK_FALSE(has(bar(8.9, "9 %"), "<text"));
  CHECK_FALSE(has(bar(50, ""), "<text"));
  CHECK(has(bar(50, ""), "<svg class=\"bar\" role=\"img\" aria-label=\"spoken\"><g><title>tip</title>"));
}

TEST_CASE("a bar has its name, its detail and its figure beside it") {
  const std::string row = figure_markup(BarChart{{{"decode", "bf16", {{1, "a"}}, 2, "5 ms", "", 0, 0}}});
  CHECK(has(row, "<div class=\"row\"><span class=\"what\">decode <span class=\"muted\">bf16</span></span>"));
  CHECK(has(row, "<span class=\"fig\">5 ms</span></div>"));
  CHECK_FALSE(has(row, "<line"));
  const std::string small = figure_markup(BarChart{{{"x", "", {{0.25, "a"}}, 1, "", "", 0.5, 0.75}}});
  CHECK(has(small, "<line class=\"far\" x1=\"25.000%\" x2=\"75.000%\""));
  CHECK(has(small, "<line class=\"tick\" x1=\"50.000%\""));
}

TEST_CASE("columns are as wide as there is room, and no wider than a twenty-fifth") {
  ColumnChart chart{"label", 10, {}};
  chart.columns.resize(50, {"tip", false, 10, {}});
  const std::string fifty = figure_markup(chart);
  CHECK(has(fifty, "x=\"98.000%\" y=\"0.000%\" width=\"1.600%\" height=\"100.000%\""));
  CHECK_FALSE(has(fifty, "warmup"));
  chart.columns.resize(1);
  CHECK(has(figure_markup(chart), "<g><title>tip</title><rect class=\"s-idle\" x=\"0.000%\" y=\"0.000%\" width=\"3.200%\""));
}

TEST_CASE("columns have an axis of time, and numbers below them") {
  ColumnChart chart{"label", 8e6, {}, "iteration"};
  chart.columns.resize(50, {"tip", false, 8e6, {}});
  const std::string markup = figure_markup(chart);
  CHECK(has(markup, "<svg class=\"cols\" role=\"img\" aria-label=\"label\">"));
  for (const char* label : {">0<", ">2 ms<", ">4 ms<", ">8 ms<"}) CHECK(has(markup, label));
  CHECK(count(markup, "<line class=\"grid\"") == 5);
  CHECK(has(markup, "x=\"0.800%\" y=\"12\" text-anchor=\"middle\">1<"));
  CHECK(has(markup, ">11<"));
  CHECK(has(markup, ">41<"));
  CHECK(has(markup, "<span class=\"axis-unit\">iteration</span>"));
}

TEST_CASE("the roofline's axes are powers of ten around what is drawn") {
  // From 10^0.3 - 0.15 down to 10^0, up to the next power; a tenth of one is left free at the top.
  const std::string picture = figure_markup(one_point(2, 2e9));
  CHECK(has(picture, "x=\"0.000%\" y=\"100%\" dy=\"18\" text-anchor=\"middle\">1</text>"));
  CHECK(has(picture, "x=\"100.000%\" y=\"100%\" dy=\"18\" text-anchor=\"middle\">10</text>"));
  CHECK(has(picture, "y=\"100.000%\" dy=\"4\" text-anchor=\"end\">1 G</text>"));
  CHECK(has(picture, "y=\"0.000%\" dy=\"4\" text-anchor=\"end\">10 G</text>"));
  CHECK(has(figure_markup(one_point(1.2, 2e9)), ">0.1</text>"));
  CHECK(has(figure_markup(one_point(9, 2e9)), ">100</text>"));
  CHECK(has(figure_markup(one_point(2, 2e-3)), ">1e-3</text>"));
  CHECK(has(figure_markup(one_point(2, 2e20)), ">100 E</text>"));
  CHECK(has(figure_markup(one_point(2, 2e20)), ">1e21</text>"));
  CHECK(has(figure_markup(one_point(2, 2)), ">1 </text>"));
}

TEST_CASE("a wide roofline has every second power, and no more than twelve of them") {
  RooflineChart chart = one_point(2, 2e9);
  chart.points.push_back({2e8, 2e9, "far", ""});
  const std::string wide = figure_markup(chart);  // 10^0 … 10^9
  CHECK(has(wide, ">10000</text>"));
  CHECK_FALSE(has(wide, ">1000</text>"));
  chart.points[1].intensity = 2e7;  // 10^0 … 10^8
  CHECK(has(figure_markup(chart), ">1000</text>"));
  chart.points[1].intensity = 2e14;  // 10^3 … 10^15
  CHECK(has(figure_markup(chart), "x=\"0.000%\" y=\"100%\" dy=\"18\" text-anchor=\"middle\">1000</text>"));
}

TEST_CASE("names of stages that lie upon each other stand below each other") {
  RooflineChart chart = one_point(2, 2e9);
  chart.points.push_back({2, 2e9, "step", ""});
  chart.points.push_back({8, 2e9, "apart", ""});
  chart.points.push_back({3, 3e9, "k", "", "p-memory", 7});
  const std::string picture = figure_markup(chart);
  CHECK(has(picture, " dx=\"11\" dy=\"4\">decode</text>"));
  CHECK(has(picture, " dx=\"11\" dy=\"17\">step</text>"));
  CHECK(has(picture, " dx=\"11\" dy=\"4\">apart</text>"));
  CHECK(has(picture, "<circle class=\"p-memory\" r=\"9\"/><text class=\"number\" y=\"4\">7</text>"));
}

TEST_CASE("labels of the roofline stand above all lines, and near roofs share one") {
  RooflineChart chart = one_point(2, 2e9);
  chart.roofs = {{4e9, "fp8"}, {3.6e9, "bf16"}, {2e9, "f32"}};
  const std::string picture = figure_markup(chart);
  CHECK(has(picture, "dy=\"-5\" text-anchor=\"end\">fp8 · bf16</text>"));
  CHECK(has(picture, "dy=\"-5\" text-anchor=\"end\">f32</text>"));
  CHECK(picture.find("rooflabel") > picture.rfind("<line"));
  CHECK(picture.find("mark-label") > picture.rfind("class=\"stage\""));
}

TEST_CASE("a memory's roof without any other goes to the top, and none is drawn where it has no place") {
  RooflineChart chart = one_point(2, 2e9);
  chart.bytes_per_s = 1e9;
  chart.memory = "memory";
  CHECK(has(figure_markup(chart), "<line class=\"roof slope\" x1=\"0.000%\" y1=\"100.000%\" x2=\"100.000%\" y2=\"0.000%\"/>"));
  CHECK(has(figure_markup(chart),
            "<text class=\"rooflabel\" x=\"50.000%\" y=\"50.000%\" dx=\"-8\" dy=\"-8\" text-anchor=\"end\">memory</text>"));
  chart.bytes_per_s = 1e11;
  CHECK_FALSE(has(figure_markup(chart), "roof slope"));
  chart.bytes_per_s = 0;
  chart.roofs = {{4e9, "bf16"}};
  CHECK_FALSE(has(figure_markup(chart), "roof slope"));
  CHECK(has(figure_markup(chart), "<title>bf16</title><line class=\"roof\" x1=\"0.000%\""));
  CHECK(figure_markup(RooflineChart()) == "");
  CHECK(has(figure_markup(one_point(0.5, 0.5)), "class=\"stage\""));
}

TEST_CASE("text: the bounds of what is UTF-8") {
  using nl::exporters::html::text;
  const std::string wrong = "\xef\xbf\xbd";
  for (const std::string good : {"\x7e", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
                                 "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    CHECK(text(good) == good);
  CHECK(text("\xc1\xbf") == wrong + wrong);
  CHECK(text("\xe0\x9f\xbf") == wrong + wrong + wrong);
  CHECK(text("\xf0\x8f\xbf\xbf") == wrong + wrong + wrong + wrong);
  CHECK(text("\xf4\x90\x80\x80") == wrong + wrong + wrong + wrong);
  CHECK(text("\xf5\x80\x80\x80") == wrong + wrong + wrong + wrong);
  CHECK(text("\xe2\x82z") == wrong + wrong + "z");
  CHECK(text("\xf0\x9f\x98z") == wrong + wrong + wrong + "z");
  CHECK(text("\x1f\x20\x7f") == "   ");
  for (const std::string both :
       {"\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xed\xa0\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
        "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82z", "\xf0\x9f\x98z"})
    CHECK(nl::exporters::html::utf8(both) == text(both));
}
