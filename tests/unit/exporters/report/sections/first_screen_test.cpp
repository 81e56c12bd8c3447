#include <string>

#include "exporters/report/html/html.h"
#include "exporters/report/reports.h"
#include "exporters/report/sections/sections.h"
#include "tests/catch.h"
#include "tests/unit/exporters/report/sections/made_stages.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

using namespace nl;
using namespace nl::exporters::report;
using nl::exporters::html::blocks_markup;
using nl::test::count;
using nl::test::has;

namespace {

std::string markup_of(const Run& run) { return blocks_markup(first_screen(run).blocks); }

}  // namespace

TEST_CASE("first screen: the median step with its budget below it, on one scale with the predicted one") {
  const Run run = test::rich_run();
  const Section section = first_screen(run);
  CHECK(section.title == "The median decode_step");
  CHECK(section.drawn_only);
  const std::string page = blocks_markup(section.blocks);
  CHECK(has(page,
            "<span><b>median</b></span><span>host</span><span>GPU</span><span>budget</span><span><b>predicted</b></span><span>host</"
            "span><span>GPU</span>"));
  CHECK(has(page,
            "aria-label=\"median 4.240 ms: GPU compute 10.0 %, queue wait 5.0 %, blocked in sync 2.5 %, launch-starved 80.0 %, other host "
            "work 2.5 %; "
            "predicted 1.188 ms (950.00 µs to 1.500 ms); 1.188 ms: GPU works 54.7 %,"));
  CHECK(has(page, "<title>launch-starved for 3.392 ms, from 0 ns</title>"));
  CHECK(has(page, ">80 %</text>"));
  CHECK(count(page, "class=\"reach\"") == 3);
  CHECK(has(page, "<li class=\"of\">GPU</li>"));
  CHECK(has(page, "<b>launch-starved</b> 80.0 %"));
  CHECK(has(page, "decode_step of median length of 24 measured, as captured."));
  CHECK(has(page,
            "All 24 together: GPU compute 9.3 %, queue wait 4.0 %, blocked in sync 2.9 %, launch-starved 81.2 %, other host work 1.9 %."));
  CHECK(has(page, "<a href=\"#t=2484622000,2488862000\">Show it in the timeline</a>"));
  CHECK_FALSE(has(page, "style=\""));
}

TEST_CASE("first screen: every action leads to its finding and to a moment") {
  Run run = test::rich_run();
  const std::string page = markup_of(run);
  CHECK(has(page, "<a href=\"#finding-1\">Finding 1</a> · <a href=\"#t=2471000000,2505091823\">its moment</a>"));
  CHECK(has(page, "<a href=\"#finding-2\">Finding 2</a> · <a href=\"#t=2484622000,2488862000\">the median step</a>"));
  run.findings[0].subject = "decode_step";
  CHECK(has(markup_of(run), "<a href=\"#finding-1\">Finding 1</a> · <a href=\"#t=2484622000,2488862000\">its moment</a>"));
  run.findings.clear();
  CHECK(has(markup_of(run), "No rule asks for a change; 2 rules were not evaluated for lack of data."));
}

TEST_CASE("first screen: what was not captured is one line") {
  Run run = test::rich_run();
  run.efficiency.clear();
  run.energy = {};
  const std::string page = markup_of(run);
  CHECK(has(page, "Not captured: MFU, Energy per token."));
  CHECK_FALSE(has(page, "<b class=\"none\">"));
}

TEST_CASE("first screen: a run.json before 3.8 shows what a replay made of the step, and one without either its stages or why not") {
  Run run = test::rich_run();
  run.median_step.reset();
  CHECK(has(markup_of(run), "<span><b>now</b></span>"));
  CHECK(has(markup_of(run), "decode_step of median length, without the tracer&#39;s part."));
  run.what_if.reset();
  const std::string stages = markup_of(run);
  CHECK(first_screen(run).title == "The median iteration");
  CHECK(has(stages, "<title>decode: 34.090 ms, from 5.100 ms</title>"));
  run.timeline.reset();
  CHECK(has(markup_of(run), "No step to draw: the capture has no stage with a measured window."));
}

TEST_CASE("the page has the name of the run as its title, and its id among the facts") {
  Run run = test::rich_run();
  const std::string page = exporters::report_html(run);
  CHECK(has(page, "<title>llama</title>"));
  CHECK(has(page, "<h1>llama <span class=\"pill complete\">"));
  CHECK(has(page, "<span>20261115-021808-llama-deep</span>"));
  CHECK(page.find("id=\"first\"") < page.find("id=\"summary\""));
  run.name.clear();
  CHECK(has(exporters::report_html(run), "<title>20261115-021808-llama-deep</title>"));
}

TEST_CASE("iterations: a stage around others is what they leave of it, so that a column is as high as the iteration") {
  Run run = test::run_of({test::window_of("request", 100, 2), test::window_of("prefill", 10, 2), test::window_of("decode", 80, 2),
                          test::window_of("decode_step", 20, 8)});
  for (const Ns start : {0, 200})
    run.iterations.list.push_back({start, 100, false, {{"request", 100}, {"prefill", 10}, {"decode", 80}, {"decode_step", 78}}, 0, 0});
  run.iterations.count = 2;
  const Blocks blocks = iterations(run);
  const auto& chart = std::get<ColumnChart>(std::get<Figure>(blocks.at(1)));
  REQUIRE(chart.columns.size() == 2);
  double sum = 0;
  for (const Segment& part : chart.columns[0].parts) sum += part.value;
  CHECK(sum == 100);
  REQUIRE(chart.columns[0].parts.size() == 4);
  CHECK(chart.columns[0].parts[0].value == 10);  // of the request: neither prefill nor decode
  CHECK(chart.columns[0].parts[2].value == 2);   // of decode: outside of its steps
  const std::string page = blocks_markup(blocks);
  CHECK(has(page, "<b>request</b> outside of those inside it"));
  CHECK(has(page, "<b>decode_step</b> </li>"));
  CHECK(has(page, ">0.05 µs</text>"));  // the axis has a unit,
  CHECK(has(page, "<span class=\"axis-unit\">iteration</span>"));
}

TEST_CASE("iterations: what lies inside what is read from the timeline, whatever the stages are called") {
  Run run = test::run_of({test::window_of("outer", 100, 2), test::window_of("inner", 60, 2)});
  for (const Ns start : {0, 200}) run.iterations.list.push_back({start, 100, false, {{"outer", 100}, {"inner", 60}}, 0, 0});
  run.iterations.count = 2;
  const auto parts = [&] { return std::get<ColumnChart>(std::get<Figure>(iterations(run).at(1))).columns[0].parts; };
  CHECK(parts()[0].value == 100);  // not known: beside each other
  run.timeline = Timeline{0,
                          100,
                          "iteration 1 of 2",
                          {"outer", "inner"},
                          {{LaneKind::kRanges, "thread 1", {{0, 100, 0, 1}}}, {LaneKind::kRanges, "thread 1", {{20, 60, 1, 1}}}},
                          0};
  CHECK(parts()[0].value == 40);
  CHECK(parts()[1].value == 60);
}
