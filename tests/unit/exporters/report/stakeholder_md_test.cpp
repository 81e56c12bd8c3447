#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "exporters/report/reports.h"
#include "exporters/report/sections/executive_summary.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

using nl::test::has;
using nl::test::headings;

namespace {

// A full stop, question or exclamation mark before a blank or the end.
std::size_t sentences(const std::string& text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends = text[i] == '.' || text[i] == '!' || text[i] == '?';
    if (ends && (i + 1 == text.size() || text[i + 1] == ' ' || text[i + 1] == '\n')) ++count;
  }
  return count;
}

std::string summary_of(const nl::Run& run) {
  std::string out;
  for (const auto& sentence : nl::exporters::report::executive_summary(run)) out += sentence + "\n";
  return out;
}

const std::vector<std::string> kSections = {
    "Actions", "Environment", "Aggregates", "Per-Stage Timings (ms)", "MFU", "Stage Takeaways", "Top Operators", "Top Kernels", "Appendix"};

using nl::Severity;

nl::Finding finding(const std::string& rule, const std::string& stage, Severity severity, double confidence,
                    std::optional<double> gain_share) {
  nl::Finding out;
  out.rule = rule;
  out.scope = nl::RuleScope::kStage;
  out.subject = stage;
  out.severity = severity;
  out.confidence = confidence;
  out.message = "the message of " + rule;
  out.plain = rule + " is wrong.";
  out.action = "Do something about " + rule + ".";
  out.suggestions = {"torch.compile for " + rule, "nothing"};
  out.gain_share = gain_share;
  return out;
}

}  // namespace

TEST_CASE("stakeholder_summary.md has its sections in order, whatever was captured") {
  nl::Run failed = nl::test::rich_run();
  failed.status = nl::RunStatus::kFailed;
  for (const auto& run : {nl::test::rich_run(), nl::test::full_run(), nl::test::sparse_run(), nl::Run(), failed}) {
    const std::string text = nl::exporters::stakeholder_markdown(run);
    CHECK(headings(text) == kSections);
    const std::string summary = text.substr(0, text.find("\n## "));
    CHECK(sentences(summary) >= 2);
    CHECK(sentences(summary) <= 5);
  }
}

TEST_CASE("the executive summary says how fast, how good, what limits it, what to do and what it costs") {
  CHECK(nl::exporters::report::executive_summary(nl::test::rich_run()) ==
        std::vector<std::string>{
            "On one NVIDIA H200, llama-4l-1024 reads a prompt of 256 tokens in 4.5 ms and then writes a token every 3.6 ms: "
            "240 tokens per second over "
            "whole requests (unprofiled; with the profiler 4.9 ms, 4.3 ms and 205).",
            "Writing the answer (decode) takes 86 % of the measured time and reading the prompt (prefill) 12 %; at the limit of this GPU a "
            "token takes 45 µs, about 81 "
            "times less.",
            "The GPU computes 9 % of the traced decode time and waits for the program 81 %.",
            "First action: use CUDA graphs for each step of the answer (decode); it saves at most 2.6 ms of 3.6 ms per token.",
            "A million output tokens take about 0.188 kWh of GPU energy; profiling slowed decode_step by about 18 %; unprofiled, it takes "
            "3.6 ms."});
}

TEST_CASE("the executive summary weighs the time against the GPU's limit") {
  nl::Run run = nl::test::rich_run();
  double mean_ns = 0;
  for (const auto& stage : run.stages)
    if (stage.name == "decode") mean_ns = stage.wall.mean_ns;
  REQUIRE(mean_ns > 0);
  run.perturbation = {};  // the times of the trace
  const auto verdict = [&](double times) {
    for (auto& efficiency : run.efficiency)
      if (efficiency.stage == "decode") efficiency.ideal_ns = mean_ns / times;
    const std::string sentence = nl::exporters::report::executive_summary(run).at(1);
    return sentence.substr(sentence.find("; ") + 2);
  };
  CHECK(verdict(0.97) == "it is faster than the model's description allows, so that description is probably wrong.");
  CHECK(verdict(0.99) == "a token takes 4.3 ms, close to the limit of this GPU.");
  CHECK(verdict(1.49) == "a token takes 4.3 ms, close to the limit of this GPU.");
  CHECK(verdict(1.51) == "at the limit of this GPU a token takes 2.8 ms, 1.5 times less.");
  CHECK(verdict(3.94) == "at the limit of this GPU a token takes 1.1 ms, 3.9 times less.");
  CHECK(verdict(4.2) == "at the limit of this GPU a token takes 1.0 ms, about 4.2 times less.");
  run.peaks->derived = true;
  CHECK(verdict(3.94) == "at the limit of this GPU (estimated) a token takes 1.1 ms, 3.9 times less.");
  run.efficiency.clear();
  CHECK(nl::exporters::report::executive_summary(run).at(1) ==
        "Writing the answer (decode) takes 86 % of the measured time and reading the prompt (prefill) 12 %.");
}

TEST_CASE("the executive summary stays within five sentences and honest, whatever is missing") {
  nl::Run run = nl::test::rich_run();
  const auto check = [&] {
    const std::string text = summary_of(run);
    INFO(text);
    CHECK(sentences(text) <= 5);
    CHECK(nl::exporters::report::executive_summary(run).size() <= 5);
    for (const char* word : {"occupancy", "SM ", "kernel", "NVTX", "nan", "inf"}) CHECK_FALSE(has(text, word));
  };
  SECTION("a failed run says so first") {
    run.status = nl::RunStatus::kFailed;
    CHECK(nl::exporters::report::executive_summary(run)[0] == "The run failed; the figures cover only what was captured before that.");
    check();
  }
  SECTION("no energy, no unprofiled pass") {
    run.energy = {};
    run.perturbation = {};
    CHECK(nl::exporters::report::executive_summary(run).back() ==
          "Energy and profiling overhead were not measured; nl-stage run --config deep measures both.");
    check();
  }
  SECTION("no shape of the model") {
    run.efficiency.clear();
    CHECK(has(summary_of(run), "Writing the answer (decode) takes 86 % of the measured time and reading the prompt (prefill) 12 %.\n"));
    check();
  }
  SECTION("faster than the model's description allows") {
    for (auto& entry : run.efficiency) entry.ideal_ns = 1e12;
    CHECK(has(summary_of(run), "that description is probably wrong"));
    check();
  }
  SECTION("no GPU data must not read as well utilised") {
    for (auto& stage : run.stages) stage.budget.reset();
    for (auto& phase : run.phases.phases) phase.budget.reset();
    CHECK(has(summary_of(run), "What the GPU did in that time was not captured."));
    check();
  }
  SECTION("a window in which the GPU did nothing is not called computing") {
    for (auto& stage : run.stages) {
      stage.budget = nl::Budget();
      stage.budget->wall_ns = stage.budget->other_host_ns = 1000;
    }
    CHECK(has(summary_of(run), "The GPU computes 0 % of the traced decode time and waits for other work on the CPU 100 %."));
    check();
  }
  SECTION("busy throughout") {
    for (auto& stage : run.stages) {
      stage.budget = nl::Budget();
      stage.budget->wall_ns = stage.budget->gpu_compute_ns = 1000;
    }
    CHECK(has(summary_of(run), "The GPU computes 100 % of the traced decode time.\n"));
    check();
  }
  SECTION("texts of others with sentences, breaks and no end") {
    run.model.name = "a. b! c? d.\ne";
    run.findings[0].plain = "Do this. Then that! And more? " + std::string(5000, 'x');
    run.hardware.gpus[0].name = "One. Two.";
    check();
  }
  SECTION("numbers that are none") {
    run.efficiency[1].ideal_ns = std::numeric_limits<double>::quiet_NaN();
    run.findings[0].gain_per_token_ns = run.findings[0].gain_per_window_ns = std::numeric_limits<double>::quiet_NaN();
    run.stages[1].wall.mean_ns = 0;
    check();
  }
  SECTION("no stages, no latency") {
    run.stages.clear();
    run.phases = {};
    run.latency = {};
    CHECK(has(summary_of(run), "On one NVIDIA H200, llama-4l-1024 marks no stages; the GPU worked for 33 ms in all.\n"));
    check();
  }
}

TEST_CASE("the first thing to work on is the first finding that asks for a change of the workload") {
  nl::Run run = nl::test::rich_run();
  const auto first = [&] { return nl::exporters::report::executive_summary(run)[3]; };
  run.findings = {finding("measured", "the run", Severity::kMedium, 0.9, 0.9), finding("info", "decode", Severity::kInfo, 0.9, 0.8),
                  finding("large", "decode_step", Severity::kHigh, 0.6, 0.5), finding("small", "prefill", Severity::kHigh, 0.8, 0.1)};
  run.findings[0].about = nl::RuleAbout::kMeasurement;
  CHECK(first() == "First action: do something about large (decode_step); it saves at most 50 % of the measured time.");
  SECTION("the message, and not a suggestion for engineers, where the rule has no plain words") {
    run.findings[2].plain.clear();
    run.findings[2].action.clear();
    CHECK(first() == "First to fix: the message of large; that saves at most 50 % of the measured time.");
    CHECK_FALSE(has(summary_of(run), "torch.compile"));
  }
  SECTION("no share is promised where none is known; the reason stands there instead") {
    run.findings[2].gain_share.reset();
    CHECK(first() == "First action: do something about large (decode_step); large is wrong.");
  }
  SECTION("a saving has the whole beside it, of the unprofiled time where it is of that") {
    run.findings[2].gain_per_token_ns = 1.5e6;
    CHECK(has(first(), "; it saves at most 1.5 ms of 4.3 ms per token in the traced run."));
    run.findings[2].gain_unprofiled = true;
    CHECK(has(first(), "; it saves at most 1.5 ms of 3.6 ms per token."));
    run.findings[2].gain_per_token_ns = 3.59e6;
    CHECK(has(first(), "; it saves at most 99 % of 3.6 ms per token."));
    run.findings[2].gain_per_token_ns = 5e6;  // of other windows than the whole
    CHECK(has(first(), "; it saves at most 50 % of the measured time."));
  }
  SECTION("a stage without tokens has its saving per window") {
    run.findings[2].subject = "prefill";
    run.findings[2].gain_per_window_ns = 2e6;
    CHECK(has(first(), "; it saves at most 2.0 ms of 4.9 ms per prefill in the traced run."));
  }
  SECTION("information asks for nothing") {
    for (auto& each : run.findings) each.severity = Severity::kInfo;
    CHECK(first() == "No rule asks for a change; 2 rules were not evaluated for lack of data.");
  }
}

TEST_CASE("where no rule was evaluated, the summary gives no clean bill of health") {
  nl::Run run = nl::test::rich_run();
  run.findings.clear();
  run.abstentions.clear();
  const std::string text = nl::exporters::stakeholder_markdown(run);
  CHECK(has(text, "- No rule was evaluated, so this report gives no advice.\n"));
  CHECK(has(text, "None. No rule was evaluated, so this report gives no advice.\n"));
  CHECK_FALSE(has(text, "asks for a change"));
  CHECK(has(nl::exporters::report_markdown(run), "## Findings\n\nNo rule was evaluated.\n"));
}

TEST_CASE("an uncertain slowdown is a range, or left out") {
  nl::Run run = nl::test::rich_run();
  nl::StageSlowdown& decode = run.perturbation.stages[1];
  const auto cost = [&] { return nl::exporters::report::executive_summary(run)[4]; };
  run.perturbation.stages = {decode};
  nl::StageSlowdown& only = run.perturbation.stages[0];
  only.verdict = nl::SlowdownVerdict::kUndecidable;
  only.bare_ns = {3.6e6, 3.7e6, 3.5e6};
  only.low = 0.05;
  only.high = 0.3;
  CHECK(has(cost(), "; profiling slowed decode_step by 5 % to 30 %; unprofiled, it takes 3.6 ms."));
  only.low = -0.1;
  CHECK(has(cost(), "; profiling slowed decode_step by at most 30 %; unprofiled"));
  only.low = -0.87;
  only.high = 13.5;
  CHECK(has(cost(), "GPU energy; unprofiled, decode_step takes 3.6 ms."));
  CHECK_FALSE(has(nl::exporters::report_markdown(run), "1350"));
  only.bare_ns.clear();
  CHECK(has(cost(), "; the profiling overhead is not certain."));
}

TEST_CASE("recommendations: in the order of the findings, and one for all that share their cause") {
  nl::Run run;
  run.findings = {finding("bandwidth", "decode", Severity::kHigh, 0.5, 0.7), finding("launches", "decode", Severity::kHigh, 0.8, 0.4),
                  finding("graphs", "decode", Severity::kHigh, 0.7, 0.4), finding("prompt", "prefill", Severity::kLow, 0.5, 0.5),
                  finding("no_figure", "decode", Severity::kHigh, 0.9, std::nullopt)};
  run.findings[2].same_cause_as = "launches";
  const auto ordered = [&](std::size_t most) {
    std::vector<std::string> out;
    for (const auto& each : nl::exporters::report::recommendations(run, most)) {
      out.push_back(each.finding->rule);
      for (const nl::Finding* other : each.also) out.back() += " + " + other->rule;
    }
    return out;
  };
  const std::vector<std::string> expected = {"bandwidth", "launches + graphs", "prompt", "no_figure"};
  CHECK(ordered(5) == expected);
  CHECK(ordered(1) == std::vector<std::string>{expected[0]});
  SECTION("one suggestion is not given twice") {
    run.findings[3].suggestions = run.findings[1].suggestions;
    CHECK(ordered(5)[1] == "launches + graphs + prompt");
    CHECK(has(nl::exporters::stakeholder_markdown(run), "`graphs` (40.0 %), `prompt` of stage prefill (50.0 %)"));
  }
  SECTION("one cause is not named twice") {
    run.findings[4].same_cause_as = "prompt";
    CHECK(ordered(5)[2] == "prompt + no_figure");
    CHECK(has(nl::exporters::report_markdown(run), "(part of 4)"));
  }
  SECTION("neither information nor the measurement is one") {
    run.findings[3].severity = Severity::kInfo;
    run.findings[4].about = nl::RuleAbout::kMeasurement;
    CHECK(ordered(5) == std::vector<std::string>{expected[0], expected[1]});
    CHECK(has(nl::exporters::report_markdown(run), "## About the measurement\n"));
  }
}

TEST_CASE("stakeholder_summary.md: tables as they were asked for") {
  const std::string text = nl::exporters::stakeholder_markdown(nl::test::rich_run());
  CHECK(has(text, "| Metric | Mean | Std |"));
  CHECK(has(text, "| Prefill time, traced (ms) | 4.934 | 0.104 |"));
  CHECK(has(text, "| Output tokens per second, traced | 205 | — |"));
  CHECK(has(text, "| Stage | Mean | Std |\n| --- | ---: | ---: |\n| prefill | 4.919 | 0.103 |"));
  CHECK(has(text,
            "| Scope | MFU | MBU |\n| --- | ---: | ---: |\n| the model: prefill and decode by their times | 0.13 % | 1.0 % |\n| prefill | "
            "0.99 % | 1.0 % |\n"));
  CHECK(has(text, "- **decode**: 34 ms on average, 235 tokens per second; the GPU computes for 9 % of it"));
  CHECK(has(text, "| aten::mm | 3.155 | 9.930 | 464 |"));
  CHECK(has(text,
            "1. **Use CUDA graphs for each step of the answer (decode).** It saves at most 2.6 ms of 3.6 ms per token. "
            "The GPU spends 81 % of the answer's time waiting for the program to hand it work. For engineers: Capture the decode step in a "
            "CUDA graph and replay it.\n"));
  CHECK(has(text, "| 1 | `launch_bound_decode` | stage decode | high | 92 % |  |\n"));
  CHECK(has(text, "| 2 | `elementwise_chains` | stage decode |"));
  CHECK(has(text, "2 rules were not evaluated for lack of data; report.md names the commands that capture it.\n"));
}

TEST_CASE("stakeholder_summary.md: not captured is said and never zero; one value has no spread") {
  const std::string text = nl::exporters::stakeholder_markdown(nl::test::sparse_run());
  CHECK(has(text, "Not captured: GPU, Driver, CUDA, PyTorch, Engine, nsys, ncu."));
  CHECK(has(text, "\nNot captured: Prefill time (ms); Time per output token (ms); "));
  CHECK(has(text, "Not captured: no operator ranges in the capture."));
  CHECK(has(text, "Not captured. The collector recorded NVTX ranges only"));
  for (const char* zero : {" 0 |", " 0.000 |", " 0.0 %", " 0 %"}) {
    INFO(zero);
    CHECK_FALSE(has(text, zero));
  }
  nl::Run one = nl::test::sparse_run();
  one.stages[0].wall.count = 1;
  one.stages[0].wall.stddev_ns = 0;
  CHECK(has(nl::exporters::stakeholder_markdown(one), "| prefill | 41.200 | — |"));
  one.latency.tpot = nl::TimeSummary{2, 8'000'000, 4e6, 4e6, 4'000'000, 4'000'000, 4'000'000, 1e6};
  CHECK(has(nl::exporters::stakeholder_markdown(one), "traced (ms) | 4.000 | 1.000 |"));
  one.latency.tpot->count = 1;
  CHECK(has(nl::exporters::stakeholder_markdown(one), "traced (ms) | 4.000 | — |"));
}

TEST_CASE("the GPU's counters of the longest stage are one plain sentence") {
  nl::Run run = nl::test::full_run();
  CHECK(has(nl::exporters::stakeholder_markdown(run),
            "\nReading the prompt (prefill) uses the memory at 62 % of its peak rate and the matrix units for 40 % of the computing "
            "time (GPU counters).\n"));
  run.stages[0].counters->windows = 0;
  CHECK(has(nl::exporters::stakeholder_markdown(run), "the matrix units for 39 % of the time (GPU samples)."));
  run.stages[0].counters.reset();
  run.stages[0].sampling.reset();
  CHECK_FALSE(has(nl::exporters::stakeholder_markdown(run), "the matrix units"));
}

TEST_CASE("stakeholder_summary.md names the kernel of a finding briefly, and the GPU of each of several") {
  nl::Run run = nl::test::full_run();
  run.findings[0].scope = nl::RuleScope::kKernel;
  run.findings[0].subject = "gemm<4>(T1)";
  CHECK(has(nl::exporters::stakeholder_markdown(run), "| kernel gemm<...>(...) | high |"));
  run.kernels->push_back(run.kernels->front());
  run.kernels->back().device = 7;
  CHECK(has(nl::exporters::stakeholder_markdown(run), "| 1 | 0 |\n"));
  CHECK(has(nl::exporters::stakeholder_markdown(run), "| 1 | 7 |\n"));
}

TEST_CASE("stages without MFU for the same reason share a line") {
  nl::Run run = nl::test::full_run();
  run.efficiency.assign(3, {});
  run.efficiency[0].stage = "prefill";
  run.efficiency[1].stage = "decode";
  run.efficiency[2].stage = "vision";
  run.efficiency[0].note = run.efficiency[1].note = "the model shape is not known";
  run.efficiency[2].note = "no peak is known";
  const std::string text = nl::exporters::stakeholder_markdown(run);
  CHECK(has(text, "prefill, decode: the model shape is not known"));
  CHECK(has(text, "vision: no peak is known"));
  CHECK(text.find("the model shape is not known") == text.rfind("the model shape is not known"));
}

TEST_CASE("stakeholder_summary.md: an action that is predicted gives its range") {
  nl::Run run = nl::test::rich_run();
  run.findings[0].prediction = nl::test::graph_prediction("decode_step");
  const std::string text = nl::exporters::stakeholder_markdown(run);
  CHECK(has(text,
            "1. **Use CUDA graphs for each step of the answer (decode).** It saves about 57 % of each decode_step, between 47 and 64 %. "));
  CHECK(has(text,
            "- First action: use CUDA graphs for each step of the answer (decode); it saves about 57 % of each decode_step, between 47 and "
            "64 %.\n"));
  CHECK_FALSE(has(text, "It saves at most"));
  run.findings[0].prediction->high_ns = 3.9e6;
  CHECK(has(nl::exporters::stakeholder_markdown(run), "It saves up to 64 % of each decode_step. "));
  run.findings[0].prediction->ceiling = true;
  CHECK(has(nl::exporters::stakeholder_markdown(run), "It saves 57 % of each decode_step at best. "));
  run.findings[0].prediction->refused = nl::NoPrediction::kNotReplayed;
  CHECK(has(nl::exporters::stakeholder_markdown(run), "It saves at most 2.6 ms of 3.6 ms per token. "));
}
