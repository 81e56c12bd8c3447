// Counters and samples in real processes, from the stand-in libcupti: the collector asks in the right order, for the
// right windows and launches, and what it wrote is read back. The numbers themselves are proven on a GPU
// (tests/manual/cupti_runs).
#include <algorithm>
#include <fstream>
#include <map>

#include "collector/gpu/cupti_profiler_api.h"
#include "model/words.h"
#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/collector/injected_program.h"

using namespace nl;
using namespace nl::parsers;
using namespace nl::test;

namespace {

constexpr const char* kStages = "LLM@prefill\nLLM@decode_all\nLLM@decode\nLLM@decode_step";
const std::string kGemm = "_Z4gemmILi128EEvPKfS1_Pfi";

Environment stage_counters(const char* metrics = "gpu__time_duration.sum,dram__bytes_read.sum,sm__cycles_active.avg") {
  return {{"NL_STAGE_COUNTERS", "stages"}, {"NL_STAGE_COUNTER_METRICS", metrics}, {"NL_STAGE_COUNTER_RANGES", kStages}};
}

Environment kernel_counters(const std::filesystem::path& list) {
  return {{"NL_STAGE_COUNTERS", "kernels"},
          {"NL_STAGE_COUNTER_METRICS", "gpu__time_duration.sum,dram__bytes_read.sum"},
          {"NL_STAGE_COUNTER_REPLAY_METRICS", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
          {"NL_STAGE_COUNTER_RANGES", kStages},
          {"NL_STAGE_COUNTER_KERNELS", list.string()}};
}

bool has_note(const std::vector<Remark>& notes, const std::string& part) {
  return std::any_of(notes.begin(), notes.end(), [&](const Remark& note) { return text_of(note).find(part) != std::string::npos; });
}

CounterReport read_counters(const std::filesystem::path& folder) { return read_collector_counters(trace_files(folder)); }

}  // namespace

TEST_CASE("counters of the stages are those of the outermost stage, window by window") {
  ScratchFolder folder;
  Outcome outcome = run_gpu({"generate", "4"}, folder.path(), stage_counters());
  REQUIRE(outcome.exit_status == 0);
  CHECK(outcome.err.empty());
  CounterReport report = read_counters(folder.path());
  CHECK(report.rows_damaged.empty());
  REQUIRE(report.windows.size() == 6);  // three iterations of prefill and decode_all; the steps are inside
  for (std::size_t i = 0; i < 6; ++i) {
    const WindowCounters& window = report.windows[i];
    bool prefill = i % 2 == 0;
    CHECK(window.domain == "LLM");
    CHECK(window.name == (prefill ? "prefill" : "decode_all"));
    CHECK(window.first == i / 2);
    CHECK(window.windows == 1);
    // The stand-in counts 64 bytes and 1000 ns a launch.
    CHECK(window.metrics.at("dram__bytes_read.sum") == 64 * (prefill ? 2 : 12));
    CHECK(window.metrics.at("gpu__time_duration.sum") == 1000 * (prefill ? 2 : 12));
    CHECK(window.metrics.at("sm__cycles_active.avg") == 12);
    CHECK(window.end_ns > window.start_ns);
  }
}

TEST_CASE("more windows than CUPTI has room for are harvested in time") {
  ScratchFolder folder;
  Outcome outcome = run_gpu({"many-windows", "1000"}, folder.path(), stage_counters("dram__bytes_read.sum"));
  INFO(outcome.err);
  REQUIRE(outcome.exit_status == 0);
  CounterReport report = read_counters(folder.path());
  REQUIRE(report.windows.size() == 1000);
  bool in_order = true;
  for (std::size_t i = 0; i < 1000; ++i)
    in_order = in_order && report.windows[i].first == i && report.windows[i].metrics.at("dram__bytes_read.sum") == 64;
  CHECK(in_order);
}

TEST_CASE("metrics that the GPU lacks or that need a second pass are left out and named") {
  ScratchFolder folder;
  const Outcome outcome = run_gpu({"generate", "2"}, folder.path(),
                                  stage_counters("dram__bytes_read.sum,nosuch__metric.sum,sm__throughput.avg,lts__t_bytes.sum"));
  REQUIRE(outcome.exit_status == 0);
  CHECK(outcome.err ==
        "nl-stage collector: counters of the stages leave out what this GPU does not have or does not measure in one pass: "
        "nosuch__metric.sum, "
        "sm__throughput.avg\n");
  CounterReport report = read_counters(folder.path());
  REQUIRE(report.windows.size() == 6);
  CHECK(report.windows[0].metrics.size() == 2);
  CHECK(report.windows[0].metrics.count("lts__t_bytes.sum") == 1);
  CHECK(has_note(report.notes, "nosuch__metric.sum, sm__throughput.avg"));
}

TEST_CASE("without permission the program goes on, and the note has the mend") {
  for (const char* mode : {"stages", "kernels"}) {
    ScratchFolder folder;
    std::ofstream(folder.path() / "kernels") << kGemm << "\n";
    Environment environment = std::string(mode) == "stages" ? stage_counters() : kernel_counters(folder.path() / "kernels");
    environment.push_back({"FAKE_CUPTI_DENY", "35"});
    Outcome outcome = run_gpu({"generate", "20"}, folder.path(), environment);
    CHECK(outcome.exit_status == 0);
    CHECK(outcome.err.find("NVreg_RestrictProfilingToAdminUsers=0") != std::string::npos);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') <= 2);  // said once, not for every window
    CounterReport report = read_counters(folder.path());
    CHECK(report.windows.empty());
    CHECK(report.kernels.launches.empty());
    const Remark* trouble = find_first(report.notes, kCounterTroubles);
    REQUIRE(trouble != nullptr);
    CHECK(*trouble == Remark{Code::kCountersDenied, {"CUPTI"}, {}});
    CHECK(read_folder(folder.path()).ranges.size() == 3 * 22);  // the ranges are there
  }
}

TEST_CASE("where the counters cannot be read, the note says why and what to do") {
  namespace cupti = nl::collector::cupti;
  const std::pair<cupti::Result, const char*> reasons[] = {
      {cupti::kVirtualisedNoPrivilege, "the hypervisor does not let this machine read the counters; its administrator can allow it"},
      {cupti::kHardwareBusy,
       "another profiler or process holds the counters: DCGM, ncu, or nsys with GPU metrics. Stop it, for DCGM: dcgmi profile --pause"},
      {cupti::kOldProfiler, "the program uses CUPTI's event API itself"},
      {cupti::kVirtualised, "this virtual GPU has no counters for guests"},
      {cupti::kConfidential, "confidential computing forbids it"},
      {cupti::kMig, "a MIG slice has no such counters here"},
      {cupti::kWsl, "WSL does not offer it"},
      {99, "cuptiProfilerGetCounterAvailability: CUPTI_ERROR_OF_THE_FAKE (99)"}};
  for (const auto& [result, words] : reasons) {
    ScratchFolder folder;
    Environment environment = stage_counters();
    environment.push_back({"FAKE_CUPTI_DENY", std::to_string(result)});
    const Outcome outcome = run_gpu({"generate", "1"}, folder.path(), environment);
    CHECK(outcome.exit_status == 0);
    CHECK(outcome.err.substr(0, outcome.err.find('\n')) == std::string("nl-stage collector: counters are not measured: ") + words);
    const CounterReport report = read_counters(folder.path());
    const Remark* trouble = find_first(report.notes, kCounterTroubles);
    REQUIRE(trouble != nullptr);
    CHECK(trouble->code == (result == cupti::kHardwareBusy ? Code::kCountersBusy : Code::kCountersFailed));
  }
}

TEST_CASE("whichever of CUPTI's functions fails is named, and the program goes on") {
  const auto said = [](const char* function, Environment environment, const char* mode) {
    ScratchFolder folder;
    environment.push_back({"FAKE_CUPTI_FAIL", function});
    const Outcome outcome = run_gpu({mode, "1"}, folder.path(), environment);
    CHECK(outcome.exit_status == 0);
    CHECK(read_counters(folder.path()).windows.empty());
    return outcome.err.substr(0, outcome.err.find('\n'));
  };
  const std::string lost = "nl-stage collector: counters are not measured: ", failed = ": CUPTI_ERROR_OF_THE_FAKE (998)";
  for (const char* function :
       {"cuptiProfilerInitialize", "cuptiDeviceGetChipName", "cuptiProfilerGetCounterAvailability", "cuptiRangeProfilerEnable",
        "cuptiRangeProfilerGetCounterDataSize", "cuptiRangeProfilerCounterDataImageInitialize", "cuptiRangeProfilerSetConfig"})
    CHECK(said(function, stage_counters(), "generate") == lost + function + failed);
  CHECK(said("cuptiRangeProfilerStart", stage_counters(), "generate") ==
        "nl-stage collector: counters are no longer measured: cuptiRangeProfilerStart" + failed);
  for (const char* function : {"cuptiProfilerHostInitialize", "cuptiProfilerHostGetConfigImageSize", "cuptiProfilerHostGetConfigImage",
                               "cuptiProfilerHostGetNumOfPasses"})
    CHECK(said(function, stage_counters(), "generate") == lost + "the metrics" + failed);
  const Environment sampling{{"NL_STAGE_PM_SAMPLING_US", "500"}, {"NL_STAGE_PM_METRICS", "sm__cycles_active.avg"}};
  for (const char* function :
       {"cuptiPmSamplingEnable", "cuptiPmSamplingGetCounterAvailability", "cuptiPmSamplingStart", "cuptiPmSamplingGetCounterDataSize"})
    CHECK(said(function, sampling, "generate") == std::string("nl-stage collector: activity is not sampled: ") + function + failed);
}

TEST_CASE("a CUPTI before CUDA 12.6 has no counters, and that is said") {
  ScratchFolder folder;
  Environment environment = stage_counters();
  environment.insert(environment.end(), {{"FAKE_CUPTI", kFakeOldCupti}, {"NL_STAGE_CUPTI", kFakeOldCupti}});
  CHECK(run_gpu({"generate", "2"}, folder.path(), environment).exit_status == 0);
  CHECK(has_note(read_counters(folder.path()).notes, "needs the CUPTI of CUDA 12.6"));
}

TEST_CASE("chosen kernels are measured once a shape, in place and replayed, inside the stages only") {
  ScratchFolder folder;
  std::ofstream(folder.path() / "kernels") << kGemm << "\n";
  Outcome outcome = run_gpu({"generate", "40"}, folder.path(), kernel_counters(folder.path() / "kernels"));
  REQUIRE(outcome.exit_status == 0);
  CHECK(outcome.err.empty());
  CounterReport report = read_counters(folder.path());
  CHECK(report.rows_damaged.empty());
  REQUIRE(report.kernels.launches.size() == 3);  // gemm of 16, 2 and 4 blocks; rms_norm was not asked for
  std::vector<std::uint32_t> blocks;
  for (const NcuLaunch& launch : report.kernels.launches) {
    blocks.push_back(launch.grid.x);
    CHECK(launch.kernel_name == kGemm);
    CHECK(launch.block == Dim3{128, 1, 1});
    CHECK(launch.metrics.at("gpu__time_duration.sum") == 1000);  // of one launch
    CHECK(launch.metrics.at("dram__bytes_read.sum") == 64);
    CHECK(launch.metrics.at("sm__throughput.avg.pct_of_peak_sustained_elapsed") == 10);
    REQUIRE(!launch.ranges.empty());
    CHECK(launch.ranges[0].domain == "LLM");
    CHECK(launch.ranges[0].name == (launch.grid.x == 16 ? "prefill" : "decode_all"));
  }
  std::sort(blocks.begin(), blocks.end());
  CHECK(blocks == std::vector<std::uint32_t>{2, 4, 16});
}

TEST_CASE("one launch of each shape is measured in place and replayed before a second is in either") {
  ScratchFolder folder;
  std::ofstream(folder.path() / "kernels") << kGemm << "\n";
  auto environment = kernel_counters(folder.path() / "kernels");
  environment.emplace_back("NL_STAGE_COUNTER_LAUNCHES", "3");
  REQUIRE(run_gpu({"generate", "40"}, folder.path(), environment).exit_status == 0);
  std::map<std::uint32_t, std::pair<int, int>> measured;  // by grid: launches, and how many of them have replayed metrics
  for (const NcuLaunch& launch : read_counters(folder.path()).kernels.launches) {
    ++measured[launch.grid.x].first;
    measured[launch.grid.x].second += static_cast<int>(launch.metrics.count("sm__throughput.avg.pct_of_peak_sustained_elapsed"));
  }
  REQUIRE(measured.size() == 3);
  CHECK(measured[16].second >= 1);  // there are only three of it in all
  CHECK(measured[2] == std::pair{3, 3});
  CHECK(measured[4] == std::pair{3, 3});
}

TEST_CASE("a program that ends without warning keeps the kernels that were measured") {
  ScratchFolder folder;
  std::ofstream(folder.path() / "kernels") << kGemm << "\n";
  REQUIRE(run_gpu({"generate-and-exit-now", "40"}, folder.path(), kernel_counters(folder.path() / "kernels")).exit_status == 4);
  CHECK(read_counters(folder.path()).kernels.launches.size() == 3);
}

TEST_CASE("a list without kernels is said") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"generate", "2"}, folder.path(), kernel_counters(folder.path() / "nowhere")).exit_status == 0);
  CHECK(has_note(read_counters(folder.path()).notes, "no kernels are named in"));
}

TEST_CASE("samples of the GPU's activity lie on the clock of the ranges, without gaps") {
  ScratchFolder folder;
  Outcome outcome =
      run_gpu({"generate-slowly", "2"}, folder.path(),
              {{"NL_STAGE_PM_SAMPLING_US", "500"}, {"NL_STAGE_PM_METRICS", "sm__cycles_active.avg,nosuch__metric,dram__bytes_read.sum"}});
  REQUIRE(outcome.exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK(trace.has_kernel_data);  // beside the trace
  CHECK(has_note(trace.stats.notes, "nosuch__metric"));
  REQUIRE(trace.metric_series.size() == 1);
  const MetricSeries& series = trace.metric_series[0];
  CHECK(series.metrics == std::vector<std::string>{"sm__cycles_active.avg", "dram__bytes_read.sum"});
  CHECK(series.interval_ns == 500'000);
  CHECK(series.overflows == 0);
  REQUIRE(series.start_ns.size() > 300);  // 30 pauses of 10 ms
  CHECK(series.values.size() == series.start_ns.size() * 2);
  CHECK(
      std::all_of(series.duration_ns.begin(), series.duration_ns.end(), [](std::uint32_t ns) { return ns == 500'000; }));  // no empty ones
  CHECK(series.start_ns.front() <= trace.ranges.back().start_ns);
  CHECK(series.start_ns.back() >= trace.ranges.back().start_ns - 20'000'000);
}

TEST_CASE("what sets sampling up is tried in every layout and trigger in turn, until one is taken") {
  const std::size_t bytes = sizeof(collector::cupti::PmSetConfig);
  const std::vector<std::string> triggers = {" ns", " cycles"}, intervals = {" 500000\n", " 800000\n"};
  std::string tried = "initialize\n";
  for (const std::size_t trigger : {0, 1})
    for (const std::size_t shorter : {0, 4}) {
      const std::string taken = std::to_string(bytes - shorter) + triggers[trigger];
      tried += "configure " + taken + intervals[trigger];
      ScratchFolder folder;
      REQUIRE(run_gpu({"generate-slowly", "1"}, folder.path(),
                      {{"NL_STAGE_PM_SAMPLING_US", "500"},
                       {"NL_STAGE_PM_METRICS", "sm__cycles_active.avg"},
                       {"FAKE_CUPTI_PM", taken},
                       {"FAKE_CUPTI_LOG", (folder.path() / "log").string()}})
                  .exit_status == 0);
      INFO(taken);
      CHECK(read_text(folder.path() / "log") == tried);
      CHECK(read_folder(folder.path()).metric_series.size() == 1);
    }
  for (const char* taken : {"1 ns", "1 cycles"}) {
    ScratchFolder folder;
    REQUIRE(run_gpu({"generate", "1"}, folder.path(),
                    {{"NL_STAGE_PM_SAMPLING_US", "500"}, {"NL_STAGE_PM_METRICS", "sm__cycles_active.avg"}, {"FAKE_CUPTI_PM", taken}})
                .exit_status == 0);
    const Trace trace = read_folder(folder.path());
    CHECK(trace.metric_series.empty());
    CHECK(has_note(trace.stats.notes, "cuptiPmSamplingSetConfig"));
  }
}

TEST_CASE("sampling that is not permitted is said, and the trace is whole") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"generate", "2"}, folder.path(),
                  {{"NL_STAGE_PM_SAMPLING_US", "500"}, {"NL_STAGE_PM_METRICS", "sm__cycles_active.avg"}, {"FAKE_CUPTI_DENY", "35"}})
              .exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK(trace.kernels.size() == 5 + 3 * (2 + 6));
  CHECK(trace.metric_series.empty());
  CHECK(find_first(trace.stats.notes, {Code::kActivityDenied}) != nullptr);
  CHECK(has_note(trace.stats.notes, "CUPTI may not sample the GPU's activity: the driver lets only administrators"));
}

TEST_CASE("stalls are added up by function, what was left at the end among them") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"generate", "2"}, folder.path(), {{"NL_STAGE_PC_SAMPLING", "18"}}).exit_status == 0);
  Trace trace = read_folder(folder.path());
  REQUIRE(trace.stalls.size() == 1);
  CHECK(trace.stalls[0].kernel == kGemm);
  // Two instructions in each of two batches and one at the end, of 5 and 20 samples.
  CHECK(trace.stalls[0].reasons.at("smsp__pcsamp_warps_issue_stalled_wait") == 25);
  CHECK(trace.stalls[0].reasons.at("smsp__pcsamp_warps_issue_stalled_long_scoreboard") == 100);
}

TEST_CASE("stalls and activity cannot be sampled at once: the stalls are") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"generate", "2"}, folder.path(),
                  {{"NL_STAGE_PC_SAMPLING", "18"}, {"NL_STAGE_PM_SAMPLING_US", "500"}, {"NL_STAGE_PM_METRICS", "sm__cycles_active.avg"}})
              .exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK(trace.stalls.size() == 1);
  CHECK(find_first(trace.stats.notes, {Code::kActivityFailed}) != nullptr);
  CHECK(has_note(trace.stats.notes, "CUPTI could not sample the GPU's activity: stalls are"));
}

TEST_CASE("a program without a stage is not touched") {
  ScratchFolder folder;
  Environment environment = stage_counters();
  environment.push_back({"FAKE_CUPTI_LOG", (folder.path() / "log").string()});
  REQUIRE(run_gpu({"no-stage"}, folder.path(), environment).exit_status == 0);
  CHECK(read_text(folder.path() / "log").empty());
}

TEST_CASE("windows are counted again after the device was reset") {
  ScratchFolder folder;
  Outcome outcome = run_gpu({"reset-and-go-on", "4"}, folder.path(), stage_counters());
  REQUIRE(outcome.exit_status == 0);
  CHECK(outcome.err.empty());
  CounterReport report = read_counters(folder.path());
  REQUIRE(report.windows.size() == 4);
  for (const WindowCounters& window : report.windows)
    CHECK(window.metrics.at("dram__bytes_read.sum") == 64 * (window.name == "prefill" ? 2 : 12));
}

TEST_CASE("a GPU that appears inside a window is counted from the next one on") {
  ScratchFolder folder;
  Outcome outcome = run_gpu({"second-gpu", "4"}, folder.path(), stage_counters());
  REQUIRE(outcome.exit_status == 0);
  CHECK(outcome.err.empty());
  CounterReport report = read_counters(folder.path());
  std::map<std::int32_t, int> windows;
  for (const WindowCounters& window : report.windows) ++windows[window.device];
  CHECK(windows == std::map<std::int32_t, int>{{0, 3}, {1, 2}});
}

TEST_CASE("stages are not counted while a graph is captured") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"capture", "4"}, folder.path(), stage_counters()).exit_status == 0);
  CounterReport report = read_counters(folder.path());
  CHECK(report.windows.size() == 2);
  for (const WindowCounters& window : report.windows) CHECK(window.first == 1);  // the second of its name
  CHECK(has_note(report.notes, "while a graph was captured"));
}

TEST_CASE("domains of other libraries do not hide the stages, nor does the end of no range") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"domains", "4"}, folder.path(), stage_counters()).exit_status == 0);
  CHECK(read_counters(folder.path()).windows.size() == 2);
}

TEST_CASE("a child that is forked while another thread opens the counters does not wait for it") {
  ScratchFolder folder;
  Environment environment = stage_counters();
  environment.push_back({"FAKE_CUPTI_SLOW_MS", "600"});
  CHECK(run_gpu({"fork-while-opening", "4"}, folder.path(), environment).exit_status == 0);
}

TEST_CASE("nothing is asked of CUPTI after the last counters were taken") {
  ScratchFolder folder;
  Environment environment = stage_counters();
  environment.push_back({"FAKE_CUPTI_LOG", (folder.path() / "log").string()});
  REQUIRE(run_gpu({"stages-until-the-end"}, folder.path(), environment).exit_status == 0);
  std::string log = read_text(folder.path() / "log");
  CHECK(log.size() > 20);
  CHECK(log.ends_with("disable\n"));
}

TEST_CASE("kernels that talk to other GPUs are never measured") {
  ScratchFolder folder;
  std::ofstream(folder.path() / "kernels") << "_Z27ncclDevKernel_AllReduce_Sum\n_Z20cross_device_reduce_1\n";
  REQUIRE(run_gpu({"generate", "2"}, folder.path(), kernel_counters(folder.path() / "kernels")).exit_status == 0);
  CHECK(has_note(read_counters(folder.path()).notes, "no kernels are named in"));
}

TEST_CASE("a launch that the driver refuses is the program's fault, not ours") {
  ScratchFolder folder;
  std::ofstream(folder.path() / "kernels") << kGemm << "\n";
  CHECK(run_gpu({"no-config"}, folder.path(), kernel_counters(folder.path() / "kernels")).exit_status == 0);
}

TEST_CASE("settings that make no sense are said or ignored, and cost nothing else") {
  ScratchFolder folder;
  std::ofstream(folder.path() / "kernels") << kGemm << "\n";
  Environment environment = kernel_counters(folder.path() / "kernels");
  environment.push_back({"NL_STAGE_COUNTER_RANGES", "\n\n"});
  const Outcome outcome = run_gpu({"generate", "4"}, folder.path(), environment);
  REQUIRE(outcome.exit_status == 0);
  CHECK(outcome.err == "nl-stage collector: counters are not measured: NL_STAGE_COUNTER_RANGES names no range\n");
  CHECK(has_note(read_counters(folder.path()).notes, "names no range"));
  ScratchFolder other;
  REQUIRE(run_gpu({"generate-slowly", "1"}, other.path(),
                  {{"NL_STAGE_COUNTERS", "stage"},
                   {"NL_STAGE_PC_SAMPLING", "often"},
                   {"NL_STAGE_PM_SAMPLING_US", "500"},
                   {"NL_STAGE_PM_METRICS", "sm__cycles_active.avg"}})
              .exit_status == 0);
  Trace trace = read_folder(other.path());
  CHECK(has_note(trace.stats.notes, "neither stages nor kernels"));
  CHECK(trace.metric_series.size() == 1);
}

TEST_CASE("a child of fork without exec leaves the parent's counters alone") {
  ScratchFolder folder;
  REQUIRE(run_gpu({"fork", "10"}, folder.path(), stage_counters()).exit_status == 0);
  CHECK(read_counters(folder.path()).rows_damaged.empty());
}

TEST_CASE("what the counters allocated is still reachable at the exit") {
  ScratchFolder folder;
  std::ofstream(folder.path() / "kernels") << kGemm << "\n";
  for (Environment environment : {stage_counters(), kernel_counters(folder.path() / "kernels")}) {
    environment.insert(environment.end(), kLeakCheck.begin(), kLeakCheck.end());
    Outcome outcome = run_gpu({"generate", "40"}, folder.path(), environment);
    INFO(outcome.err);
    CHECK(outcome.exit_status == 0);
  }
}
