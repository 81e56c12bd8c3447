#include "analysis/figures/counters/join_counters.h"

#include "analysis/figures/counters/ncu_match.h"
#include "analysis/figures/efficiency/device_peaks.h"
#include "analysis/figures/efficiency/efficiency.h"
#include "analysis/verdicts/rules/fields.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"
#include "tests/unit/remark_texts.h"

using namespace nl;
using namespace nl::analysis;

namespace {

const char* const kTime = "gpu__time_duration.sum";
const char* const kRead = "dram__bytes_read.sum";
const char* const kWritten = "dram__bytes_write.sum";
const char* const kOccupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";
const char* const kThroughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
const char* const kActive = "sm__cycles_active.avg";
const char* const kElapsed = "gpc__cycles_elapsed.max";

Run run_with(std::initializer_list<const char*> stages) {
  Run run;
  for (const char* name : stages) run.stages.emplace_back().name = name;
  return run;
}

WindowCounters window(const char* domain, const char* name, std::uint64_t first, std::map<std::string, double> metrics,
                      std::uint64_t windows = 1) {
  WindowCounters counters;
  counters.domain = domain;
  counters.name = name;
  counters.first = first;
  counters.windows = windows;
  counters.end_ns = 1000;
  counters.metrics = std::move(metrics);
  return counters;
}

CounterReport report_of(std::vector<WindowCounters> windows) {
  CounterReport report;
  report.windows = std::move(windows);
  return report;
}

}  // namespace

TEST_CASE("counters of a stage are found under all its names") {
  const auto spelling =
      GENERATE(std::pair("LLM", "decode_all"), std::pair("LLM", "decode"), std::pair("", "LLM@decode_all"), std::pair("", "LLM@decode"));
  Run run = run_with({"prefill", "decode"});
  apply_stage_counters(report_of({window(spelling.first, spelling.second, 0, {{kTime, 100}})}), run);
  REQUIRE(run.stages[1].counters);
  CHECK(run.stages[1].counters->windows == 1);
  CHECK(run.stages[1].counters->measured_by == Meter::kCupti);
  CHECK(run.stages[1].counters->duration_ns == 100);
  REQUIRE(run.stages[0].counters);  // not measured, and it says why
  CHECK(run.stages[0].counters->windows == 0);
  CHECK(run.stages[0].counters->note == "not measured alone: its ranges are inside another stage and count there");
  CHECK(run.stages[0].counters->measured_by == Meter::kCupti);
  CHECK_FALSE(run.stages[0].counters->duration_ns);
}

TEST_CASE("a report without windows leaves the stages as they were, and tells its troubles") {
  Run run = run_with({"prefill"});
  CounterReport report = report_of({window("", "prefill", 0, {{kTime, 100}})});  // no range of the domain LLM
  report.notes = {{nl::Code::kCountersFailed, {"x"}}};
  report.rows_damaged[{nl::Code::kDoesNotFit, {"counters"}}] = 2;
  apply_stage_counters(report, run);
  apply_stage_counters(report, run);
  CHECK_FALSE(run.stages[0].counters);
  CHECK(run.import_stats.notes == report.notes);  // once
  CHECK(nl::test::texts_of(run.import_stats.rows_damaged).at("counters: counters that do not fit their record") == 4);
}

TEST_CASE("counters of a range that is no stage of the trace are mentioned") {
  Run run = run_with({"prefill"});
  apply_stage_counters(report_of({window("LLM", "load", 0, {{kTime, 100}})}), run);
  CHECK(run.import_stats.notes == std::vector<nl::Remark>{{nl::Code::kCountersOfNoStage, {"load"}}});
}

TEST_CASE("sums are for one window, percentages over all of them by their weight") {
  Run run = run_with({"prefill"});
  // Three windows in two records: 100 + 500 ns, of 40 and 50 active cycles.
  apply_stage_counters(
      report_of(
          {window("LLM", "prefill", 0, {{kTime, 100}, {kRead, 600}, {kThroughput, 90}, {kOccupancy, 10}, {kActive, 40}, {kElapsed, 100}}),
           window("LLM", "prefill", 1, {{kTime, 500}, {kRead, 900}, {kThroughput, 30}, {kOccupancy, 19}, {kActive, 50}, {kElapsed, 200}},
                  2)}),
      run);
  const StageCounters& counters = *run.stages[0].counters;
  CHECK(counters.windows == 3);
  CHECK(counters.duration_ns == 200);
  CHECK(counters.values[Metric::kDramRead] == 500);
  CHECK(counters.metrics.at(kThroughput) == 40);                              // (100·90 + 500·30) ÷ 600
  CHECK(*counters.values[Metric::kOccupancy] == (40 * 10 + 50 * 19) / 90.0);  // of the active cycles, so by these
  CHECK(*counters.values[Metric::kSmActive] == 30);                           // 90 of 300 cycles
  CHECK_FALSE(counters.values[Metric::kDramWritten]);
  CHECK_FALSE(counters.values[Metric::kTensor]);
  CHECK_FALSE(counters.values[Metric::kDram]);
}

TEST_CASE("a metric that some windows lack is that of the others") {
  Run run = run_with({"prefill"});
  apply_stage_counters(report_of({window("LLM", "prefill", 0, {{kTime, 100}, {kRead, 600}, {kThroughput, 90}}),
                                  window("LLM", "prefill", 1, {{kTime, 300}})}),
                       run);
  CHECK(run.stages[0].counters->values[Metric::kDramRead] == 600);
  CHECK(run.stages[0].counters->metrics.at(kThroughput) == 90);
  CHECK(run.stages[0].counters->duration_ns == 200);
}

TEST_CASE("DRAM % is the bytes of the time, of the device's peak") {
  Run run = run_with({"prefill"});
  run.hardware.gpus.resize(2);
  run.hardware.gpus[1].id = 1;
  run.hardware.gpus[0].bandwidth_bytes_per_s = 4'000'000'000'000;  // 4 bytes a picosecond
  run.hardware.gpus[1].bandwidth_bytes_per_s = 2'000'000'000'000;
  WindowCounters first = window("LLM", "prefill", 0, {{kTime, 1000}, {kRead, 1'000'000}, {kWritten, 1'000'000}});
  WindowCounters second = first;
  second.device = 1;
  apply_stage_counters(report_of({first}), run);
  CHECK_FALSE(run.stages[0].counters->values[Metric::kDram]);  // not before the peaks
  fill_dram_use(run);
  CHECK(*run.stages[0].counters->values[Metric::kDram] == 50);
  apply_stage_counters(report_of({first, second}), run);  // 4 MB of 6 MB, by two GPUs in one window
  fill_dram_use(run);
  CHECK(*run.stages[0].counters->values[Metric::kDram] == Approx(100 * 4.0 / 6));  // rounding of a division
  CHECK(run.stages[0].counters->windows == 1);
  CHECK(run.stages[0].counters->values[Metric::kDramRead] == 2'000'000);
  CHECK(run.stages[0].counters->duration_ns == 1000);
  run.hardware.gpus[1].bandwidth_bytes_per_s = 0;  // of the other alone
  fill_dram_use(run);
  CHECK(*run.stages[0].counters->values[Metric::kDram] == 50);
  run.hardware.gpus.clear();
  fill_dram_use(run);
  CHECK_FALSE(run.stages[0].counters->values[Metric::kDram]);
}

TEST_CASE("DRAM % is of the table's peak for the GPU that it is of and for its twins, and MBU's peak is the same") {
  Run run = run_with({"prefill"});
  run.hardware.gpus.resize(3);
  for (std::int32_t id : {0, 1, 2}) {
    Device& gpu = run.hardware.gpus[static_cast<std::size_t>(id)];
    gpu.id = id;
    gpu.name = id == 2 ? "NVIDIA Other" : "NVIDIA Card";
    gpu.bandwidth_bytes_per_s = 4'000'000'000'000;
  }
  run.kernels.emplace().emplace_back().device = 0;
  const DeviceTableEntry entry{"NVIDIA Card", {"Card"}, {}, 8e12, {}, "card.yaml"};
  const auto pct_on = [&](std::int32_t device, const std::vector<DeviceTableEntry>& table) {
    WindowCounters counted = window("LLM", "prefill", 0, {{kTime, 1000}, {kRead, 1'000'000}, {kWritten, 1'000'000}});
    counted.device = device;
    apply_stage_counters(report_of({counted}), run);
    fill_efficiency(table, run);
    fill_dram_use(run);
    fill_dram_use(run);  // again does no harm
    return run.stages[0].counters->values[Metric::kDram];
  };
  CHECK(pct_on(0, {entry}) == 25.0);
  CHECK(run.peaks->bytes_per_s == 8e12);
  CHECK(pct_on(1, {entry}) == 25.0);          // its twin
  CHECK(pct_on(2, {entry}) == 50.0);          // another model: as it says itself
  CHECK(pct_on(3, {entry}) == std::nullopt);  // not described
  CHECK(pct_on(0, {}) == 50.0);
  run.hardware.gpus[0].name = "NVIDIA Card MIG 1g.18gb";  // the memory of the card is not the slice's
  CHECK(pct_on(0, {entry}) == std::nullopt);
}

TEST_CASE("DRAM % of a run that was read from run.json stays") {
  Run run = run_with({"prefill"});
  run.stages[0].counters.emplace().values[Metric::kDram] = 12;
  run.stages[0].sampling.emplace().values[Metric::kDram] = 13;
  run.hardware.gpus.resize(1);
  run.hardware.gpus[0].bandwidth_bytes_per_s = 4'000'000'000'000;
  fill_dram_use(run);
  CHECK(run.stages[0].counters->values[Metric::kDram] == 12.0);
  CHECK(run.stages[0].sampling->values[Metric::kDram] == 13.0);
}

TEST_CASE("warm-up windows are left out by their number, where others remain") {
  Run run = run_with({"prefill"});
  run.stages[0].warmup_windows = 2;
  const auto cold = [](std::uint64_t first, std::uint64_t windows = 1) {
    return window("LLM", "prefill", first, {{kTime, 1000.0 * static_cast<double>(windows)}}, windows);
  };
  const auto warm = [](std::uint64_t first) { return window("LLM", "prefill", first, {{kTime, 100}}); };
  apply_stage_counters(report_of({cold(0), cold(1), warm(2), warm(3)}), run);
  CHECK(run.stages[0].counters->windows == 2);
  CHECK(run.stages[0].counters->duration_ns == 100);
  CHECK(run.stages[0].counters->note.empty());
  apply_stage_counters(report_of({cold(0, 2), warm(2)}), run);
  CHECK(run.stages[0].counters->duration_ns == 100);
  apply_stage_counters(report_of({cold(0), cold(1)}), run);
  CHECK(run.stages[0].counters->windows == 2);
  CHECK(run.stages[0].counters->duration_ns == 1000);
  CHECK(run.stages[0].counters->note == "only warm-up windows were measured");
  apply_stage_counters(report_of({cold(1, 2)}), run);  // one of them is warm-up, and which one is not known
  CHECK(run.stages[0].counters->windows == 2);
  CHECK(run.stages[0].counters->note == "warm-up windows were measured together with later ones");
}

TEST_CASE("rules can ask for a stage's counters and samples, and learn where they stand") {
  Run run = run_with({"prefill"});
  const rules::RunTotals totals = rules::total(run);
  const auto value = [&](const char* name) {
    const rules::Field* field = rules::find_field(RuleScope::kStage, name);
    REQUIRE(field);
    return field->read(rules::subjects_of(run, totals, RuleScope::kStage).at(0));
  };
  for (const char* name : {"counted_dram_use", "counted_sm_active", "counted_dram_read", "sampled_dram_use", "sampled_occupancy"})
    CHECK_FALSE(value(name).known);
  run.stages[0].counters.emplace().values[Metric::kDram] = 50;
  run.stages[0].counters->values[Metric::kDramRead] = 77;
  run.stages[0].sampling.emplace().values[Metric::kOccupancy] = 25;
  CHECK(value("counted_dram_use").number == 0.5);
  CHECK(value("counted_dram_read").number == 77);
  CHECK_FALSE(value("counted_sm_active").known);
  CHECK(value("sampled_occupancy").number == 0.25);
  const auto subject = rules::subjects_of(run, totals, RuleScope::kStage).at(0);
  CHECK(rules::pointer_to(subject, rules::Place::kCounters) == "/stages/0/counters");
  CHECK(rules::pointer_to(subject, rules::Place::kSampling) == "/stages/0/sampling");
}

TEST_CASE("our own counters of a kernel say who measured, and derive DRAM % from what was measured in place") {
  TraceBuilder builder;
  builder.launch(0, 10, 1000);
  Run run = builder.run_all();
  run.hardware.gpus.resize(1);
  run.hardware.gpus[0].bandwidth_bytes_per_s = 4'000'000'000'000;
  NcuReport report;
  NcuLaunch& launch = report.launches.emplace_back();
  launch.kernel_name = "k";
  launch.metrics = {{kTime, 1000},
                    {kRead, 3'000'000},
                    {kWritten, 600'000},
                    {kThroughput, 20},
                    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 30}};
  const auto by = GENERATE(Meter::kNcu, Meter::kCupti);
  CHECK(match_ncu(report, builder.trace, run, by).matched == 1);
  fill_dram_use(run);
  const NcuSample& sample = run.kernels->at(0).ncu.at(0);
  CHECK(sample.measured_by == by);
  if (sample.measured_by == Meter::kCupti) {
    CHECK(*sample.values[Metric::kDram] == Approx(90));  // rounding: 3.6 MB of 4 MB
    CHECK(sample.bound_by == Bound::kMemory);            // not what the replays saw, 30 %
    CHECK(sample.bound_memory == MemoryLevel::kDram);
    run.peaks.emplace().bytes_per_s = 8e12;
    fill_dram_use(run);
    CHECK(*sample.values[Metric::kDram] == Approx(45));  // rounding, as above
    CHECK(sample.bound_by == Bound::kLatency);
    CHECK_FALSE(sample.bound_memory);
  } else {
    CHECK_FALSE(sample.values[Metric::kDram]);
    CHECK(sample.bound_by == Bound::kLatency);
  }
}

TEST_CASE("a sample of ncu and one of ours with the same number are two") {
  TraceBuilder builder;
  builder.launch(0, 10, 1000);
  Run run = builder.run_all();
  NcuReport report;
  report.launches.emplace_back().kernel_name = "k";
  match_ncu(report, builder.trace, run);
  match_ncu(report, builder.trace, run, Meter::kCupti);
  REQUIRE(run.kernels->at(0).ncu.size() == 2);
  CHECK(run.kernels->at(0).ncu[0].measured_by == Meter::kNcu);
}

TEST_CASE("of two GPUs in one window bytes add up, times and cycles are their mean") {
  Run run = run_with({"prefill"});
  WindowCounters first = window("LLM", "prefill", 0, {{kTime, 100}, {kRead, 10}, {kElapsed, 1000}, {"sm__inst_executed.sum", 5}});
  WindowCounters second = window("LLM", "prefill", 0, {{kTime, 300}, {kRead, 30}, {kElapsed, 3000}, {"sm__inst_executed.sum", 7}});
  second.device = 1;
  apply_stage_counters(report_of({first, second}), run);
  const auto& metrics = run.stages[0].counters->metrics;
  CHECK(metrics.at(kTime) == 200);
  CHECK(metrics.at(kElapsed) == 2000);
  CHECK(metrics.at(kRead) == 40);
  CHECK(metrics.at("sm__inst_executed.sum") == 12);
}

TEST_CASE("without durations windows weigh by their time, and windows of no length alike") {
  Run run = run_with({"prefill"});
  WindowCounters longer = window("LLM", "prefill", 0, {{kThroughput, 10}}), shorter = window("LLM", "prefill", 1, {{kThroughput, 40}});
  longer.end_ns = 2000;
  apply_stage_counters(report_of({longer, shorter}), run);
  CHECK(run.stages[0].counters->metrics.at(kThroughput) == 20);
  longer.end_ns = shorter.end_ns = 0;
  apply_stage_counters(report_of({longer, shorter}), run);
  CHECK(run.stages[0].counters->metrics.at(kThroughput) == 25);
  CHECK_FALSE(run.stages[0].counters->duration_ns);
}

TEST_CASE("a sample of ours without bytes or without a time has no DRAM %") {
  Run run;
  run.hardware.gpus.resize(1);
  run.hardware.gpus[0].bandwidth_bytes_per_s = 4'000'000'000'000;
  KernelEntry& kernel = run.kernels.emplace().emplace_back();
  kernel.ncu.resize(2);
  for (NcuSample& sample : kernel.ncu) sample.measured_by = Meter::kCupti;
  kernel.ncu[0].ncu_duration_ns = 1000;
  kernel.ncu[1].values[Metric::kDramBytes] = 1000;
  fill_dram_use(run);
  CHECK_FALSE(kernel.ncu[0].values[Metric::kDram]);
  CHECK_FALSE(kernel.ncu[1].values[Metric::kDram]);
}
