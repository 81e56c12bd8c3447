#include "analysis/stages/timeline.h"
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
  CHECK(run.timeline->names == std::vector<std::string>{"prefill", "aten::mm", "attention", "cuMemsetD8_v2", "cudaGraphLaunch",
                                                        "[CUDA memset]", "CUDA graph"});
}
