#include "exporters/report/sections/executive_summary.h"

#include "exporters/report/reports.h"
#include "tests/catch.h"
#include "tests/unit/exporters/report/sections/made_stages.h"

// Each sentence of the summary, from runs small enough to see where it comes from.
using namespace nl;
using namespace nl::exporters::report;
using test::run_of, test::window_of;

namespace {

std::string sentence_of(const Run& run, std::size_t number) { return executive_summary(run).at(number); }

Run with_bins(Ns compute, Ns copy, Ns queue, Ns starved) {
  Run run = run_of({window_of("decode", 1000)});
  run.stages[0].budget = Budget{1000, compute, copy, queue, 0, starved, 0, 0};
  return run;
}

StageSlowdown slowdown_of(const char* stage, double by, std::optional<SlowdownVerdict> verdict, PassKind profiler = PassKind::kNsys) {
  StageSlowdown out;
  out.profiler = profiler;
  out.stage = stage;
  out.slowdown = by;
  out.verdict = verdict;
  return out;
}

}  // namespace

TEST_CASE("summary: the GPUs and the workload are named as far as they are known") {
  Run run = run_of({window_of("retrieval", 2'500'000)});
  CHECK(sentence_of(run, 0) == "In the workload, the stage retrieval takes 2.5 ms.");
  run.name = "smoke. It";
  CHECK(sentence_of(run, 0) == "In smoke, the stage retrieval takes 2.5 ms.");
  run.model.name = "llama";
  CHECK(sentence_of(run, 0) == "In llama, the stage retrieval takes 2.5 ms.");
  run.hardware.gpus.resize(1);
  CHECK(sentence_of(run, 0) == "On one GPU, in llama, the stage retrieval takes 2.5 ms.");
  run.hardware.gpus.resize(2);
  CHECK(sentence_of(run, 0) == "On 2 GPUs, in llama, the stage retrieval takes 2.5 ms.");
  run.hardware.gpus[0].name = "NVIDIA H200";
  CHECK(sentence_of(run, 0) == "On 2 GPUs (NVIDIA H200), in llama, the stage retrieval takes 2.5 ms.");
}

TEST_CASE("summary: without latencies the first three stages that ran are timed") {
  Run run = run_of({window_of("a", 1'000'000), window_of("none", 0, 0), window_of("prefill", 20'000), window_of("capture", 3'000'000'000),
                    window_of("d", 1)});
  CHECK(sentence_of(run, 0) ==
        "In the workload, the stage a takes 1.0 ms, reading the prompt (prefill) takes 20 µs and the steady part of the capture takes 3.0 "
        "s.");
}

TEST_CASE("summary: without stages there is the GPU's time, of one or of each") {
  Run run;
  CHECK(sentence_of(run, 0) == "The workload marks no stages.");
  run.coverage.gpu_busy_ns = 33'000'000;
  CHECK(sentence_of(run, 0) == "The workload marks no stages; the GPU worked for 33 ms in all.");
  run.coverage.devices.resize(2);
  run.name = "smoke";
  CHECK(sentence_of(run, 0) == "smoke marks no stages; each GPU worked for 33 ms on average.");
}

TEST_CASE("summary: a token's time where no rate is known") {
  Run run;
  run.name = "llama";
  run.latency.tpot = TimeSummary{2, 8'000'000, 4e6, 4e6, 4'000'000, 4'000'000, 4'000'000, 0};
  CHECK(sentence_of(run, 0) == "llama writes a token every 4.0 ms for each sequence of a batch that is not known.");
  run.latency.batch = 1;
  CHECK(sentence_of(run, 0) == "llama writes a token every 4.0 ms.");
}

TEST_CASE("summary: prompt, batch and rate stand beside the time of a token") {
  Run run = run_of({window_of("prefill", 8'000'000), window_of("decode", 40'000'000)});
  run.name = "llama";
  run.latency.prefill = run.stages[0].wall;
  run.latency.tpot = TimeSummary{1, 4'000'000, 4e6, 4e6, 4'000'000, 4'000'000, 4'000'000, 0};
  CHECK(sentence_of(run, 0) ==
        "llama reads the prompt in 8.0 ms and then writes a token every 4.0 ms for each sequence of a batch that is not known.");
  run.latency.output_tokens_per_s = 208;
  CHECK(sentence_of(run, 0) ==
        "llama reads the prompt in 8.0 ms and then writes a token every 4.0 ms: 208 tokens per second over whole requests, "
        "if the batch is one.");
  run.latency.batch = 1;
  run.stages[0].tokens_per_window = 256;
  CHECK(sentence_of(run, 0) ==
        "llama reads a prompt of 256 tokens in 8.0 ms and then writes a token every 4.0 ms: 208 tokens per second over whole "
        "requests.");
  run.latency.batch = 2;
  CHECK(sentence_of(run, 0) ==
        "llama reads 2 prompts of 128 tokens in 8.0 ms and then writes a token every 4.0 ms for each of 2 sequences: 208 "
        "tokens per second over whole requests.");
  run.latency.ttft = run.latency.prefill;
  CHECK(sentence_of(run, 0).starts_with("llama starts to answer after 8.0 ms and then writes"));
  run.latency.tpot.reset();
  CHECK(sentence_of(run, 0) == "llama starts to answer after 8.0 ms and writes 208 tokens per second over whole requests.");
}

TEST_CASE("summary: where few slow steps make the mean, the usual step stands beside it") {
  Run run = run_of({window_of("decode_step", 2'000'000, 8)});
  run.latency.tpot = TimeSummary{1, 4'000'000, 4e6, 4e6, 4'000'000, 4'000'000, 4'000'000, 0};
  run.latency.batch = 1;
  run.stages[0].wall.mean_ns = 3e6;
  CHECK(sentence_of(run, 0) == "The workload writes a token every 4.0 ms.");
  run.stages[0].wall.mean_ns = 3.1e6;
  CHECK(sentence_of(run, 0) == "The workload writes a token every 4.0 ms on average, though half of the steps take at most 2.0 ms.");
}

TEST_CASE("summary: of a server the time of a step and the wait of a request are told apart") {
  Run run = run_of({window_of("prefill", 8'000'000, 9), window_of("decode_step", 5'500'000, 90)});
  run.workload.verdict.kind = nl::WorkloadKind::kServing;
  run.workload.verdict.unit_stage = "decode_step";
  run.latency.prefill = TimeSummary{9, 72'000'000, 8e6, 8e6, 8'000'000, 8'000'000, 8'000'000, 0};
  CHECK(sentence_of(run, 0) ==
        "The workload serves several requests at a time: it reads the prompt in 8.0 ms and takes a step for all requests in 5.5 ms.");
  run.stages[1].wall.median_ns = 3e6;  // a few slow steps
  CHECK(sentence_of(run, 0) ==
        "The workload serves several requests at a time: it reads the prompt in 8.0 ms and takes a step for all requests in 5.5 ms on "
        "average, "
        "though half of the steps take at most 3.0 ms.");
  run.stages[1].wall.median_ns = 5.5e6;
  run.latency.tpot = TimeSummary{1, 13'600'000, 13.6e6, 13.6e6, 13'600'000, 13'600'000, 13'600'000, 0};
  run.latency.output_tokens_per_s = 420;
  CHECK(sentence_of(run, 0) ==
        "The workload serves several requests at a time: it reads the prompt in 8.0 ms and takes a step for all requests in 5.5 ms. A "
        "request waits 14 ms between its tokens: 420 tokens per second over whole requests.");
}

TEST_CASE("summary: a program that generates nothing is told in its own units") {
  Run run = run_of({window_of("train_step", 100'000'000, 9), window_of("forward", 30'000'000, 18), window_of("optimizer", 10'000'000, 9)});
  run.name = "fit";
  run.workload.verdict.kind = nl::WorkloadKind::kTraining;
  run.workload.verdict.unit_stage = "train_step";
  run.stages[0].warmup_windows = 1;
  CHECK(sentence_of(run, 0) ==
        "fit takes 10 training steps of 100 ms, 1 of them warm-up. Of a step, traced, the forward pass 60 ms and the optimizer 10 ms.");
  SECTION("in each of several processes") {
    run.stages[0].warmup_windows = 0;
    run.stages[0].wall.count = 10;
    run.stages[0].devices.resize(2);
    run.stages[0].devices[1].pid = 2;
    CHECK(sentence_of(run, 0).starts_with("fit takes 5 training steps of 100 ms in each of 2 processes. Of a step"));
  }
  SECTION("batches") {
    run = run_of({window_of("batch", 5'000'000, 4)});
    run.workload.verdict.kind = nl::WorkloadKind::kEncoding;
    run.workload.verdict.unit_stage = "batch";
    CHECK(sentence_of(run, 0) == "The workload computes 4 batches of 5.0 ms.");
  }
  SECTION("images") {
    run = run_of({window_of("denoise_step", 5'000'000, 8), window_of("image", 40'000'000, 2)});
    run.workload.verdict.kind = nl::WorkloadKind::kDiffusion;
    run.workload.verdict.unit_stage = "denoise_step";
    CHECK(sentence_of(run, 0) == "The workload takes 8 denoising steps of 5.0 ms; 2 images of 40 ms.");
  }
  SECTION("steps of which nothing else is known") {
    run = run_of({window_of("step", 5'000'000, 8)});
    run.workload.verdict.unit_stage = "step";
    run.stages[0].source = nl::StageSource::kInferred;
    CHECK(sentence_of(run, 0) == "The workload repeats 8 steps of 5.0 ms (inferred).");
    run.stages[0].wall.median_ns = 1e6;
    CHECK(sentence_of(run, 0) ==
          "The workload repeats 8 steps of 5.0 ms on average, though half of the steps take at most 1.0 ms (inferred).");
  }
  const std::string all = nl::exporters::stakeholder_markdown(run);
  for (const char* word : {"token", "prompt", "prefill", "Prefill", "decode"}) {
    INFO(word);
    CHECK(all.find(word) == std::string::npos);
  }
}

TEST_CASE("summary: where nothing but the steady part of a capture is known, shares are of that") {
  Run run = run_of({window_of("capture", 140'000'000)});
  run.stages[0].budget = Budget{1000, 280, 0, 0, 0, 720, 0, 0};
  CHECK(sentence_of(run, 0) == "In the workload, the steady part of the capture takes 140 ms.");
  CHECK(sentence_of(run, 1) == "Its stages are not marked, and nothing was found that repeats.");
  CHECK(sentence_of(run, 2) == "The GPU computes 28 % of that time and waits for the program 72 %.");
}

TEST_CASE("summary: how the run ended comes first where it did not end well") {
  Run run = run_of({window_of("decode", 1000)});
  const std::size_t usual = executive_summary(run).size();
  run.status = RunStatus::kPartial;
  CHECK(executive_summary(run).size() == usual);
  run.problems.push_back({Code::kCaptureCut, "cut", "nvtx-7.nltrace", "", ErrorKind::kCapture});
  CHECK(sentence_of(run, 0) == "A part of the trace is missing; the figures cover only what is left.");
  CHECK(std::ranges::count(executive_summary(run), "What the GPU did in that time is not known.") == 1);
  run.status = RunStatus::kInterrupted;
  CHECK(sentence_of(run, 0) == "The run ended early; the figures cover only its beginning.");
  for (const auto& sentence : executive_summary(run)) CHECK(sentence.find("takes the longest") == std::string::npos);
}

TEST_CASE("summary: why the workload failed, and where a trace ends, come before all figures") {
  Run run = run_of({window_of("decode", 1000)});
  run.status = RunStatus::kFailed;
  run.problems.push_back({Code::kWorkloadOutOfMemory, "python3 ran out of GPU memory: 2.00 TiB asked for, at serve.py:12 in step.", "", "",
                          ErrorKind::kWorkload});
  CHECK(sentence_of(run, 0) ==
        "The workload failed: python3 ran out of GPU memory: 2.00 TiB asked for, at serve.py:12 in step. The run failed; the figures cover "
        "only what was captured before that.");
  run.status = RunStatus::kPartial;
  run.problems = {{Code::kTraceCutShort, "too large", "", "", ErrorKind::kCapture}};
  CHECK(sentence_of(run, 0) == "The trace ends at its size limit; the figures cover only the time before that.");
}

TEST_CASE("summary: energy is not measured only where there are no readings") {
  Run run = run_of({window_of("decode", 1000)});
  const auto says = [&](const std::string& words) {
    return std::ranges::any_of(executive_summary(run), [&](const auto& each) { return each.find(words) != std::string::npos; });
  };
  CHECK(says("Energy and profiling overhead were not measured"));
  run.energy.devices.emplace_back().power_mean_w = 236.4;
  CHECK_FALSE(says("Energy"));
  CHECK(says("The GPU drew 236 W on average while stages ran; profiling overhead was not measured."));
}

TEST_CASE("summary: stages say where they come from if nobody marked them") {
  Run run = run_of({window_of("prefill", 1000), window_of("decode", 1000), window_of("decode_step", 1000), window_of("other", 1000)});
  CHECK(plain_stage(run, "decode") == "writing the answer (decode)");
  for (auto& stage : run.stages) stage.source = StageSource::kInferred;
  CHECK(plain_stage(run, "prefill") == "reading the prompt (prefill, inferred)");
  CHECK(plain_stage(run, "decode") == "writing the answer (decode, inferred)");
  CHECK(plain_stage(run, "decode_step") == "one step of the answer (decode_step, inferred)");
  CHECK(plain_stage(run, "other") == "the stage other (inferred)");
  CHECK(plain_stage(run, "capture") == "the steady part of the capture");
  CHECK(plain_stage(run, "request") == "a whole request");
  CHECK(plain_stage(run, "not in it") == "the stage not in it");
}

TEST_CASE("summary: the main stage is the longest phase that is one, else the stage with the most time") {
  Run run = run_of({window_of("prefill", 700), window_of("decode", 100, 20), window_of("unused", 5000, 0)});
  REQUIRE(main_stage(run));
  CHECK(main_stage(run)->name == "decode");
  CHECK_FALSE(main_stage(run)->share);
  CHECK(main_stage(run)->mean_ns == 100);
  CHECK(sentence_of(run, 1) == "Writing the answer (decode) takes the longest.");
  run.phases.span_ns = 1000;
  run.phases.phases = {{"idle", 500, {}}, {"mixed", 300, {}}, {"prefill", 150, Budget{150, 1, 0, 0, 0, 0, 0, 0}}, {"decode", 50, {}}};
  CHECK(main_stage(run)->name == "prefill");
  CHECK(main_stage(run)->share == 0.15);
  CHECK(main_stage(run)->mean_ns == 700);
  CHECK(main_stage(run)->budget->wall_ns == 150);
  run.stages[0].budget = Budget{700, 2, 0, 0, 0, 0, 0, 0};
  CHECK(main_stage(run)->budget->wall_ns == 700);
  CHECK(sentence_of(run, 1) ==
        "Time outside the stages takes 50 % of the measured time, several stages at once 30 % and reading the prompt (prefill) 15 %.");
  run.phases.phases[2].name = "unknown";
  CHECK(main_stage(run)->name == "unknown");
  CHECK(main_stage(run)->mean_ns == 0);
  run.phases.span_ns = 0;
  CHECK(main_stage(run)->name == "decode");
  CHECK_FALSE(main_stage(Run()));
}

TEST_CASE("summary: a window whose work runs on is as long as that work") {
  Run run = run_of({window_of("decode", 1000, 4)});
  run.stages[0].gpu_busy_ns = 4200;  // the tail of the last kernel
  CHECK(main_stage(run)->mean_ns == 1000);
  run.stages[0].gpu_busy_ns = 8000;
  CHECK(main_stage(run)->mean_ns == 2000);
}

TEST_CASE("summary: a wait is said from 5 % of the time on, a second from 20 %") {
  CHECK(sentence_of(with_bins(951, 0, 49, 0), 2) == "The GPU computes 95 % of the decode time.");
  CHECK(sentence_of(with_bins(950, 0, 50, 0), 2) == "The GPU computes 95 % of the decode time and pauses between two pieces of work 5 %.");
  CHECK(sentence_of(with_bins(301, 0, 199, 500), 2) == "The GPU computes 30 % of the decode time and waits for the program 50 %.");
  CHECK(sentence_of(with_bins(300, 200, 0, 500), 2) ==
        "The GPU computes 30 % of the decode time, waits for the program 50 % and only copies data 20 %.");
  Run empty = with_bins(0, 0, 0, 0);
  empty.stages[0].budget->wall_ns = 0;
  CHECK(sentence_of(empty, 2) == "What the GPU did in that time was not captured.");
}

TEST_CASE("summary: what the host did is said with the wait for it, and only then") {
  const auto sampled = [](Run run) {
    HostCode code;
    code.samples = 40;
    code.kinds = {{HostWork::kModel, 20, {}}, {HostWork::kFramework, 12, {}}, {HostWork::kSync, 8, {}}};
    code.lines = {{{"Attention.forward", "/m/model.py", "m", 245, 0, ""}, HostWork::kModel, 16, 16, {}, {}}};
    run.stages[0].host_code = code;
    return run;
  };
  CHECK(sentence_of(sampled(with_bins(301, 0, 199, 500)), 2) ==
        "The GPU computes 30 % of the decode time and waits for the program 50 %; about half of the wait is Python code of the model's "
        "modules, mostly "
        "Attention.forward (model.py:245).");
  CHECK(sentence_of(sampled(with_bins(300, 400, 0, 300)), 2) ==
        "The GPU computes 30 % of the decode time, only copies data 40 % and waits for the program 30 %; about half of the wait is Python "
        "code of the "
        "model's modules, mostly Attention.forward (model.py:245).");
  CHECK(sentence_of(sampled(with_bins(950, 0, 50, 0)), 2) ==
        "The GPU computes 95 % of the decode time and pauses between two pieces of work 5 %.");
  CHECK(executive_summary(sampled(with_bins(301, 0, 199, 500))).size() <= 5);
}

TEST_CASE("summary: energy is that of decoding, by its steps where there is nothing else") {
  Run run = run_of({window_of("decode", 1000)});
  const auto last = [&] { return executive_summary(run).back(); };
  run.energy.stages.resize(3);
  run.energy.stages[0].stage = "prefill";
  run.energy.stages[0].joules_per_token = 36;
  CHECK(last() == "Energy and profiling overhead were not measured; nl-stage run --config deep measures both.");
  run.energy.stages[1].stage = "decode_step";
  run.energy.stages[1].joules_per_token = 7.2;
  CHECK(last() == "A million output tokens take about 2.00 kWh of GPU energy; profiling overhead was not measured.");
  run.energy.stages[2].stage = "decode";
  CHECK(last() == "A million output tokens take about 2.00 kWh of GPU energy; profiling overhead was not measured.");
  run.energy.stages[2].joules_per_token = 3.6;
  CHECK(last() == "A million output tokens take about 1.00 kWh of GPU energy; profiling overhead was not measured.");
}

TEST_CASE("summary: the overhead is the largest that was decided, and never ncu's") {
  Run run = run_of({window_of("decode", 1000)});
  const auto last = [&] { return executive_summary(run).back(); };
  run.perturbation.stages = {slowdown_of("decode", 9, SlowdownVerdict::kOverLimit, PassKind::kNcu)};
  CHECK(last() == "Energy and profiling overhead were not measured; nl-stage run --config deep measures both.");
  run.perturbation.stages = {slowdown_of("small", 0.02, SlowdownVerdict::kUnderLimit),
                             slowdown_of("large", 0.04, SlowdownVerdict::kUnderLimit),
                             slowdown_of("unsure", 0.5, SlowdownVerdict::kUndecidable), slowdown_of("unjudged", 0.6, std::nullopt)};
  CHECK(last() == "Profiling slowed large by less than 5 %.");
  run.perturbation.stages[1].bare_ns = {3e6, 1e6, 2e6};
  CHECK(last() == "Profiling slowed large by less than 5 %; unprofiled, it takes 2.0 ms.");
  run.perturbation.stages.erase(run.perturbation.stages.begin(), run.perturbation.stages.begin() + 2);
  CHECK(last() == "The profiling overhead is not certain.");
  auto& unsure = run.perturbation.stages[0];
  run.perturbation.stages.pop_back();
  unsure.low = 0.25;
  unsure.high = 0.75;
  CHECK(last() == "Profiling slowed unsure by 25 % to 75 %.");
  unsure.high = 0.76;
  CHECK(last() == "The profiling overhead is not certain.");
  unsure.low = 0.0;
  unsure.high = 0.25;
  CHECK(last() == "Profiling slowed unsure by at most 25 %.");
  unsure.low = -0.2;
  unsure.high = 0.0;
  CHECK(last() == "The profiling overhead is not certain.");
}

TEST_CASE("summary: a phrase is one sentence's worth of a text") {
  CHECK(phrase("v1.5 is fast. Very.") == "v1.5 is fast");
  CHECK(phrase("what?") == "what");
  CHECK(phrase("stop!\nhere") == "stop");
  CHECK(phrase("a\tb\nc  ") == "a b c");
  CHECK(phrase("one two three", 5) == "one two …");
  CHECK(phrase("one two three", 8) == "one two …");
  CHECK(phrase("one two three", 9) == "one two three");
  CHECK(phrase("") == "");
}

TEST_CASE("summary: tracing that adds more than the limit to a step is said first") {
  Run run = run_of({window_of("train_step", 4'000'000, 10)});
  run.name = "fit";
  run.workload.verdict.kind = nl::WorkloadKind::kTraining;
  run.workload.verdict.unit_stage = "train_step";
  const std::string speed = sentence_of(run, 0);
  auto& costs = run.perturbation.tracing;
  costs = {{nl::PassKind::kNsys, nl::CostBasis::kMeasured, "train_step", 0.31, 0.31, {}},
           {nl::PassKind::kCollector, nl::CostBasis::kEstimated, "train_step", 0.04, 0.16, 100}};
  CHECK(sentence_of(run, 0) ==
        "Tracing with nsys makes a training step (train_step) take 31 % longer than without the profiler, so quote the unprofiled times; "
        "the collector (--set capture.prefer=cupti) would add an estimated 4 to 16 %.");
  CHECK(sentence_of(run, 1) == speed);
  CHECK(executive_summary(run).size() <= 5);
  for (const std::string& text : executive_summary(run)) CHECK(text.find("overhead") == std::string::npos);  // once
  SECTION("the limit or less is not") {
    costs[0].low = costs[0].high = 0.05;
    CHECK(sentence_of(run, 0) == speed);
  }
  SECTION("the collector is named only where it adds less") {
    costs[1].low = costs[1].high = 0.31;
    CHECK(sentence_of(run, 0).ends_with("so quote the unprofiled times."));
  }
  SECTION("an estimate says that it is one") {
    costs[0] = {nl::PassKind::kNsys, nl::CostBasis::kEstimated, "train_step", 0.28, 0.42, 100};
    costs.resize(1);
    run.provenance.tracer = nl::Tracer::kNsys;
    CHECK(
        sentence_of(run, 0) ==
        "Tracing with nsys makes a training step (train_step) take an estimated 28 to 42 % longer than without the profiler (--config deep "
        "measures it), and the times here include that.");
    run.provenance.tracer = nl::Tracer::kImport;
    CHECK(
        sentence_of(run, 0) ==
        "Tracing with nsys makes a training step (train_step) take an estimated 28 to 42 % longer than without the profiler, and the times "
        "here include that.");
    costs[0].low = 0.04;  // perhaps more than the limit, perhaps not
    CHECK(sentence_of(run, 0) == speed);
  }
  SECTION("a calibration says that it is one, once") {
    costs[1] = {nl::PassKind::kCollector, nl::CostBasis::kCalibrated, "train_step", 0.04, 0.07, 100};
    CHECK(
        sentence_of(run, 0).ends_with("the collector (--set capture.prefer=cupti) would add 4 to 7 %, by a calibration on this machine."));
    costs[0] = {nl::PassKind::kNsys, nl::CostBasis::kCalibrated, "train_step", 0.28, 0.42, 100};
    run.provenance.tracer = nl::Tracer::kNsys;
    CHECK(sentence_of(run, 0) ==
          "Tracing with nsys makes a training step (train_step) take 28 to 42 % longer than without the profiler, by a calibration on this "
          "machine (--config deep measures it), and the times here include that; the collector (--set capture.prefer=cupti) would add 4 to "
          "7 %.");
  }
  SECTION("a failure comes before it") {
    run.status = nl::RunStatus::kFailed;
    CHECK(sentence_of(run, 1).starts_with("Tracing with nsys makes"));
  }
}
