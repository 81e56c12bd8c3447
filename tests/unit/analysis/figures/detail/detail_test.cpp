#include "analysis/figures/detail/detail.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "analysis/figures/operators/operators.h"
#include "parsers/collector/trace.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/analysis/account/slow_judge.h"
#include "tests/unit/analysis/figures/detail/detail_sums.h"
#include "tests/unit/analysis/trace_builder.h"

namespace {

using nl::BudgetBin;
using nl::Detail;
using nl::Ns;
using nl::analysis::make_detail;

nl::Run run_of_trace(const nl::Trace& trace) {
  nl::Run run;
  nl::analysis::summarise(trace, {}, run);
  nl::analysis::add_operators(trace, {}, run);
  return run;
}

const nl::DetailSlices& lane_ending(const Detail& detail, std::string_view end) {
  for (const auto& lane : detail.windows.at(0).lanes)
    if (detail.lanes[lane.lane].title.ends_with(end)) return lane;
  FAIL("no lane " << end);
  throw 0;
}

const std::string kLlamaExport = NL_FIXTURES "/h200-llama/nsys.sqlite";

}  // namespace

TEST_CASE("a sample tells the line of a call only where no other call of the thread lies between") {
  TraceBuilder b;
  b.stage("decode_step", 0, 10'000);
  for (const Ns at : {1000, 2000, 3000, 4000}) b.kernel("gemm", at + 100, 30, b.call(at));
  b.wait(3200, 3300);
  b.trace.host.period_ns = 5000;
  b.trace.host.frames = {{"forward", "/m.py", "m", 9, 5, ""}, {"norm", "/m.py", "m", 20, 18, ""}};
  b.trace.host.stacks = {{0}, {1}};
  b.trace.host.samples = {{1900, 100, b.trace.threads[0].tid, 0}, {3100, 100, b.trace.threads[0].tid, 1}};
  const Detail detail = make_detail(b.trace, {}, {});
  const auto& kernels = lane_ending(detail, "kernels").slices;
  REQUIRE(kernels.size() == 4);
  const auto site = [&](std::size_t kernel) { return detail.sites.at(kernels[kernel].site); };
  CHECK((site(0).place == "m.py:9 forward" && site(0).nearby));  // sampled after the call
  CHECK((site(1).place == "m.py:9 forward" && !site(1).nearby));
  CHECK((site(2).place == "m.py:20 norm" && site(2).nearby));  // the nearest, but after it
  CHECK((site(3).place == "m.py:20 norm" && site(3).nearby));  // the wait lies between
  CHECK(detail.sample_period_ns == 5000);
}

TEST_CASE("each moment of a step has one bin, and kernels know the call that launched them") {
  TraceBuilder b;
  b.stage("decode_step", 100, 200);
  b.kernel("gemm", 120, 30, b.call(105));         // idle 100..120: launched at 105
  b.kernel("copy_kernel", 160, 20, b.call(140));  // idle 150..160: launched before the GPU went idle
  b.wait(182, 190);                               // idle 180..200: nothing more is launched
  const Detail detail = make_detail(b.trace, {}, {});
  REQUIRE(detail.windows.size() == 1);
  CHECK(detail.windows[0].whole);
  const auto& bins = detail.windows[0].bins[0];
  const auto interval = [&](std::size_t i) { return std::tuple(bins.at(i).start_ns, bins.at(i).end_ns, bins.at(i).bin); };
  REQUIRE(bins.size() == 8);
  CHECK(interval(0) == std::tuple(100, 105, BudgetBin::kLaunchStarved));
  CHECK(interval(1) == std::tuple(105, 120, BudgetBin::kLaunchLatency));
  CHECK(interval(2) == std::tuple(120, 150, BudgetBin::kCompute));
  CHECK(interval(3) == std::tuple(150, 160, BudgetBin::kQueueWait));
  CHECK(interval(4) == std::tuple(160, 180, BudgetBin::kCompute));
  CHECK(interval(5) == std::tuple(180, 182, BudgetBin::kOtherHost));
  CHECK(interval(6) == std::tuple(182, 190, BudgetBin::kSyncBlocked));
  CHECK(interval(7) == std::tuple(190, 200, BudgetBin::kOtherHost));

  const auto& gpu = lane_ending(detail, "GPU 0 stream 7: kernels");
  REQUIRE(gpu.slices.size() == 2);
  CHECK(detail.names[detail.kernels[gpu.slices[1].kernel].name] == "copy_kernel");
  const auto& launch = detail.windows[0].lanes.at(gpu.slices[1].launch_lane).slices.at(gpu.slices[1].launch_slice);
  CHECK(launch.start_ns == 140);
  CHECK(detail.names[launch.name] == "cudaLaunchKernel");
}

TEST_CASE("of nested stages the innermost tells a moment, and each step keeps its own budget") {
  TraceBuilder b;
  b.stage("decode", 0, 100);
  b.stage("decode_step", 0, 40);
  b.stage("decode_step", 60, 100);
  b.kernel("k", 10, 10, b.call(5));
  b.kernel("k", 70, 10, b.call(65));
  const Detail detail = make_detail(b.trace, {}, {});
  const auto& bins = detail.windows[0].bins[0];
  // The first step launches nothing after its kernel; decode does, at 65.
  const auto at_30 = std::find_if(bins.begin(), bins.end(), [](const auto& each) { return each.start_ns <= 30 && each.end_ns > 30; });
  const auto at_50 = std::find_if(bins.begin(), bins.end(), [](const auto& each) { return each.start_ns <= 50 && each.end_ns > 50; });
  CHECK(at_30->bin == BudgetBin::kOtherHost);
  CHECK(at_50->bin == BudgetBin::kLaunchStarved);
  for (const auto& step : detail.steps) {
    const Ns starved = step.bins.at(0).second[static_cast<std::size_t>(BudgetBin::kLaunchStarved)];
    if (detail.stages[step.stage] == "decode") CHECK(starved == 5 + 45);
    else CHECK(starved == 5);
  }
}

TEST_CASE("the parts of random traces add up to the figures of their runs") {
  std::size_t stages = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const nl::test::RandomTrace random(seed, static_cast<int>(seed % 5));
    INFO("seed " << seed);
    const Detail detail = make_detail(random.trace, {}, {});
    if (detail.windows.empty()) continue;
    const nl::Run run = run_of_trace(random.trace);
    stages += nl::test::check_step_bins(detail, run);
    nl::test::check_step_walls(detail);
    nl::test::check_bins_agree(detail);
    CHECK(nl::test::kernels_of_overview(detail) == nl::test::kernels_of_run(run));
    for (const auto& gpu : run.coverage.devices)
      for (std::size_t i = 0; i < detail.devices.size(); ++i)
        if (detail.devices[i].device == gpu.device && detail.devices[i].pid == gpu.pid) {
          Ns busy_ns = 0;
          for (const Ns each : detail.overview.busy[i]) busy_ns += each;
          CHECK(busy_ns == gpu.busy_ns);
        }
  }
  CHECK(stages > 300);
}

TEST_CASE("the parts of real captures add up to the figures of their runs") {
  for (const std::string& file : {kLlamaExport, std::string(NL_FIXTURES "/h200-probe/probe_node.sqlite"),
                                  std::string(NL_FIXTURES "/h200-probe/probe_graph.sqlite")}) {
    INFO(file);
    const auto trace = nl::parsers::read_nsys_sqlite(file);
    const nl::Run run = run_of_trace(trace);
    const Detail detail = make_detail(trace, {}, {});
    CHECK(nl::test::check_step_bins(detail, run) >= 2);
    nl::test::check_step_walls(detail);
    nl::test::check_bins_agree(detail);
    CHECK(nl::test::kernels_of_overview(detail) == nl::test::kernels_of_run(run));
    CHECK(nl::test::operators_of_overview(detail) == nl::test::operators_of_run(run));
    CHECK(detail.windows.at(0).whole);
  }
}

TEST_CASE("a capture that is too large is shown in windows, the cited moments among them") {
  const auto trace = nl::parsers::read_nsys_sqlite(kLlamaExport);
  const Detail whole = make_detail(trace, {}, {});
  const auto& shortest =
      *std::min_element(whole.steps.begin(), whole.steps.end(), [](const auto& a, const auto& b) { return a.wall_ns < b.wall_ns; });
  const Ns middle_ns = (whole.start_ns + whole.end_ns) / 2;
  nl::analysis::DetailLimits limits;
  limits.slices = nl::test::slices_of_windows(whole) / 2;
  const Detail detail =
      make_detail(trace, {}, {{middle_ns, middle_ns + 50'000}, {shortest.start_ns, shortest.start_ns + shortest.wall_ns}}, limits);
  REQUIRE(detail.windows.size() > 1);
  CHECK(nl::test::slices_of_windows(detail) <= limits.slices + limits.slices / 4);  // ranges around a window count too
  const auto shown = [&](Ns start_ns, Ns end_ns) {
    return std::any_of(detail.windows.begin(), detail.windows.end(),
                       [&](const auto& window) { return window.start_ns <= start_ns && window.end_ns >= end_ns; });
  };
  CHECK(shown(middle_ns, middle_ns + 50'000));
  CHECK(shown(shortest.start_ns, shortest.start_ns + shortest.wall_ns));
  // Of each stage at least one whole window, where the step says so.
  std::set<std::string> stages;
  for (const auto& step : detail.steps)
    if (step.window != nl::kNone) {
      CHECK(detail.windows[step.window].start_ns <= step.start_ns);
      CHECK(detail.windows[step.window].end_ns >= step.start_ns + step.wall_ns);
      stages.insert(detail.stages[step.stage]);
    }
  CHECK(stages.contains("decode_step"));
  // What a window shows is all that the capture has there.
  for (const auto& window : detail.windows) {
    std::size_t slices = 0, expected = 0;
    for (const auto& lane : window.lanes) slices += lane.slices.size();
    for (const auto& lane : whole.windows[0].lanes)
      for (const auto& slice : lane.slices)
        expected += slice.start_ns < window.end_ns && std::max(slice.start_ns + slice.duration_ns, slice.start_ns + 1) > window.start_ns;
    CHECK(slices == expected);
  }
  CHECK(nl::test::kernels_of_overview(detail) == nl::test::kernels_of_overview(whole));
}

TEST_CASE("where there are too many lanes, those of stages and streams stay, and the rest is counted") {
  TraceBuilder b;
  b.stage("decode_step", 0, 100'000);
  b.kernel("k", 50, 10, b.call(5));
  for (std::uint32_t i = 0; i < 60; ++i) {  // busier than the stage, and than the stream
    const std::uint32_t thread = b.thread(0);
    for (std::uint32_t j = 0; j < 3 + i; ++j) b.range("", "work", 10 * Ns{j}, 10 * Ns{j} + 5, thread);
  }
  const Detail detail = make_detail(b.trace, {}, {});
  const auto has_lane = [&](std::string_view end) {
    return std::any_of(detail.lanes.begin(), detail.lanes.end(), [&](const auto& lane) { return lane.title.ends_with(end); });
  };
  CHECK(detail.lanes.size() == 48);
  CHECK(has_lane(": stages"));
  CHECK(has_lane("GPU 0 stream 7: kernels"));
  CHECK(detail.lanes_left_out == 15);  // of 63: 14 of the ranges with least in them, and the calls, of which there is one
  std::uint64_t slices = 0;
  for (std::uint64_t i = 0; i < 14; ++i) slices += 3 + i;
  CHECK(detail.slices_left_out == slices + 1);
  CHECK(nl::test::slices_of_windows(detail) + detail.slices_left_out ==
        b.trace.ranges.size() + b.trace.api_calls.size() + b.trace.kernels.size());
}

TEST_CASE("many short steps are listed in at most 400 windows, over the whole capture") {
  TraceBuilder b;
  constexpr Ns kSteps = 3000, kEach = 1000;
  for (Ns i = 0; i < kSteps; ++i) {
    b.stage("decode_step", i * kEach, i * kEach + 900);
    b.kernel("k", i * kEach + 50, 10, b.call(i * kEach + 5));
  }
  nl::analysis::DetailLimits limits;
  limits.slices = 6000;  // of 9000: room for two steps of three
  const Detail detail = make_detail(b.trace, {}, {}, limits);
  CHECK(detail.windows.size() > 300);
  CHECK(detail.windows.size() <= 400);
  CHECK(detail.windows.front().start_ns < 50 * kEach);
  CHECK(detail.windows.back().end_ns > (kSteps - 50) * kEach);
  for (std::size_t i = 1; i < detail.windows.size(); ++i) REQUIRE(detail.windows[i - 1].end_ns < detail.windows[i].start_ns);
  const auto listed = std::count_if(detail.steps.begin(), detail.steps.end(), [](const auto& step) { return step.window != nl::kNone; });
  CHECK(listed > 700);  // two to a window
  CHECK(nl::test::slices_of_windows(detail) < 7000);
}

TEST_CASE("ranges that lie too deep for the lanes of their thread are counted") {
  TraceBuilder b;
  for (Ns i = 0; i < 12; ++i) b.range("", "nested", i, 100 - i);
  const Detail detail = make_detail(b.trace, {}, {});
  CHECK(detail.lanes.size() == 8);
  CHECK(detail.lanes_left_out == 0);
  CHECK(detail.slices_left_out == 4);
}

TEST_CASE("lanes say what they are, and a busy bucket how busy it is") {
  const auto trace = nl::parsers::read_nsys_sqlite(kLlamaExport);
  const Detail detail = make_detail(trace, {}, {});
  std::set<std::string> titles;
  for (const auto& lane : detail.lanes) titles.insert(lane.title);
  CHECK(titles.size() == detail.lanes.size());
  CHECK(std::any_of(titles.begin(), titles.end(),
                    [](const auto& title) { return title.find("main thread") != std::string::npos && title.ends_with(": CUDA calls"); }));
  CHECK(std::any_of(titles.begin(), titles.end(), [](const auto& title) { return title.starts_with("GPU 0 stream "); }));
  for (const auto& lane : detail.overview.lanes)
    for (const auto& bucket : lane) CHECK(bucket.busy_ns <= detail.overview.bucket_ns);
}

TEST_CASE("a capture without anything has no detail") {
  CHECK(make_detail(nl::Trace(), {}, {}).windows.empty());
  nl::Trace moment;
  moment.threads.push_back({nl::kNone, 1, {}});
  moment.ranges.emplace_back().thread = 0;
  CHECK(make_detail(moment, {}, {}).windows.size() == 1);
}
