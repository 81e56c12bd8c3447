// What a capture with very many names costs: four times as many may take about four times as long, and not sixteen times. Processor time of
// both sizes is compared in the same run, so that neither a slow machine nor a busy one matters.
#include <ctime>
#include <functional>

#include "analysis/trace/range_index.h"
#include "analysis/verdicts/rules/judge.h"
#include "exporters/report/reports.h"
#include "model/run_metrics.h"
#include "orchestrator/config/knowledge.h"
#include "tests/catch.h"

namespace {

using namespace nl;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds_of(const std::function<void(std::size_t)>& work, std::size_t size) {
  const double begin = processor_seconds();
  work(size);
  return processor_seconds() - begin;
}

constexpr double kMostGrowth = 8;  // 4: in proportion; 16: with the square

// The least of up to three, until one is small enough: whatever disturbs makes it more.
double growth(const std::function<void(std::size_t)>& work, std::size_t size) {
  double least = 1e9;
  for (int n = 0; n < 3 && least >= kMostGrowth; ++n) least = std::min(least, seconds_of(work, 4 * size) / seconds_of(work, size));
  return least;
}

// A stage for each request, as programs mark them that put an id into the name.
Run run_with_stages(std::size_t count) {
  Run run;
  run.schema_version = kRunSchemaVersion;
  run.kernels.emplace();
  KernelEntry& kernel = run.kernels->emplace_back();
  kernel.name = "gemm";
  for (std::size_t i = 0; i < count; ++i) {
    StageEntry& stage = run.stages.emplace_back();
    stage.name = "request_" + std::to_string(i);
    stage.wall.count = 1;
    stage.wall.total_ns = 1'000'000;
    stage.wall.mean_ns = 1e6;
    StageLaunches launches;
    launches.stage = stage.name;
    launches.calls = 1;
    launches.total_ns = 1000;
    kernel.measured.push_back(launches);
    StageEfficiency& efficiency = run.efficiency.emplace_back();
    efficiency.stage = stage.name;
    efficiency.mfu = 0.5;
  }
  return run;
}

}  // namespace

TEST_CASE("scale: rules judge ten thousand stages in proportion to their number") {
  static const Rules rules = orchestrator::load_rules(orchestrator::shipped_rules(), {});
  CHECK(growth(
            [](std::size_t size) {
              Run run = run_with_stages(size);
              analysis::judge(rules, run);
            },
            400) < kMostGrowth);
}

TEST_CASE("scale: a report has ten thousand stages in proportion to their number") {
  CHECK(growth([](std::size_t size) { exporters::report_markdown(run_with_stages(size)); }, 1500) < kMostGrowth);
}

TEST_CASE("scale: nested ranges find their parents in proportion to their number") {
  const auto nested = [](std::size_t size) {
    Trace trace;
    trace.threads.resize(1);
    for (std::size_t i = 0; i < size; ++i) {
      Range& range = trace.ranges.emplace_back();
      range.thread = 0;
      range.start_ns = static_cast<Ns>(i);
      range.end_ns = static_cast<Ns>(10 * size - 3 * i);
      range.end_thread = kNone;
    }
    const analysis::RangeIndex index(trace);
    for (std::uint32_t i = 1; i < size; ++i) REQUIRE(index.parent_of(i) == i - 1);
  };
  CHECK(growth(nested, 5000) < kMostGrowth);
}
