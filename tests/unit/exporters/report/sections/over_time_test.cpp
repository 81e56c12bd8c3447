#include <string>
#include <vector>

#include "exporters/report/sections/sections.h"
#include "tests/catch.h"

// What is drawn over time: the timeline of an iteration and the sampled curves.
using namespace nl;
using namespace nl::exporters::report;

namespace {

template <class Chart>
Chart drawn_in(const Section& section) {
  for (const auto& block : section.blocks)
    if (const auto* figure = std::get_if<Figure>(&block))
      if (const auto* chart = std::get_if<Chart>(figure)) return *chart;
  FAIL("no such chart");
  return {};
}

std::string first_words(const Section& section) { return std::get<Paragraph>(section.blocks.at(0)).text.spans.at(0).text; }

ActivityCurve curve_of(const std::string& metric, std::vector<std::optional<double>> values) {
  ActivityCurve out;
  out.metric = metric;
  out.start_ns = 500;
  out.step_ns = 1000;
  out.values = std::move(values);
  return out;
}

}  // namespace

TEST_CASE("timeline: a place for the explorer where something ran, else why there is none") {
  Run run;
  CHECK(first_words(timeline(run)) == "Not captured: the run has no iteration with ranges or GPU work in it.");
  run.timeline.emplace();
  run.timeline->start_ns = 1'000;
  run.timeline->end_ns = 2'000;
  run.timeline->lanes = {{LaneKind::kGpu, "GPU 0 stream 7", {}}};
  CHECK(drawn_in<Explorer>(timeline(run)).label.find("Timeline of the capture") == 0);
  run.timeline->end_ns = run.timeline->start_ns;
  CHECK(first_words(timeline(run)) == "Not captured: the run has no iteration with ranges or GPU work in it.");
}

TEST_CASE("activity: each curve has its colour, its scale, its mean and what it is called") {
  Run run;
  run.activity = {curve_of("sm__cycles_active.avg.pct_of_peak_sustained_elapsed", {-4.0, 8.0}),
                  curve_of("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", {0.0, 40.0}),
                  curve_of("dram__bytes_read.sum.per_second", {3e9, 1e9}),
                  curve_of("sm__warps_active.avg.pct_of_peak_sustained_active", {250.0}),
                  curve_of("pcie__read_bytes.sum.per_second", {std::nullopt}),
                  curve_of("gpc__cycles_elapsed.avg.per_second", {1.5e9})};
  run.activity[0].title = "SM active";
  const auto curves = drawn_in<CurveChart>(activity(run)).curves;
  REQUIRE(curves.size() == 6);
  std::vector<std::string> seen;
  for (const auto& curve : curves) seen.push_back(curve.colour);
  CHECK(seen == std::vector<std::string>{"b-compute", "b-sync", "b-copy", "b-queue", "b-host", "b-host"});
  CHECK(curves[0].title == "SM active");
  CHECK(curves[0].tip == "SM active: mean 2.0 %, most 8.0 %; a value every 1.00 µs; sm__cycles_active.avg.pct_of_peak_sustained_elapsed");
  CHECK(curves[0].top == 100);  // a percentage ends there, whatever the largest says
  CHECK(curves[2].title == "dram__bytes_read.sum.per_second");
  CHECK(curves[2].top == 5e9);
  CHECK(curves[2].scale == "0 to 5.00 GB/s");
  CHECK(curves[2].mean == "mean 2.00 GB/s");
  CHECK(curves[4].mean == "no sample");
  CHECK(curves[4].tip == "pcie__read_bytes.sum.per_second: no sample");
  CHECK(curves[5].mean == "mean 1.50 GHz");
}

TEST_CASE("activity: curves lie where their samples do, and iterations behind them") {
  Run run;
  run.activity = {curve_of("a", {1.0, 2.0}), curve_of("b", {1.0})};
  run.activity[0].start_ns = 5000;
  run.activity[1].start_ns = 9000;
  run.iterations.list.resize(5);
  run.iterations.list[0] = {4500, 500, true, {}, 0, 0};  // ends where the curves begin
  run.iterations.list[1] = {4900, 200, true, {}, 0, 0};
  run.iterations.list[2] = {5500, 0, false, {}, 0, 0};  // of no length
  run.iterations.list[3] = {6500, 1500, false, {}, 0, 0};
  run.iterations.list[4] = {10000, 100, false, {}, 0, 0};  // begins where they end
  const Section section = activity(run);
  const auto chart = drawn_in<CurveChart>(section);
  CHECK(chart.span_ns == 5000);
  CHECK(chart.curves[0].start_ns == 0);
  CHECK(chart.curves[0].end_ns == 2000);
  CHECK(chart.curves[1].start_ns == 4000);
  CHECK(chart.curves[1].end_ns == 5000);
  CHECK(chart.label == "2 curves over 5.00 µs; a mean 1.50; b mean 1.00");
  REQUIRE(chart.windows.size() == 2);
  CHECK(chart.windows[0].tip == "iteration 2, warm-up: 200 ns");
  CHECK(chart.windows[0].start_ns == -100);
  CHECK(chart.windows[0].faded);
  CHECK(chart.windows[1].tip == "iteration 4: 1.50 µs");
  CHECK(chart.windows[1].end_ns == 3000);
  CHECK_FALSE(chart.windows[1].faded);
  CHECK(first_words(section) == "Sampled beside the trace: 5.00 µs from 0.000005 s of the capture. Iterations are shaded, warm-up paler.");
  run.iterations.list.resize(200);
  CHECK(drawn_in<CurveChart>(activity(run)).windows.size() == 2);
  run.iterations.list.resize(201);
  CHECK(drawn_in<CurveChart>(activity(run)).windows.empty());  // they would cover everything
}
