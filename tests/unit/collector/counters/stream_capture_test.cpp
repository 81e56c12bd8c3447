// While a graph is captured somewhere, the driver refuses what would spoil the capture. The collector's own questions
// must neither be refused nor change how the program's thread treats captures.
#include <algorithm>

#include "model/words.h"
#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/collector/injected_program.h"

using namespace nl;
using namespace nl::test;

namespace {

Environment counters_in_capture() {
  return {{"NL_STAGE_COUNTERS", "stages"},
          {"NL_STAGE_COUNTER_METRICS", "gpu__time_duration.sum"},
          {"NL_STAGE_COUNTER_RANGES", "LLM@prefill\nLLM@decode_all"},
          {"FAKE_CUPTI_CAPTURING", "1"},
          {"FAKE_CUDA", NL_BUILD_ROOT "/tests/unit/collector/libfake_cuda.so"}};
}

}  // namespace

TEST_CASE("windows are counted beside a stream capture, and the thread's capture mode stays the program's") {
  ScratchFolder folder;
  const Outcome outcome = run_gpu({"generate-in-its-mode", "4"}, folder.path(), counters_in_capture());
  REQUIRE(outcome.exit_status == 0);
  const auto report = parsers::read_collector_counters(trace_files(folder.path()));
  REQUIRE(report.windows.size() == 2);
  CHECK(report.windows[0].metrics.at("gpu__time_duration.sum") == 2000);
  CHECK(report.windows[1].metrics.at("gpu__time_duration.sum") == 12000);
  for (const Remark& note : report.notes) {
    INFO(text_of(note));
    CHECK(text_of(note).find("not measured") == std::string::npos);
  }
}
