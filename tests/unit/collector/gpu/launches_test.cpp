// A pass that records when each launch was made and nothing else, in real processes over the libcupti that stands in for the real one.
#include <algorithm>

#include "collector/trace_format.h"
#include "model/words.h"
#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/collector/injected_program.h"

using namespace nl;
using namespace nl::test;

namespace {

const Environment kLaunchesOnly{{"NL_STAGE_LAUNCHES", "1"}, {"FAKE_CUDA", NL_BUILD_ROOT "/tests/unit/collector/libfake_cuda.so"}};

std::size_t launches_in(const parsers::RecordedLaunches& recorded) {
  std::size_t count = 0;
  for (const ThreadLaunches& thread : recorded.threads) count += thread.launches.size();
  return count;
}

}  // namespace

TEST_CASE("launches only: kernels and graphs by thread, in their order, and no record of anything else") {
  ScratchFolder folder;
  const Outcome outcome = run_gpu({"launches-of-all-kinds", "6"}, folder.path(), kLaunchesOnly);
  REQUIRE(outcome.exit_status == 0);
  CHECK(outcome.err.empty());
  const auto recorded = parsers::read_collector_launches(trace_files(folder.path()));
  CHECK(recorded.notes.empty());
  REQUIRE(recorded.threads.size() == 2);
  const bool main_first = recorded.threads[0].launches.size() > 1;
  const std::vector<Launch>& main = recorded.threads[main_first ? 0 : 1].launches;
  REQUIRE(main.size() == 8);
  CHECK(recorded.threads[main_first ? 1 : 0].launches.size() == 1);
  CHECK(std::is_sorted(main.begin(), main.end(), [](const Launch& a, const Launch& b) { return a.time_ns < b.time_ns; }));
  for (std::size_t i = 0; i < 6; ++i) CHECK(main[i].what == main[i % 2].what);  // two kernels in turn
  CHECK(main[0].what != main[1].what);
  CHECK(main[6].what == trace_format::kGraphLaunched);
  CHECK(main[7].what == trace_format::kGraphLaunched);
  const Trace trace = read_folder(folder.path());
  CHECK_FALSE((trace.has_kernel_data || trace.has_api_data));
  CHECK(trace.kernels.empty());
  CHECK(trace.stats.rows_damaged.empty());
}

TEST_CASE("launches only: what is captured into a graph is not launched") {
  ScratchFolder folder, captured;
  REQUIRE(run_gpu({"capture", "2"}, folder.path(), kLaunchesOnly).exit_status == 0);
  const std::size_t all = launches_in(parsers::read_collector_launches(trace_files(folder.path())));
  Environment environment = kLaunchesOnly;
  environment.emplace_back("FAKE_CUDA_CAPTURES", "1");
  REQUIRE(run_gpu({"capture", "2"}, captured.path(), environment).exit_status == 0);
  CHECK(all == 16);
  CHECK(launches_in(parsers::read_collector_launches(trace_files(captured.path()))) == 8);
}

TEST_CASE("launches only: they are in the file when a signal kills the process") {
  ScratchFolder folder;
  Environment environment = kLaunchesOnly;
  run_gpu({"generate-and-exit-now", "2"}, folder.path(), environment);
  CHECK(launches_in(parsers::read_collector_launches(trace_files(folder.path()))) == 5 + 3 * (2 + 2 * 3));
}

TEST_CASE("launches only: without libcupti the trace says why there are none, and its ranges are there") {
  ScratchFolder folder;
  Environment environment = kLaunchesOnly;
  environment.emplace_back("NL_STAGE_CUPTI", "/nowhere/libcupti.so");
  REQUIRE(run_gpu({"generate", "2"}, folder.path(), environment).exit_status == 0);
  const auto recorded = parsers::read_collector_launches(trace_files(folder.path()));
  CHECK(recorded.threads.empty());
  CHECK(find_first(recorded.notes, {Code::kNotRecorded}) != nullptr);
  CHECK(ranges_named(read_folder(folder.path()), "LLM", "prefill").size() == 3);
}
