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

Timeline timeline_with(LaneKind kind, const std::vector<std::string>& names) {
  Timeline out;
  out.start_ns = 1'000'000'000;
  out.end_ns = 1'000'001'000;
  out.names = names;
  TimelineLane lane{kind, "lane", {}};
  for (std::uint32_t i = 0; i < names.size(); ++i) lane.slices.push_back({1'000'000'100 + Ns{i} * 10, 5, i, 1});
  out.lanes = {lane};
  return out;
}

std::vector<std::string> colours(const Run& run) {
  std::vector<std::string> out;
  const auto chart = drawn_in<LaneChart>(timeline(run));
  for (const auto& slice : chart.lanes.at(0).slices) out.push_back(slice.colour);
  return out;
}

ActivityCurve curve_of(const std::string& metric, std::vector<std::optional<double>> values) {
  ActivityCurve out;
  out.metric = metric;
  out.start_ns = 500;
  out.step_ns = 1000;
  out.values = std::move(values);
  return out;
}

}  // namespace

TEST_CASE("timeline: slices have the colours of the budget's bins") {
  Run run;
  run.stages.resize(2);
  run.stages[0].name = "prefill";
  run.stages[1].name = "decode";
  run.timeline = timeline_with(LaneKind::kRanges, {"decode", "prefill", "request"});
  CHECK(colours(run) == std::vector<std::string>{"s-1", "s-0", "s-other"});
  run.timeline = timeline_with(LaneKind::kApi, {"cudaStreamSynchronize", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync", "cudaMalloc"});
  CHECK(colours(run) == std::vector<std::string>{"b-sync", "b-starved", "b-copy", "b-copy", "b-host"});
  run.timeline = timeline_with(LaneKind::kGpu, {"a", "b", "c", "d", "e", "[CUDA memcpy Host-to-Device]", "[CUDA memset]"});
  CHECK(colours(run) == std::vector<std::string>{"k-0", "k-1", "k-2", "k-3", "k-0", "b-copy", "b-copy"});
}

TEST_CASE("timeline: a slice says what it is, how long and when, and for how many it stands") {
  Run run;
  run.timeline = timeline_with(LaneKind::kGpu, {"gemm<4>(T1)"});
  auto& slices = run.timeline->lanes[0].slices;
  slices[0].merged = 12;
  slices.push_back({1'000'000'400, 20, 9, 1});
  const auto drawn = drawn_in<LaneChart>(timeline(run)).lanes[0].slices;
  CHECK(drawn[0].tip == "gemm<...>(...): 5 ns (5 ns) at 100 ns; stands for 12 neighbours");
  CHECK(drawn[0].name == "gemm<...>(...)");
  CHECK(drawn[1].tip == "(no name): 20 ns (20 ns) at 400 ns");
  CHECK(first_words(timeline(run)) == "Shown: one iteration, 1.00 µs from 1.000000 s of the capture.");
  run.timeline->what = "iteration 2 of 3";
  run.timeline->slices_left_out = 1;
  CHECK(first_words(timeline(run)) == "Shown: iteration 2 of 3, 1.00 µs from 1.000000 s of the capture. Left out: 1 slice, too small or too many to draw.");
}

TEST_CASE("timeline: what is too much to draw is counted") {
  Run run;
  run.timeline = timeline_with(LaneKind::kGpu, {"gemm"});
  run.timeline->lanes.resize(41, run.timeline->lanes[0]);
  CHECK(drawn_in<LaneChart>(timeline(run)).lanes.size() == 40);
  CHECK(first_words(timeline(run)).find("Left out: 1 slice,") != std::string::npos);
  run.timeline->lanes.resize(2);
  run.timeline->lanes[1].slices.resize(6002, run.timeline->lanes[0].slices[0]);
  CHECK(drawn_in<LaneChart>(timeline(run)).lanes[1].slices.size() == 5999);
  CHECK(first_words(timeline(run)).find("Left out: 3 slices,") != std::string::npos);
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
  run.iterations.list[0] = {4500, 500, true, {}, 0, 0};      // ends where the curves begin
  run.iterations.list[1] = {4900, 200, true, {}, 0, 0};
  run.iterations.list[2] = {5500, 0, false, {}, 0, 0};    // of no length
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
