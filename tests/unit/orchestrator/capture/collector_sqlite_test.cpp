#include "orchestrator/capture/timeline.h"

#include <algorithm>
#include <fstream>

#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/parsers/collector/counter_file.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using namespace nl::parsers;
using namespace nl::analysis;
using namespace nl::orchestrator;

TEST_CASE("what an export of nsys has no place for comes along: samples, stalls and how well the clocks fit") {
  const Unpacked file(NL_FIXTURES "/h200-collector/llm-torch.nltrace.gz");
  const Trace before = read_collector_traces({file.file});
  REQUIRE(std::filesystem::file_size(file.file) % trace_format::kChunkBytes == 0);
  // Each sample is as high as its number, over the whole capture.
  std::ifstream stream(file.file, std::ios::binary);
  trace_format::FileHeader header;
  REQUIRE(stream.read(reinterpret_cast<char*>(&header), sizeof header));
  nl::test::CounterFile more;
  more.thread(0).set(900001, trace_format::MetricUse::kSamples, {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"});
  const auto step_ns = static_cast<std::uint32_t>(before.duration_ns / 100);
  for (int i = 0; i < 100; ++i) more.samples(900001, {{header.monotonic_ns + i * Ns{step_ns}, step_ns, {static_cast<float>(i)}}});
  const std::string kernel = before.strings[before.shapes.at(before.kernels.at(0).shape).mangled_name];
  more.name(900001, kernel).text(trace_format::Kind::kStallReason, 1, "smsp__pcsamp_warps_issue_stalled_wait").stalls(900001, {{1, 5}});
  std::ofstream(file.file, std::ios::binary | std::ios::app) << more.chunk();

  const std::filesystem::path sqlite = file.file.string() + ".sqlite";
  const Trace trace = import_collector_files({file.file}, sqlite);
  std::filesystem::remove(sqlite);
  CHECK(trace.stats.rows_damaged.empty());
  REQUIRE(trace.metric_series.size() == 1);
  CHECK(trace.metric_series[0].start_ns.size() == 100);
  CHECK(trace.metric_series[0].start_ns[0] == 0);
  REQUIRE(trace.clock);
  CHECK(trace.clock->error_ns() == before.clock->error_ns());

  Run run;
  summarise(trace, {}, run);
  REQUIRE(run.activity.size() == 1);
  std::size_t stalled = 0;
  for (const KernelEntry& entry : *run.kernels) {
    CHECK(entry.stalls.empty() == (entry.mangled_name != kernel));
    stalled += !entry.stalls.empty();
  }
  CHECK(stalled == 1);
  // The mean of a stage lies among the samples at its windows.
  const auto sampled =
      std::find_if(run.stages.begin(), run.stages.end(), [](const StageEntry& stage) { return stage.sampling.has_value(); });
  REQUIRE(sampled != run.stages.end());
  CHECK(*sampled->sampling->values[nl::Metric::kSmActive] > 0);
  CHECK(*sampled->sampling->values[nl::Metric::kSmActive] < 100);
}

TEST_CASE("where the export cannot be written the capture is read without it, and a note says why") {
  const Unpacked file(NL_FIXTURES "/h200-collector/llm-torch.nltrace.gz");
  const Trace whole = read_collector_traces({file.file});
  // A file where its folder should be, and a folder where it should be.
  const std::filesystem::path folder = file.file.string() + ".folder";
  std::filesystem::create_directories(folder / "run.sqlite" / "in the way");
  for (const auto& sqlite : {file.file / "run.sqlite", folder / "run.sqlite"}) {
    INFO(sqlite);
    const Trace trace = import_collector_files({file.file}, sqlite);
    CHECK(trace.kernels.size() == whole.kernels.size());
    CHECK(trace.api_calls.size() == whole.api_calls.size());
    CHECK(trace.clock->error_ns() == whole.clock->error_ns());
    REQUIRE(trace.stats.notes.size() == whole.stats.notes.size() + 1);
    CHECK(trace.stats.notes.back().code == Code::kSqliteNotWritten);
    CHECK(trace.stats.notes.back().details.at(0) == "run.sqlite");
    CHECK(trace.stats.notes.back().details.at(1).size() > 10);  // and why
  }
  std::filesystem::remove_all(folder);
}
