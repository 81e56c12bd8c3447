#include <string>
#include <vector>

#include "exporters/report/reports.h"
#include "exporters/report/text/figure_text.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

using nl::test::has;
using nl::test::headings;

namespace {

nl::StageEntry open_stage() {
  nl::StageEntry stage;
  stage.name = "decode";
  stage.ranges = {"LLM:decode_all"};
  stage.gpu_busy_ns = 500;
  stage.gpu_sum_ns = 500;
  stage.kernel_calls = 3;
  stage.open_ranges = 2;
  return stage;
}

}  // namespace

TEST_CASE("report.md begins with what limits it and says everything once") {
  const std::string text = nl::exporters::report_markdown(nl::test::rich_run());
  CHECK(headings(text) == std::vector<std::string>{"In short", "Findings", "What a change would bring", "Stages", "Where the time went",
                                                   "Where a step's time goes", "Findings in detail", "How close to the hardware's limits",
                                                   "Operators", "Layers", "Kernels", "CUDA calls", "Profiler overhead", "Energy and clocks",
                                                   "Not judged", "How it was captured", "Environment", "What was read"});
}

TEST_CASE("report.md tells status, stages, kernels, coverage, capture and import") {
  const std::string text = nl::exporters::report_markdown(nl::test::full_run());
  CHECK(text.starts_with("# llama\n"));
  CHECK(has(text, "**partial: usable"));
  CHECK(has(text, "- ncu profiled 1 of 2 kernels (ncu pass)"));
  CHECK(has(text, "| prefill | 3 | 333 ns | 153 ns | 300 ns | 500 ns | 1.00 µs | 1 | LLM:prefill |"));
  CHECK(has(text, "| prefill | 900 ns | 90.0 % | 950 ns | 7 | 256 | 768000 |"));
  CHECK(has(text, "4 iterations; 1 is warm-up and left out of every figure. Rule: the first iteration is warm-up."));
  CHECK(has(text, "| Time to first token | 333 ns | 153 ns | 300 ns | 500 ns | 3 |"));
  CHECK(has(text, "| void at::native::reduce<(int)4>(T1) | 400 ns | 100.0 % | 1 |"));
  CHECK(has(text, "| kernel time inside a stage | 60.0 % |"));
  CHECK(has(text, "\nNot captured: GPU time in CUDA graphs captured at graph level.\n"));
  CHECK(has(text, "Workload: `python3 run.py '--prompt=it'\\''s'`, exit status 3"));
  CHECK(has(text, "| nsys | ok | — | 5 ns | — |"));
  CHECK(has(text, "- --gpu-metrics-devices left out"));
  CHECK(has(text, "| GPU 0 | NVIDIA H200, 132 SMs"));
  CHECK(has(text, "| end before start | 1 |"));
  CHECK(has(text, "| ncu: a row was cut off | 1 |"));
  CHECK(has(text, "Not in the export: GPU_METRICS."));
}

TEST_CASE("report.md prints every bin of the budget, the residual too, and that they sum to the wall time") {
  const std::string text = nl::exporters::report_markdown(nl::test::full_run());
  CHECK(has(text, "| GPU compute | 0.000600 | 60.00 |"));
  CHECK(has(text, "| exposed copies | 0.000050 | 5.00 |"));
  CHECK(has(text, "| queue wait | 0.000040 | 4.00 |"));
  CHECK(has(text, "| blocked in sync | 0.000100 | 10.00 |"));
  CHECK(has(text, "| launch-starved | 0.000150 | 15.00 |"));
  CHECK(has(text, "| other host work | 0.000050 | 5.00 |"));
  CHECK(has(text, "| residual | 0.000010 | 1.00 |"));
  CHECK(has(text, "| **Sum** | 0.001000 | 100.00 |"));
  CHECK(has(text, "| **Wall** | 0.001000 | 100.00 |"));
  CHECK(has(text, "- prefill: 15 ns of the GPU time in its windows is work launched outside them."));
  auto two = nl::test::full_run();
  two.stages[0].devices = {{0, 650}, {1, 20}};
  CHECK(has(nl::exporters::report_markdown(two), "### GPUs"));
}

TEST_CASE("report.md has a budget for each of several GPUs, and their communication by kind") {
  auto run = nl::test::full_run();
  CHECK_FALSE(has(nl::exporters::report_markdown(run), "### GPUs"));
  CHECK_FALSE(has(nl::exporters::report_markdown(run), "### Communication"));
  CHECK_FALSE(has(nl::exporters::report_markdown(run), "exposed communication"));
  auto& stage = run.stages[0];
  stage.budget = nl::Budget{1000, 500, 0, 0, 0, 300, 0, 0, 0, 200};
  stage.devices = {{0, 650, 41, 2, 650, 640, 0, {1000, 450, 0, 0, 0, 350, 0, 0, 0, 200}},
                   {1, 750, 42, 2, 750, 740, 20, {1000, 550, 0, 0, 0, 250, 0, 0, 0, 200}}};
  stage.gpu_spread = nl::GpuSpread{0.7, 0.65, 0.75, 0.1, 1, 42, nl::SlowestBy::kArrival, 0.9};
  nl::Communication all_reduce;
  all_reduce.kind = nl::Collective::kAllReduce;
  all_reduce.device = 1;
  all_reduce.pid = 42;
  all_reduce.count = 3;
  all_reduce.time_ns = 220;
  all_reduce.exposed_ns = 200;
  nl::Communication copies = all_reduce;
  copies.kind = nl::Collective::kPeerCopy;
  copies.bytes = 4000;
  copies.bytes_per_s = 2e9;
  stage.communication = {all_reduce};
  run.communication = {all_reduce, copies};
  run.coverage.devices = {{0, 41, 650, 640, 200, 0}, {1, 42, 750, 740, 200, 20}};
  const std::string text = nl::exporters::report_markdown(run);
  CHECK(has(text, "| exposed communication | 0.000200 | 20.00 |"));
  CHECK(has(text, "| prefill | 0 | 41 | 1.00 µs | 65.0 % | 45.0 % | 20.0 % | 0.0 % | 0.0 % | 35.0 % |"));
  CHECK(has(text, "| prefill | 1 | 42 | 1.00 µs | 75.0 % | 55.0 % | 20.0 % | 2.0 % | 0.0 % | 25.0 % |"));
  CHECK(has(text,
            "- prefill: the GPUs are busy 70.0 % of the time on average, the least busy 65.0 %, the busiest 75.0 %. GPU 1 (process 42) is "
            "the slowest: "
            "it reaches 90.0 % of the collectives last."));
  CHECK(has(text, "| prefill | all_reduce | 1 | 42 | 3 | 220 ns | 200 ns | — | — | — | — |"));
  CHECK(has(text, "| whole capture | peer_copy | 1 | 42 | 3 | 220 ns | 200 ns | — | — | 4.00 kB | 2.00 GB/s |"));
  CHECK(has(text, "Waiting for a late rank is not known"));
}

TEST_CASE("report.md says which launches came late, after what, and what the host did meanwhile") {
  auto run = nl::test::full_run();
  auto& stage = run.stages[0];
  for (auto& each : run.stages) each.launch_waits.reset();
  CHECK_FALSE(has(nl::exporters::report_markdown(run), "### Late launches"));
  stage.budget = nl::Budget{1000, 700, 0, 0, 0, 300, 0, 0, 0, 0};
  using nl::CallKind;
  stage.launch_waits = nl::LaunchWaits{300,
                                       100,
                                       210,
                                       {{CallKind::kWait, CallKind::kGraphLaunch, 4, 240, 80, 90, 5000},
                                        {CallKind::kGraphLaunch, CallKind::kKernelLaunch, 2, 50, 14, 30, 6000},
                                        {CallKind::kNone, CallKind::kCopy, 1, 9, 6, 15, 0},
                                        {CallKind::kCopy, CallKind::kOther, 1, 1, 0, 1, 0}},
                                       {{"cudaGraphInstantiate", 1, 80}, {"cudaMalloc", 1, 10}, {"cudaFree", 3, 1}}};
  const std::string text = nl::exporters::report_markdown(run);
  CHECK(has(text, "| prefill | CUDA graph | a wait for the GPU | 4 | 80 ns | 80.0 % | 75.0 % |"));
  CHECK(has(text, "| prefill | kernel | a CUDA graph launch | 2 | 32 ns | 16.0 % | 78.1 % |"));
  CHECK(has(text, "| prefill | copy or memset | nothing: it is the thread's first call | 1 | 15 ns | 3.8 % | 60.0 % |"));
  CHECK_FALSE(has(text, "| prefill | other |"));  // too short to matter
  CHECK(has(text,
            "- prefill: before late launches the launching thread is in no CUDA call 70.0 % of the time, in cudaGraphInstantiate 26.7 %, "
            "in cudaMalloc 3.3 %."));
  stage.budget->launch_starved_ns = 50;
  CHECK_FALSE(has(nl::exporters::report_markdown(run), "### Late launches"));
  stage.budget->launch_latency_ns = 1;
  CHECK(has(nl::exporters::report_markdown(run), "### Late launches"));
}

TEST_CASE("kernel tables name the GPU where there are several") {
  auto run = nl::test::full_run();
  REQUIRE(run.kernels);
  REQUIRE_FALSE(run.kernels->empty());
  run.kernels->push_back(run.kernels->front());
  CHECK_FALSE(has(nl::exporters::stakeholder_markdown(run), "| Calls | GPU |"));
  run.kernels->back().device = run.kernels->front().device + 1;
  CHECK(has(nl::exporters::stakeholder_markdown(run), "| Calls | GPU |"));
}

TEST_CASE("report.md gives findings with evidence for and against, suggestions and gain, and what could not be judged") {
  const std::string text = nl::exporters::report_markdown(nl::test::full_run());
  CHECK(has(text, "### 1. prefill waits for launches"));
  CHECK(has(text, "Severity high; confidence 75 %; stage prefill; rule `launch_bound_decode`."));
  CHECK(has(text,
            "- the GPU waits for the next launch 15 % of the time (run.json `/stages/0/budget`; "
            "0.000004000–0.000004500 s of the capture)"));
  CHECK(has(text, "- against it: the API calls take 7 % of the time (run.json `/stages/0/activity`)"));
  CHECK(has(text, "- not captured: occupancy under 25 %\n"));
  CHECK(has(text, "1. capture the step in a CUDA graph\n2. compile the model\n"));
  CHECK(
      has(text, "Gain: **saves at most 150 ns, 12.5 % of the measured time, 2 ns per token**; assumes that all of the waiting goes away."));
  CHECK(has(text, "| needs the GPU's clocks | `nl-stage run --config deep` | clock_throttling |"));
}

TEST_CASE("report.md shows each term of the work, its assumptions, the roofline, the profilers' cost and the energy") {
  const std::string text = nl::exporters::report_markdown(nl::test::full_run());
  CHECK(has(text,
            "Dense peaks of NVIDIA H200: bf16 989 TFLOP/s, f32 67.0 TFLOP/s; memory 4.80 TB/s. Source: "
            "conf/device/h200.yaml."));
  CHECK(has(text, "| prefill | 4.2 % | 25.0 % | 6.2 % | 37.5 % | 42.0 TFLOP/s | 1000 | 100 ns | compute |"));
  CHECK(has(text, "| qkv | `2·T·D·(q+2·kv)·d` | 2.00 GFLOP | 1.00 MB |"));
  CHECK(has(text, "| **Sum** |  | 3.00 GFLOP | 3.00 MB |"));
  CHECK(has(text, "Assumed: weights read once."));
  CHECK(has(text, "| reduce | prefill | 977 | 3.20 TFLOP/s | 67.0 TFLOP/s | 4.8 % | f32 | latency | 12 points |"));
  CHECK(has(text, "| nsys | prefill | 2 / 2 | 16.7 % | 5.0 … 29.0 % | undecidable |"));
  CHECK(has(text, "| prefill | 1.50 J | 0.00600 J | 300 W | 8 | — |"));
  CHECK(has(text, "| 0 | 12 | 310 W | 402 W | 1200 MHz | 1980 MHz | 1980 MHz | 51.0 °C | 25.0 % | power cap |"));
  auto derived = nl::test::full_run();
  derived.peaks->derived = true;
  CHECK(has(nl::exporters::report_markdown(derived), "(**derived**, not from a table)"));
}

TEST_CASE("an empty run says what is not there, and shows no zero for what was not captured") {
  nl::Run run;
  run.kernels_note = nl::Remark{nl::Code::kNoKernels};
  const std::string text = nl::exporters::report_markdown(run);
  CHECK(has(text, "# Run\n"));
  CHECK(has(text, "No stage is marked in this capture. Mark the program's stages with NVTX ranges"));
  CHECK(has(text, "Not captured. The workload ran no kernel on the GPU."));
  CHECK(has(text, "### Coverage\n\nNot captured: no GPU work was recorded.\n"));
  CHECK(has(text, "No damaged rows."));
  CHECK_FALSE(has(text, "## Environment"));
  const std::string sparse = nl::exporters::report_markdown(nl::test::sparse_run());
  // Below stand the passes, whose exit status may well be 0.
  for (const std::string& one :
       {text.substr(0, text.find("## How it was captured")), sparse.substr(0, sparse.find("## How it was captured"))})
    for (const char* zero : {" 0 |", " 0 ns", " 0.0 %", "| 0.000", " 0 W", " 0 J"}) {
      INFO(zero);
      CHECK_FALSE(has(one, zero));
    }
  CHECK(has(sparse, "\nGPU time of the stages: not captured.\n"));
  CHECK(has(sparse, "Not captured: the time of a stage is divided by GPU data, and there is none."));
  CHECK(has(sparse, "Not measured: no NVML on this machine."));
}

TEST_CASE("a stage that never closed has no wall time and says so") {
  nl::Run run;
  run.stages = {open_stage()};
  const std::string text = nl::exporters::report_markdown(run);
  CHECK(has(text, "| decode | 0 | — | — | — | — | — | — | LLM:decode_all (2 never closed) |"));
  CHECK(has(text, "| decode | 500 ns | — | 500 ns | 3 | — | — |"));
}

TEST_CASE("a stage of length zero divides by nothing") {
  nl::Run run = nl::test::full_run();
  run.stages[0].wall = {};
  run.stages[0].wall.count = 1;
  run.stages[0].budget = nl::Budget();
  run.phases.span_ns = 0;
  const std::string text = nl::exporters::report_markdown(run);
  CHECK(has(text, "| GPU compute | 0.000000 | — |"));
  for (const char* none : {"| nan", "| inf", "| -nan", "| -inf"}) CHECK_FALSE(has(text, none));
}

TEST_CASE("a command with backticks stays one code span") {
  nl::Run run;
  run.workload.command = {"sh", "-c", "echo `date`"};
  CHECK(has(nl::exporters::report_markdown(run), "Workload: `` sh -c 'echo `date`' ``"));
}

TEST_CASE("long names carry the numbers that kernels.md lists them under") {
  auto run = nl::test::full_run();
  run.kernels->push_back(run.kernels->at(0));
  run.kernels->at(0).name = "void f<" + std::string(100, 'x') + ">(int)";
  run.kernels->at(1).name = "void f<" + std::string(100, 'y') + ">(int)";
  const std::string text = nl::exporters::report_markdown(run);
  CHECK(has(text, "| void f<...>(...) [1] |"));
  CHECK(has(text, "| void f<...>(...) [2] |"));
}

TEST_CASE("figures are worded for people, and small is not none") {
  CHECK(nl::exporters::share_text(0.0) == "0.0 %");
  CHECK(nl::exporters::share_text(0.0001) == "< 0.1 %");
  CHECK(nl::exporters::share_text(std::nullopt) == "—");
  CHECK(nl::exporters::utilisation_text(0.000046) == "0.0046 %");
  CHECK(nl::exporters::utilisation_text(0.615) == "61.5 %");
  CHECK(nl::exporters::flops_rate_text(989e12) == "989 TFLOP/s");
  CHECK(nl::exporters::flops_rate_text(999.9e12) == "1.00 PFLOP/s");
  CHECK(nl::exporters::bytes_text(4096.0) == "4.10 kB");
  CHECK(nl::exporters::count_text(1234567) == "1,234,567");
  CHECK(nl::exporters::figure_text(205.4) == "205");
  CHECK(nl::exporters::figure_text(0.0123) == "0.0123");
  CHECK(nl::exporters::figure_text(99.96) == "100");
  CHECK(nl::exporters::figure_text(9.996) == "10.0");
  CHECK(nl::exporters::figure_text(-0.25) == "-0.250");
  CHECK(nl::exporters::figure_text(2e9) == "2.00e+09");
}

TEST_CASE("report.md gives the GPU's counters of each stage, counted and sampled, and who measured the kernels") {
  nl::Run run = nl::test::full_run();
  const std::string text = nl::exporters::report_markdown(run);
  CHECK(has(text, "| prefill | CUPTI | 3 | 320 ns | 2.05 kB | 512 B | 62.5 | 81.2 | 40.0 | 33.5 |"));
  CHECK(has(text, "| prefill | sampled, 64 samples | — | — | 2.50 TB/s | 500 GB/s | 61.0 | 80.5 | 39.0 | 32.5 |"));
  CHECK(has(text, "| long_scoreboard 50 %, wait 15 %, barrier 7 % |"));
  CHECK(has(text, "ncu measured the columns from SM % to Bound by"));
  CHECK_FALSE(has(text, "To capture it: "));
  run.kernels->at(0).ncu.at(0).measured_by = nl::Meter::kCupti;
  CHECK(has(nl::exporters::report_markdown(run), "CUPTI measured the columns from SM % to Bound by"));
}

TEST_CASE("report.md: counters that were not measured are called that, with the reason or the command") {
  nl::Run run = nl::test::full_run();
  run.stages[0].counters.reset();
  run.stages[0].sampling.reset();
  run.activity.clear();
  std::string text = nl::exporters::report_markdown(run);
  // Where they were refused, the same command would be refused again.
  CHECK(has(text, "- GPU counters of each stage: not measured: ncu may not read the counters.\n"));
  run.provenance.counters_missing.reset();
  run.workload.command = {"python", "serve it.py"};
  CHECK(has(nl::exporters::report_markdown(run),
            "- GPU counters of each stage: not measured. To capture it: `nl-stage run --config cupti -- python 'serve it.py'`\n"));
  run.workload.command.clear();
  text = nl::exporters::report_markdown(run);
  CHECK(has(text, "- GPU counters of each stage: not measured. To capture it: `nl-stage run --config cupti -- ./your_workload`\n"));
  CHECK(has(text, "\n## The GPU over time\n\nNot sampled. To capture it: `nl-stage run --config sampling -- ./your_workload`\n"));
  CHECK_FALSE(has(text, "| Measured by |"));
  run.import_stats.notes = {{nl::Code::kCountersFailed, {"no permission; run as root"}},
                            {nl::Code::kActivityFailed, {"activity", "no thread"}}};
  text = nl::exporters::report_markdown(run);
  CHECK(has(
      text,
      "- GPU counters of each stage: not measured: The GPU's performance counters could not be measured: no permission; run as root.\n"));
  CHECK(has(text, "\n## The GPU over time\n\nNot sampled: CUPTI could not sample activity: no thread.\n"));
  CHECK_FALSE(has(text, "capture.counters=cupti"));
  run.stages.push_back(run.stages[0]);
  run.stages[1].name = "decode";
  for (auto& stage : run.stages) stage.counters.emplace().note = "none of its windows was measured";
  text = nl::exporters::report_markdown(run);
  CHECK(has(text, "- prefill, decode: counters not measured: none of its windows was measured.\n"));
  run.stages[1].counters = nl::test::full_run().stages[0].counters;
  run.stages[1].counters->note = "warm-up was counted with it.";
  text = nl::exporters::report_markdown(run);
  CHECK(has(text, "- prefill: counters not measured: none of its windows was measured.\n- decode: warm-up was counted with it.\n"));
  run.kernels.reset();
  run.hardware.gpus.clear();
  for (auto& stage : run.stages) stage.counters.reset();
  CHECK_FALSE(has(nl::exporters::report_markdown(run), "GPU counters"));  // there is no GPU to count on
}

TEST_CASE("report.md says how far the times of CPU and GPU are apart") {
  nl::Run run = nl::test::full_run();
  CHECK(
      has(nl::exporters::report_markdown(run),
          "CPU and GPU times differ by at most 1.20 µs, 400.0 % of the shortest stage, prefill (300 ns). That is more "
          "than 1.0 %: gaps between a call and its kernel may be off by as much. 2 kernels start before the launch, or end after a wait"));
  CHECK(has(nl::exporters::report_markdown(nl::test::rich_run()),
            "CPU and GPU times differ by at most 1.18 µs, < 0.1 % of the shortest stage, decode_step (4.189 ms).\n"));
  run.clock.share_of_shortest_stage.reset();
  CHECK(has(nl::exporters::report_markdown(run), "CPU and GPU times differ by at most 1.20 µs. 2 kernels"));
  run.clock = {};
  run.clock.launch_slack_ns = 800;
  CHECK(has(nl::exporters::report_markdown(run),
            "GPU times are late by at most 800 ns against CPU times. The other bound is not known: no call"));
  run.clock.launch_slack_ns = -1500;
  CHECK(has(nl::exporters::report_markdown(run),
            "GPU times are early by at least 1.50 µs against CPU times. The other bound is not known: no call"));
  run.clock = {2000, -1000, 2000, 3, "", {}, {}};  // 1 to 2 µs early
  CHECK(has(nl::exporters::report_markdown(run), "CPU and GPU times differ by at most 2.00 µs. 3 kernels start before"));
  run.clock = {9000, -9000, 2000, 3, "prefill", 100'000, 0.09};
  CHECK(has(nl::exporters::report_markdown(run),
            "CPU and GPU times differ by at least 9.00 µs, 9.0 % of the shortest stage, prefill (100.00 µs); no single clock offset "
            "explains it. That is more than 1.0 %: gaps between a call and its kernel may be off by as much or more. 3 kernels"));
  run.clock = {};
  CHECK(has(nl::exporters::report_markdown(run), "By how much CPU and GPU times differ is not known."));
  CHECK_FALSE(has(nl::exporters::report_markdown(nl::test::sparse_run()), "CPU and GPU times"));
}

TEST_CASE("report.md says in which pass energy was sampled, and from what where that is known") {
  nl::Run run = nl::test::rich_run();
  run.energy.pass = "bare";
  run.energy.source = nl::EnergySource::kCounter;
  CHECK(has(nl::exporters::report_markdown(run), "Sampled during the pass bare, from the energy counter."));
  run.energy.source = nl::EnergySource::kNone;
  CHECK(has(nl::exporters::report_markdown(run), "Sampled during the pass bare."));
  run.energy.pass.clear();
  run.energy.source = nl::EnergySource::kCounter;
  CHECK_FALSE(has(nl::exporters::report_markdown(run), "Sampled during"));
}
