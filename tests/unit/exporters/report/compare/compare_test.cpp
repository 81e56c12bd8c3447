#include "exporters/report/compare/compare.h"

#include <cmath>
#include <sstream>

#include "model/visible_text.h"
#include "tests/catch.h"
#include "tests/unit/exporters/report/compare/sample_comparison.h"
#include "tests/unit/files.h"

using namespace nl;
using namespace nl::exporters;
using nl::test::has, nl::test::slower_kernel;

TEST_CASE("comparison: three sentences say what changed, where, and what that rests on") {
  const auto sentences = comparison_sentences(slower_kernel());
  REQUIRE(sentences.size() == 3);
  CHECK(sentences[0] == "B's decode_step takes 3.0 % more time than A's: 10.300 ms against 10.000 ms (95 % interval +2.0 % to +4.0 %).");
  CHECK(sentences[1] == "Of the 300.00 µs between the means of decode_step, the largest part is the kernel gemm (+300.00 µs).");
  CHECK(sentences[2] == "This rests on 10 and 10 runs, captured alternately.");
}

TEST_CASE("comparison: all that is less has one minus sign") {
  Comparison comparison = slower_kernel();
  CompareLine& step = comparison.stages.lines[0];
  step.verdict = comparison.verdict = CompareVerdict::kImproved;
  std::swap(step.a, step.b);
  step.change = CompareChange{std::log(0.97), std::log(0.96), std::log(0.98), 0.95};
  std::swap(comparison.waterfall->a_ns, comparison.waterfall->b_ns);
  std::swap(comparison.waterfall->rows[0].a_ns, comparison.waterfall->rows[0].b_ns);
  const auto sentences = comparison_sentences(comparison);
  CHECK(has(sentences[0], "(95 % interval −4.0 % to −2.0 %)"));
  CHECK(sentences[1] == "Of the 300.00 µs between the means of decode_step, the largest part is the kernel gemm (−300.00 µs).");
  const std::string text = comparison_markdown(comparison);
  CHECK(has(text, "| −3.0 % | −4.0 % … −2.0 % |"));
  CHECK_FALSE(has(text, "-3.0"));
}

TEST_CASE("comparison: a kernel has a name in a sentence, also in an unnamed namespace") {
  for (const auto& [kernel, name] : {std::pair{"void (anonymous namespace)::spin<float>(int)", "spin"},
                                     {"(anonymous namespace)::spin", "spin"},
                                     {"void <unnamed>::spin(<unnamed>::Args)", "spin"},
                                     {"void ns::gemm<float>((anonymous namespace)::Args)", "gemm"},
                                     {"(odd)", "(odd)"}})
    CHECK(report::function_name(kernel) == name);
}

TEST_CASE("comparison: one run a side says so") {
  Comparison comparison = slower_kernel();
  comparison.basis = CompareBasis::kOneRunEach;
  comparison.wander = {WanderSource::kAssumed, 0.035, 0};
  CHECK(comparison_sentences(comparison)[2] == "This is one run a side: that runs of one build differ by 3.5 % is assumed.");
  comparison.wander = {WanderSource::kLedger, 0.012, 41};
  CHECK(comparison_sentences(comparison)[2] ==
        "This is one run a side: that runs of one build differ by 1.2 % is taken from 41 runs of this workload in the ledger.");
}

TEST_CASE("comparison: what is refused has one sentence, with the reason") {
  Comparison comparison = slower_kernel();
  comparison.comparability.refused = true;
  comparison.comparability.differences = {{DifferenceCode::kGpu, Severity::kHigh, "", "NVIDIA H200", "NVIDIA A100"}};
  CHECK(comparison_sentences(comparison) ==
        std::vector<std::string>{"A and B cannot be compared: they differ in GPU: NVIDIA H200 and NVIDIA A100."});
  CHECK_FALSE(has(comparison_markdown(comparison), "## Stages"));
  comparison.comparability.forced = true;
  CHECK(comparison_sentences(comparison).size() == 3);
}

TEST_CASE("comparison: nothing changed, exactly or within the minimum effect") {
  Comparison comparison = slower_kernel();
  comparison.verdict = comparison.stages.lines[0].verdict = CompareVerdict::kUnchanged;
  comparison.stages.lines[0].reason = LineReason::kNoDifference;
  comparison.stages.lines[0].b = comparison.stages.lines[0].a;
  CHECK(comparison_sentences(comparison)[0] == "B's decode_step takes exactly as long as A's: 10.000 ms.");
  CHECK(comparison_sentences(comparison).size() == 2);  // nothing to explain

  comparison.stages.lines[0].reason = LineReason::kBelowMinimum;
  comparison.stages.lines[0].change = CompareChange{0, -0.005, 0.005, 0.95};
  CHECK(has(comparison_sentences(comparison)[0], "B's decode_step takes as long as A's: "));
}

TEST_CASE("comparison: what changed beside the main stage is told, for the better and for the worse") {
  Comparison comparison = slower_kernel();
  CompareLine prefill = comparison.stages.lines[0];
  prefill.key = prefill.stage = "prefill";
  prefill.change = CompareChange{std::log(0.9), std::log(0.88), std::log(0.92), 0.975};
  prefill.b = CompareEstimate{9e6, {}, {}, 10};
  prefill.verdict = CompareVerdict::kImproved;
  comparison.stages.lines.push_back(prefill);
  CHECK(comparison_sentences(comparison)[1] == "Beside it: prefill improved (−10.0 %, 9.000 ms against 10.000 ms).");
}

TEST_CASE("comparison: what is refused for want of a unit of work says so") {
  Comparison comparison = slower_kernel();
  comparison.comparability.refused = true;
  comparison.comparability.differences = {{DifferenceCode::kNoStage, Severity::kHigh, "", "", ""}};
  CHECK(
      comparison_sentences(comparison)[0] ==
      "A and B cannot be compared: no step, block or other unit of work is marked or found in them, and how long a capture is says nothing "
      "about its speed.");
}

TEST_CASE("comparison: what is undecided says why") {
  Comparison comparison = slower_kernel();
  comparison.verdict = comparison.stages.lines[0].verdict = CompareVerdict::kUndecidable;
  comparison.reason = comparison.stages.lines[0].reason = LineReason::kDrift;
  comparison.stages.lines[0].runs_to_decide = 20;
  CHECK(
      has(comparison_sentences(comparison)[0], "is undecided (the runs drift over time, and the sides were captured one after the other)"));
  CHECK(comparison_sentences(comparison)[1] ==
        "Where a difference would lie is undecided, too; the largest part of the 300.00 µs between the means is the kernel gemm (+300.00 "
        "µs).");
  CHECK(has(comparison_sentences(comparison)[2], "Undecided: about 20 runs a side, captured alternately, would decide it"));
  CHECK(
      has(comparison_sentences(comparison, MoreRuns::kRounds)[2], "Undecided: about 20 rounds would decide it; --rounds 20 allows them."));
  CHECK(has(comparison_markdown(comparison, {{}, MoreRuns::kRoundsAndBudget}),
            "Undecided: about 20 rounds would decide it; --rounds 20 and a longer --budget allow them."));
  CHECK_FALSE(has(comparison_html(comparison, "1", {{}, MoreRuns::kRounds}), "nl-stage try"));
  comparison.stages.lines[0].runs_to_decide.reset();
  CHECK(has(comparison_sentences(comparison)[2], "Undecided: more than 1000 runs a side would be needed"));
}

TEST_CASE("comparison: a stage that cannot be compared says why") {
  Comparison comparison = slower_kernel();
  comparison.verdict = comparison.stages.lines[0].verdict = CompareVerdict::kUndecidable;
  comparison.stages.lines[0].change = CompareChange{std::log(0.15), {}, {}, {}};
  comparison.stages.lines[0].reason = LineReason::kOtherTokens;
  CHECK(has(comparison_sentences(comparison)[0], "is undecided (not comparable: its windows have different numbers of tokens)"));
  CHECK(has(comparison_text(comparison, 200), "undecidable  not comparable: its windows have different numbers of tokens\n"));
  comparison.stages.lines[0].reason = LineReason::kRunsOn;
  CHECK(has(comparison_text(comparison, 200), "undecidable  not comparable: it ends before its GPU work does\n"));
}

TEST_CASE("comparison: captures without stages are compared by the GPU time of their kernels, and that is said") {
  Comparison comparison = slower_kernel();
  comparison.main_stage = comparison.waterfall->stage = kWholeCapture;
  comparison.stages.lines[0].key = comparison.stages.lines[0].stage = kWholeCapture;
  comparison.stages.lines[0].figure = CompareFigure::kGpuWork;
  comparison.comparability.differences = {{DifferenceCode::kNoCommonStage, Severity::kMedium, "", "", ""}};
  const auto sentences = comparison_sentences(comparison);
  CHECK(sentences[0] ==
        "B's whole capture takes 3.0 % more time than A's: 10.300 ms against 10.000 ms, GPU time of its kernels (95 % interval +2.0 % to "
        "+4.0 %).");
  CHECK(has(sentences[1], "Of the 300.00 µs between the GPU times, the largest part is "));
  CHECK(sentences[2] ==
        "No stage is on both sides, so the GPU time of all kernels in the capture is compared, warm-up included. This rests on 10 and 10 "
        "runs, captured alternately.");
  comparison.comparability.differences = {{DifferenceCode::kNoStage, Severity::kLow, "", "", ""}};
  CHECK(has(comparison_sentences(comparison)[2], "No stage is marked or found, so the GPU time of all kernels in the capture is compared"));
  CHECK(has(comparison_text(comparison, 120), "no unit of work is marked or found"));
}

TEST_CASE("comparison: where no stage was found, the steady part of the capture stands for it, and that is said") {
  Comparison comparison = slower_kernel();
  comparison.main_stage = comparison.stages.lines[0].stage = "capture";
  CHECK(
      has(comparison_sentences(comparison)[2], "No stage is marked or found, so the steady part of each capture is compared as a whole. "));
}

TEST_CASE("comparison: the verdict of a stage fits beside its times on 80 columns, and no line is longer than 60 where that is the room") {
  Comparison comparison = slower_kernel();
  CompareLine rate = comparison.stages.lines[0];
  rate.figure = CompareFigure::kTokensPerSecond;
  rate.a = CompareEstimate{235, {}, {}, 10};
  rate.b = CompareEstimate{229, {}, {}, 10};
  comparison.stages.lines.push_back(rate);
  CHECK(has(comparison_text(comparison, 80), "tokens per second  decode_step  235 tokens/s  229 tokens/s  +3.0 %  regressed\n"));
  std::istringstream lines(comparison_text(comparison, 60));
  for (std::string line; std::getline(lines, line);) CHECK(columns_of(line) <= 60);
}

TEST_CASE("comparison: the verdict of a kernel stays on 80 columns, the way it was paired does not") {
  Comparison comparison = slower_kernel();
  const std::string a = "void gemm_of_many_words<float, 128, 64>(int)", b = "void another_gemm_of_words<float, 128, 64>(int)";
  KernelPair pair{{{a, a, 1, 6e6}}, {{b, b, 1, 6.3e6}}, KernelPairing::kTokens, KernelRelation::kRenamed, true, comparison.stages.lines[0]};
  comparison.kernels = {{"decode_step", true, {}, {pair}, 1, 1}};
  comparison.kernels_missing.reset();
  const std::string text = comparison_text(comparison, 80);
  CHECK(has(text, "Change  Verdict\n"));
  CHECK(has(text, "+3.0 %  regressed\n"));
  CHECK(has(text, "not shown for lack of room: Relation, Paired by\n"));
}

TEST_CASE("comparison: what was not captured is one line of compare.md") {
  Comparison comparison = slower_kernel();
  const std::string text = comparison_markdown(comparison);
  CHECK(has(
      text,
      "## Nothing to show\n\n- Latency and rate, Where the time went, Kernels, Operators, Layers, CUDA calls, Counters sampled over time, "
      "Counters of kernels and stages, MFU and MBU, Energy, Host code while the GPU waited: Not captured.\n"));
  CHECK_FALSE(has(text, "## Energy"));
  comparison.waterfall.reset();
  CHECK(has(comparison_markdown(comparison), "- From A to B: No budget was captured on both sides, so the difference has no parts.\n"));
}

TEST_CASE("comparison: the table of CUDA calls says that it has the mean of one call") {
  Comparison comparison = slower_kernel();
  const std::string told = "Mean time of one call, over the whole capture.";
  CHECK_FALSE(has(comparison_markdown(comparison), told));  // of no table
  CompareLine call = comparison.stages.lines[0];
  call.figure = CompareFigure::kApiTime;
  call.key = "cudaDeviceSynchronize";
  call.stage.clear();
  comparison.api = {{call}, {}, {}};
  CHECK(has(comparison_markdown(comparison), "## CUDA calls\n\n" + told + "\n\n| What |"));
}

TEST_CASE("comparison: the waterfall's table ends with the window that its rows add up to") {
  const std::string text = comparison_markdown(slower_kernel());
  CHECK(has(text, "## From A's to B's decode_step"));
  CHECK(has(text, "| launch-starved | — | 4.000 ms | 4.000 ms |"));
  CHECK(has(text, "**Window**"));
  CHECK(has(text, "+300.00 µs"));
  const std::string page = comparison_html(slower_kernel(), "0.1.0");
  CHECK(has(page, "w-more"));
  CHECK(has(page, "compare.json has every figure of this page"));
}

TEST_CASE("comparison: the counter of a kernel with a long name does not wrap its name over many lines") {
  Comparison comparison = slower_kernel();
  const std::string kernel =
      "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8, " + std::string(600, 'x') + ">(int)";
  CompareLine counter = comparison.stages.lines[0];
  counter.figure = CompareFigure::kCounter;
  counter.stage.clear();
  counter.kernel = kernel;
  counter.key = "dram_bytes";
  comparison.ncu_counters = {{counter}, {}, LineReason::kNoCommonKernel};
  const std::string text = comparison_text(comparison, 80);
  CHECK(text.find(std::string(40, 'x')) == std::string::npos);
  CHECK(has(text, "No common kernel was measured."));
}

namespace {

MedianStep a_step(Ns compute_ns, Ns starved_ns) {
  MedianStep step;
  step.stage = "decode_step";
  step.wall_ns = compute_ns + starved_ns;
  step.budget = Budget{};
  step.budget->wall_ns = step.wall_ns;
  step.budget->gpu_compute_ns = compute_ns;
  step.budget->launch_starved_ns = starved_ns;
  step.gpus = {{0, 1, {compute_ns, step.wall_ns}, {BudgetBin::kCompute, BudgetBin::kLaunchStarved}}};
  return step;
}

}  // namespace

TEST_CASE("comparison: the median steps stand below each other on one scale, and the difference is named by bin") {
  Comparison comparison = slower_kernel();
  CHECK_FALSE(has(comparison_html(comparison, "1"), "The median steps"));  // of runs that have none
  comparison.a.median_step = a_step(6'000'000, 4'000'000);
  CHECK(has(comparison_html(comparison, "1"), "B has no median step to draw beside the other"));
  comparison.b.median_step = a_step(6'500'000, 1'000'000);
  const std::string page = comparison_html(comparison, "1");
  CHECK(has(page,
            "B&#39;s median decode_step takes 7.500 ms, A&#39;s 10.000 ms: −2.500 ms. By bin: launch-starved −3.000 ms, GPU compute "
            "+500.00 µs."));
  CHECK(has(page, "<span><b>A</b></span><span>GPU</span><span>budget</span><span><b>B</b></span><span>GPU</span><span>budget</span>"));
  CHECK(has(page, "width=\"75.0000%\""));  // B's ground, of A's length
  CHECK(has(page, "<title>Comparison: a against b</title>"));
  CHECK(has(page, "A: 10 runs, a (a0) …"));
  comparison.b.median_step->stage = "train_step";
  CHECK(has(comparison_html(comparison, "1"), "A&#39;s unit is decode_step, B&#39;s is train_step: the two are different things."));
}

TEST_CASE("comparison: the chart of a small change does not begin at zero, and says so") {
  Comparison comparison = slower_kernel();  // 10.0 and 10.3 ms
  CHECK(has(comparison_html(comparison, "1"), "The axis begins at 9.900 ms."));
  CHECK_FALSE(has(comparison_markdown(comparison), "The axis begins"));  // which has no chart
  Waterfall& waterfall = *comparison.waterfall;
  waterfall.rows[0].b_ns = waterfall.rows[0].a_ns;
  waterfall.b_ns = waterfall.a_ns;
  CHECK_FALSE(has(comparison_html(comparison, "1"), "The axis begins"));
  waterfall.rows[0].b_ns = 1'000'000;
  waterfall.b_ns = 5'000'000;
  CHECK_FALSE(has(comparison_html(comparison, "1"), "The axis begins"));
}

TEST_CASE("comparison: the chart of the waterfall says what a kernel does instead of its raw name") {
  Comparison comparison = slower_kernel();
  comparison.waterfall->rows[0].key =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, "
      "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)";
  const std::string page = comparison_html(comparison, "1");
  const std::size_t row = page.find("<span class=\"what\">elementwise add");
  REQUIRE(row != std::string::npos);
  CHECK(page.find("</span>", row) - row < 120);
}
