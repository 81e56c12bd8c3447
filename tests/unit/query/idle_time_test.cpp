#include "analysis/analyse.h"
#include "orchestrator/capture/pass_runner.h"
#include "orchestrator/config/config.h"
#include "orchestrator/import.h"
#include "tests/unit/query/asked.h"
#include "tests/unit/unpacked.h"

using nl::test::asked;
using nl::test::kLlamaExport;

namespace {

nl::Run analysed(const std::string& capture) {
  nl::orchestrator::ImportRequest request;
  request.config = nl::orchestrator::load_config({.model_file = ""});
  nl::orchestrator::add_input(capture, request);
  nl::orchestrator::ProcessLauncher launcher;
  return nl::orchestrator::import_run(request, launcher);
}

double real(const nl::query::Cell& cell) {
  const auto* whole = std::get_if<std::int64_t>(&cell);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(cell);
}

// Times of the query are those of a window; a Run rounds the mean of several GPUs to whole nanoseconds, and here is one GPU.
void check_budgets(const std::string& capture) {
  const nl::Run run = analysed(capture);
  std::size_t stages = 0;
  for (const nl::StageEntry& stage : run.stages) {
    if (!stage.budget) continue;
    ++stages;
    INFO(stage.name);
    const auto answer = asked(capture,
                              "SELECT count(*), sum(duration_ns), sum(gpu_compute_ns), sum(communication_ns), sum(exposed_copy_ns), "
                              "sum(queue_wait_ns), sum(sync_blocked_ns), sum(launch_starved_ns), sum(other_host_ns), sum(residual_ns), "
                              "sum(launch_latency_ns) FROM windows WHERE warmup = 0 AND stage = '" +
                                  stage.name + "'");
    const auto& row = answer.rows.at(0);
    CHECK(nl::test::number(row[0]) == static_cast<std::int64_t>(stage.wall.count));
    CHECK(nl::test::number(row[1]) == stage.wall.total_ns);
    for (std::size_t bin = 0; bin < nl::kBudgetBins; ++bin) {
      INFO(nl::kBudgetBinKeys[bin].key);
      CHECK(real(row[2 + bin]) == static_cast<double>((*stage.budget).*nl::kBudgetBinKeys[bin].time_ns));
    }
  }
  CHECK(stages > 0);
}

}  // namespace

TEST_CASE("windows: their bins add up to the budgets that the analysis makes of the same capture") {
  check_budgets(kLlamaExport);
  const Unpacked loop(std::string(NL_FIXTURES) + "/h200-unmarked/gen-qwen3-b1.nltrace.gz");
  check_budgets(loop.file);
}

TEST_CASE("windows: every nanosecond of a window is in one bin") {
  const auto off =
      asked(kLlamaExport,
            "SELECT count(*) FROM windows WHERE abs(duration_ns - (gpu_compute_ns + communication_ns + exposed_copy_ns + queue_wait_ns + "
            "sync_blocked_ns + launch_starved_ns + launch_latency_ns + other_host_ns + residual_ns)) > 0.5");
  CHECK(nl::test::number(off.rows[0][0]) == 0);
}

TEST_CASE("gaps: those of a stage that has none inside add up to the idle bins of its windows") {
  for (const char* bin : {"queue_wait", "sync_blocked", "launch_starved", "launch_latency", "other_host", "residual"}) {
    INFO(bin);
    const auto gaps =
        asked(kLlamaExport, std::string("SELECT total(duration_ns) FROM gaps WHERE stage = 'decode_step' AND bin = '") + bin + "'");
    const auto windows = asked(kLlamaExport, std::string("SELECT total(") + bin + "_ns) FROM windows WHERE stage = 'decode_step'");
    CHECK(real(gaps.rows[0][0]) == real(windows.rows[0][0]));
  }
}

TEST_CASE("gaps: no two rows of one GPU overlap, and no work of it runs in one") {
  CHECK(nl::test::number(
            asked(kLlamaExport,
                  "SELECT count(*) FROM (SELECT start_ns, lag(end_ns) OVER (PARTITION BY gpu, pid ORDER BY start_ns) AS last FROM gaps) "
                  "WHERE start_ns < last")
                .rows[0][0]) == 0);
  CHECK(nl::test::number(
            asked(kLlamaExport,
                  "SELECT count(*) FROM gaps g JOIN slices s ON s.start_ns >= g.start_ns AND s.start_ns < g.end_ns AND s.kind = 'kernel'")
                .rows[0][0]) == 0);
}

TEST_CASE("gaps: the work around a gap is what ends before it and starts after it") {
  const auto wrong = asked(kLlamaExport,
                           "SELECT count(*) FROM gaps g JOIN slices b ON b.id = g.before_id JOIN slices a ON a.id = g.after_id "
                           "WHERE b.end_ns > g.start_ns OR a.start_ns < g.end_ns OR a.start_ns - b.end_ns <> g.gap_ns");
  CHECK(nl::test::number(wrong.rows[0][0]) == 0);
  const auto launches =
      asked(kLlamaExport,
            "SELECT count(*), sum(c.name = g.call_after) FROM gaps g JOIN slices a ON a.id = g.after_id JOIN slices c ON c.id = "
            "a.launch_id");
  CHECK(nl::test::number(launches.rows[0][0]) > 0);
  CHECK(launches.rows[0][0] == launches.rows[0][1]);
}
