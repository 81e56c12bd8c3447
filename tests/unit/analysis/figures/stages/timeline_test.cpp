#include "analysis/figures/stages/timeline.h"
#include "model/words.h"

#include <algorithm>
#include <string>
#include <vector>

#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

namespace {

using nl::Ns;

const nl::TimelineLane& lane(const nl::Timeline& timeline, std::string_view kind, std::size_t number = 0) {
  for (const auto& each : timeline.lanes)
    if (nl::key_of(each.kind) == kind && number-- == 0) return each;
  FAIL("no lane " << kind);
  throw 0;
}

std::size_t check_slices(const nl::Timeline& timeline) {
  std::size_t slices = 0;
  for (const auto& each : timeline.lanes) {
    INFO(nl::key_of(each.kind) << " " << each.title);
    Ns until = timeline.start_ns;
    for (const auto& slice : each.slices) {
      REQUIRE(slice.start_ns >= until);
      REQUIRE(slice.duration_ns >= 0);
      REQUIRE(slice.merged >= 1);
      until = slice.start_ns + slice.duration_ns;
    }
    REQUIRE(until <= timeline.end_ns);
    slices += each.slices.size();
  }
  return slices;
}

}  // namespace

TEST_CASE("the median iteration, lane by lane") {
  TraceBuilder b;
  for (const Ns at : {0, 1000, 2000}) {
    const Ns longer = at == 1000 ? 20 : at == 2000 ? 40 : 0;
    b.stage("prefill", at, at + 100);
    b.range("", "LLM@decode_all", at + 100, at + 300 + longer);
    b.range("LLM", "decode_step", at + 100, at + 200);
    b.range("LLM.ops", "attention", at + 110, at + 150);
    b.launch(at + 10, at + 20, 30);
    b.kernel("k2", at + 40, 20, b.call(at + 25));  // overlaps the one before by 10
    b.call(at + 30, 1, "cudaMemcpyAsync_v3020");
  }
  const auto run = b.run_all();
  REQUIRE(run.timeline);
  const auto& timeline = *run.timeline;
  CHECK(timeline.start_ns == 1000);
  CHECK(timeline.end_ns == 1320);
  CHECK(timeline.what == "iteration 2 of 3, the median");
  CHECK(check_slices(timeline) == 3 + 1 + 2 + 1 + 2);
  CHECK(timeline.lanes.size() == 6);
  const auto& stages = lane(timeline, "ranges", 0);
  REQUIRE(stages.slices.size() == 2);
  CHECK(timeline.names[stages.slices[0].name] == "prefill");
  CHECK(timeline.names[stages.slices[1].name] == "decode_all");
  CHECK(timeline.names[lane(timeline, "ranges", 1).slices[0].name] == "decode_step");
  CHECK(timeline.names[lane(timeline, "ranges", 2).slices[0].name] == "attention");
  CHECK(lane(timeline, "api", 1).title == "thread 1001");
  CHECK(timeline.names[lane(timeline, "api", 1).slices[0].name] == "cudaMemcpyAsync");
  const auto& gpu = lane(timeline, "gpu");
  CHECK(gpu.title == "GPU 0 stream 7");
  CHECK(gpu.slices[1].start_ns == 1050);
  CHECK(gpu.slices[1].duration_ns == 10);
}

TEST_CASE("crowded lanes are thinned, quiet ones are kept") {
  TraceBuilder b;
  b.stage("prefill", 0, 10'000'000);
  for (int i = 0; i < 50'000; ++i) b.launch(i * 200, i * 200 + 50, 100);
  b.kernel("long", 9'999'000, 900, b.call(9'998'100), 1);
  std::sort(b.trace.api_calls.begin(), b.trace.api_calls.end(), [](const auto& a, const auto& c) { return a.start_ns < c.start_ns; });
  const auto run = b.run();
  const auto& timeline = *run.timeline;
  const std::size_t slices = check_slices(timeline);
  CHECK(slices <= nl::analysis::kMaxTimelineSlices);
  CHECK(slices > nl::analysis::kMaxTimelineSlices / 3);
  CHECK(lane(timeline, "ranges").slices.size() == 1);
  CHECK(lane(timeline, "gpu", 1).slices.size() == 1);
  std::uint64_t shown = 0;
  for (const auto& slice : lane(timeline, "gpu").slices) shown += slice.merged;
  CHECK(shown == 50'000);
  CHECK(timeline.slices_left_out == 0);
}

TEST_CASE("only the iteration's own process is shown") {
  TraceBuilder b;
  const auto process = b.process();
  const auto thread = b.thread(process);
  b.stage("prefill", 0, 100);
  b.launch(5, 10, 10);
  b.launch(5, 10, 10, thread, b.queue(process, 0, 7));
  CHECK(b.run().timeline->lanes.size() == 3);
}

TEST_CASE("a long capture without stages is shown in its middle") {
  TraceBuilder b;
  b.launch(0, 10, 10);
  b.launch(5'000'000'000, 5'000'000'010, 10);
  b.launch(9'999'999'000, 9'999'999'990, 10);
  const auto timeline = *b.run().timeline;
  CHECK(timeline.start_ns == 4'900'000'005);
  CHECK(timeline.end_ns == 5'100'000'005);
  CHECK(lane(timeline, "gpu").slices.size() == 1);
}

TEST_CASE("the timeline of a real capture") {
  const auto trace = nl::parsers::read_nsys_sqlite(NL_FIXTURES "/h200-llama/nsys.sqlite");
  nl::Run run;
  nl::analysis::summarise(trace, {}, run);
  const auto& timeline = *run.timeline;
  CHECK(timeline.what == "iteration 2 of 2, the only one measured");
  CHECK(check_slices(timeline) <= nl::analysis::kMaxTimelineSlices);
  CHECK(lane(timeline, "ranges", 0).slices.size() == 2);  // prefill, decode_all
  CHECK(lane(timeline, "ranges", 1).slices.size() == 8);  // the steps
  CHECK(lane(timeline, "gpu").slices.size() > 100);
}

TEST_CASE("names are shown without what a tool adds to them") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  b.range("", "aten::mm, op_id = 276, sizes = [[1, 1024], [1024, 1024]]", 10, 20);
  b.range("", "aten::mm, op_id = 277, sizes = [[1, 1024], [1024, 1024]]", 20, 30);
  b.range("", "LLM.ops@attention", 40, 50);
  b.copy(nl::MemOpKind::kMemset, 60, 70, b.call(50, 0, "cuMemsetD8_v2")).label = b.trace.strings.intern("[CUDA memset]").value;
  b.graph(80, 90, b.call(70, 0, "cudaGraphLaunch_v10000"));
  const auto run = b.run();
  CHECK(run.timeline->names ==
        std::vector<std::string>{"prefill", "aten::mm", "attention", "cuMemsetD8_v2", "cudaGraphLaunch", "[CUDA memset]", "CUDA graph"});
}

TEST_CASE("of four measured iterations the shorter of the middle two, and no warm-up, is shown") {
  TraceBuilder b;
  const std::vector<Ns> walls = {900, 40, 10, 30, 20};
  for (std::size_t i = 0; i < walls.size(); ++i) b.stage("prefill", static_cast<Ns>(i) * 1000, static_cast<Ns>(i) * 1000 + walls[i]);
  nl::analysis::SummaryOptions options;
  options.warmup.mode = nl::analysis::WarmupRule::Mode::kCount;
  options.warmup.count = 1;
  const auto timeline = *b.run(options).timeline;
  CHECK(timeline.what == "iteration 5 of 5, the median");
  CHECK(timeline.start_ns == 4000);
  CHECK(timeline.end_ns == 4020);
  // Warm-up or not: the median of all five is the one of 30.
  CHECK(b.run_all().timeline->what == "iteration 4 of 5, the median");
}

TEST_CASE("the first of equally long iterations is shown, and none of no length") {
  TraceBuilder b;
  b.stage("prefill", 100, 100);
  b.stage("prefill", 200, 250);
  b.stage("prefill", 300, 350);
  CHECK(b.run_all().timeline->what == "iteration 2 of 3, the median");
}

TEST_CASE("calls that reach into the view are shown, those that only touch it are not") {
  const auto calls_shown = [](Ns before, std::uint64_t duration) {
    TraceBuilder b;
    b.stage("prefill", 2000, 2100);
    b.call(1900, 0, "long before");
    b.call(before, 0, "before", duration);
    b.call(2020, 0, "inside", 10);
    b.call(2090, 0, "leaving", 30);
    b.call(2100, 0, "after", 10);
    return *b.run_all().timeline;
  };
  const auto names = [](const nl::Timeline& timeline) {
    std::vector<std::string> all;
    for (const auto& slice : lane(timeline, "api").slices) all.push_back(timeline.names[slice.name]);
    return all;
  };
  CHECK(names(calls_shown(1990, 10)) == std::vector<std::string>{"inside", "leaving"});
  const auto reaching = calls_shown(1990, 15);
  CHECK(names(reaching) == std::vector<std::string>{"before", "inside", "leaving"});
  CHECK(lane(reaching, "api").slices.front().start_ns == 2000);
  CHECK(lane(reaching, "api").slices.front().duration_ns == 5);
  CHECK(lane(reaching, "api").slices.back().duration_ns == 10);
}

TEST_CASE("six levels of a thread's ranges are drawn, what is nested deeper is counted") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  for (int level = 0; level < 8; ++level) b.range("", "module", level, 100 - level);
  b.range("", "later", 100, 101);
  b.stage("decode_all", 100, 110);
  const auto timeline = *b.run_all().timeline;
  CHECK(timeline.lanes.size() == 1 + 6);
  CHECK(timeline.slices_left_out == 2);
  CHECK(lane(timeline, "ranges", 0).slices.size() == 2);  // prefill and decode follow each other
  CHECK(lane(timeline, "ranges", 1).slices.size() == 2);  // the outermost module, and what comes when it is over
  CHECK(lane(timeline, "ranges", 0).title == "thread 1000");
}

TEST_CASE("of nested ranges the outer one is on top, in whatever order they were recorded") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  b.range("", "inner", 10, 20);
  b.range("", "same start", 0, 50);
  b.range("", "outer", 0, 90);
  const auto timeline = *b.run_all().timeline;
  const std::vector<std::string> expected = {"prefill", "outer", "same start", "inner"};
  REQUIRE(timeline.lanes.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(timeline.names[timeline.lanes[i].slices.at(0).name] == expected[i]);
}

TEST_CASE("of more than 48 lanes the busiest are drawn, and the rest is counted") {
  TraceBuilder b;
  b.stage("prefill", 0, 1000);
  for (std::uint32_t stream = 0; stream < 49; ++stream) {
    const auto queue = b.queue(0, 0, 100 + stream);
    b.kernel("k", 10, 10, nl::kNone, queue);
    if (stream != 20) b.kernel("k", 30, 10, nl::kNone, queue);  // the 20th has one kernel, the others two
  }
  const auto timeline = *b.run_all().timeline;
  CHECK(timeline.slices_left_out == 2);  // the stage, and that kernel
  CHECK(timeline.lanes.size() == 48);
}

TEST_CASE("a kernel has its short name, and a capture without stages shows every process") {
  TraceBuilder b;
  const auto process = b.process();
  const auto queue = b.queue(process, 0, 9);
  b.kernel("void gemm<float>(int)", 100, 50, b.call(10));
  b.trace.shapes[0].short_name = b.trace.strings.intern("gemm");
  b.kernel("plain", 200, 50, b.call(20, b.thread(process)), queue);
  b.trace.shapes[1].short_name = {};
  auto timeline = *b.run().timeline;
  CHECK(timeline.what == "the whole capture, because it has no closed stage ranges");
  CHECK(timeline.start_ns == 100);
  CHECK(timeline.end_ns == 250);
  CHECK(timeline.names == std::vector<std::string>{"gemm", "plain"});
  CHECK(lane(timeline, "gpu", 1).title == "GPU 0 stream 9");
  b.kernel("last", 200'000'090, 10, nl::kNone);
  CHECK(b.run().timeline->end_ns == 200'000'100);  // 200 ms are not too long
  b.kernel("last", 200'000'092, 10, nl::kNone);
  timeline = *b.run().timeline;
  CHECK(timeline.start_ns == 101);
  CHECK(timeline.what == "200 ms in the middle of the capture, because it has no closed stage ranges");
}

TEST_CASE("ranges alone make a timeline, and nothing makes none") {
  TraceBuilder b;
  CHECK_FALSE(b.run().timeline);
  b.range("", "load", 10, 40);
  b.range("", "tokenise", 60, 90);
  const auto timeline = *b.run().timeline;
  CHECK(timeline.start_ns == 10);
  CHECK(timeline.end_ns == 90);
  CHECK(lane(timeline, "ranges").slices.size() == 2);
  b.kernel("instant", 50, 0, nl::kNone);  // GPU work of no length is not drawn
  CHECK(b.run().timeline->end_ns == 90);
}
