#include <algorithm>
#include <string>
#include <vector>

#include "exporters/report/reports.h"
#include "exporters/report/sections/executive_summary.h"
#include "tests/catch.h"
#include "tests/unit/exporters/report/markdown_cells.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

// Sentences and labels against the figures beside them.
using nl::test::has;

namespace {

std::string all_sentences(const nl::Run& run) {
  std::string text;
  for (const auto& each : nl::exporters::report::executive_summary(run)) text += each + " ";
  return text;
}

nl::StageSlowdown overhead_of(const char* stage, std::vector<double> bare, double by, double low, double high,
                              nl::SlowdownVerdict verdict) {
  nl::StageSlowdown out;
  out.stage = stage;
  out.bare_ns = std::move(bare);
  out.profiled_ns = {1};
  out.slowdown = by;
  out.low = low;
  out.high = high;
  out.verdict = verdict;
  return out;
}

nl::StageEntry a_window(const char* name, nl::Ns each, std::uint64_t count, double tokens) {
  nl::StageEntry out;
  out.name = name;
  const auto ns = static_cast<double>(each);
  out.wall = {count, each * static_cast<nl::Ns>(count), ns, ns, each, each, each, 0};
  out.tokens_per_window = tokens;
  return out;
}

// Two iterations of 10 ms prefill and 40 ms decode in 10 steps, four sequences.
nl::Run traced_generation() {
  nl::Run run;
  run.model.name = "llama";
  run.stages = {a_window("prefill", 10'000'000, 2, 1024), a_window("decode", 40'000'000, 2, 40)};
  run.latency.prefill = run.stages[0].wall;
  run.latency.tpot = nl::TimeSummary{2, 8'000'000, 4e6, 4e6, 4'000'000, 4'000'000, 4'000'000, 0};
  run.latency.batch = 4;
  run.latency.output_tokens_per_s = 80 / 0.1;
  return run;
}

void measure_unprofiled(nl::Run& run) {
  run.perturbation.stages = {overhead_of("prefill", {8e6, 8e6, 8.2e6}, 0.25, 0.2, 0.3, nl::SlowdownVerdict::kOverLimit),
                             overhead_of("decode", {30e6, 30.2e6, 30e6}, 0.33, 0.3, 0.36, nl::SlowdownVerdict::kOverLimit)};
}

}  // namespace

TEST_CASE("a decided slowdown goes before one that is not, however large") {
  nl::Run run = nl::test::rich_run();
  run.perturbation.stages = {overhead_of("prefill", {4e6}, 0.6, -0.4, 1.9, nl::SlowdownVerdict::kUndecidable),
                             overhead_of("decode_step", {3.1e6, 3.0e6, 3.2e6}, 0.32, 0.28, 0.36, nl::SlowdownVerdict::kOverLimit)};
  const std::string text = all_sentences(run);
  CHECK(has(text, "profiling slowed decode_step by about 32 %; unprofiled, it takes 3.1 ms"));
  CHECK_FALSE(has(text, "not certain"));
}

TEST_CASE("computing half of the time is not called the limit") {
  nl::Run run = nl::test::rich_run();
  for (auto& stage : run.stages) stage.budget = nl::Budget{1000, 520, 0, 0, 0, 410, 70, 0};
  const std::string text = all_sentences(run);
  CHECK(has(text, "The GPU computes 52 % of the traced decode time and waits for the program 41 %."));
  CHECK_FALSE(has(text, "is the limit"));
}

TEST_CASE("two waits that are large are both said") {
  nl::Run run = nl::test::rich_run();
  for (auto& stage : run.stages) stage.budget = nl::Budget{1000, 90, 0, 10, 0, 550, 0, 0, 350};
  CHECK(has(all_sentences(run),
            "The GPU computes 9 % of the traced decode time, waits for the program 55 % and waits for launched work to start 35 %."));
}

TEST_CASE("launch latency has a bin of its own in every report") {
  nl::Run run = nl::test::full_run();
  run.stages[0].budget->launch_latency_ns = 20;
  run.stages[0].budget->launch_starved_ns -= 20;
  const std::string text = nl::exporters::report_markdown(run);
  CHECK(has(text, "| launch-starved | 0.000130 | 13.00 |"));
  CHECK(has(text, "| launch latency | 0.000020 | 2.00 |"));
  CHECK(has(nl::exporters::report_html(run), "class=\"b-latency\""));
}

TEST_CASE("the memory that binds a kernel is named") {
  nl::Run run = nl::test::full_run();
  auto& sample = run.kernels->at(0).ncu.at(0);
  sample.bound_by = nl::Bound::kMemory;
  sample.bound_memory = nl::MemoryLevel::kL1;
  run.roofline.points.at(0).bound_by = nl::Bound::kMemory;
  run.roofline.points.at(0).bound_memory = nl::MemoryLevel::kL2;
  CHECK(has(nl::exporters::kernels_markdown(run), "| memory (L1) |"));
  CHECK(has(nl::exporters::report_markdown(run), "| memory (L1) |"));
  CHECK(has(nl::exporters::report_markdown(run), "| memory (L2) |"));
  sample.bound_memory.reset();
  CHECK(has(nl::exporters::kernels_markdown(run), "| memory |"));
}

TEST_CASE("kernel tables say that warm-up is among their times") {
  nl::Run run = nl::test::rich_run();
  REQUIRE(run.iterations.warmup == 1);
  const std::string words = "Times are of the whole capture, with the warm-up of 1 of 4 iterations.";
  for (const std::string& text :
       {nl::exporters::kernels_markdown(run), nl::exporters::report_markdown(run), nl::exporters::stakeholder_markdown(run)})
    CHECK(has(text, words));
  run.iterations.warmup = 0;
  for (const std::string& text :
       {nl::exporters::kernels_markdown(run), nl::exporters::report_markdown(run), nl::exporters::stakeholder_markdown(run)})
    CHECK_FALSE(has(text, "warm-up of"));
}

TEST_CASE("kernel tables say what part of the computing they cannot show") {
  nl::Run run = nl::test::rich_run();
  run.coverage.graph_only_share = 0.78;
  const std::string words = "Shares are of all computing; 78.0 % of it is in CUDA graphs whose kernels are not visible.";
  for (const std::string& text :
       {nl::exporters::kernels_markdown(run), nl::exporters::report_markdown(run), nl::exporters::stakeholder_markdown(run)})
    CHECK(has(text, words));
  run.coverage.graph_only_share = 0;
  CHECK_FALSE(has(nl::exporters::kernels_markdown(run), "Shares are of"));
}

TEST_CASE("the report says how much of CUDA graphs' time could not be joined, where there are graphs") {
  nl::Run run = nl::test::rich_run();
  CHECK_FALSE(has(nl::exporters::report_markdown(run), "captured;"));
  CHECK_FALSE(has(nl::exporters::report_markdown(run), "not joined to where they were captured"));
  run.coverage.graph_unjoined_share = 0.031;
  run.operators.at(0).graph_unjoined_share = 0.031;
  const std::string text = nl::exporters::report_markdown(run);
  CHECK(has(text, "| time of CUDA graphs' kernels not joined to where they were captured | 3.1 % |"));
  CHECK(has(text, "Kernels of CUDA graphs count where they were captured; for 3.1 % of their time that is not known."));
}

TEST_CASE("coverage tells windows without GPU work from time without it") {
  nl::Run run = nl::test::rich_run();
  run.phases.ranges_without_gpu_share = 0;
  const std::string text = nl::exporters::report_markdown(run);
  CHECK(has(text, "| stage time in windows without any GPU work | 0.0 % |"));
  CHECK_FALSE(has(text, "| stage time without GPU work |"));
}

TEST_CASE("the first token is promised only where a request's arrival is known") {
  nl::Run run = traced_generation();
  CHECK(has(all_sentences(run),
            "llama reads 4 prompts of 256 tokens in 10 ms and then writes a token every 4.0 ms for each of 4 sequences: 800 "
            "tokens per second over whole requests."));
  CHECK_FALSE(has(nl::exporters::stakeholder_markdown(run), "| Time to first token"));
  CHECK(has(nl::exporters::stakeholder_markdown(run), "| Prefill time, traced (ms) | 10.000 |"));
  CHECK(has(nl::exporters::report_html(run), ">Prefill time<"));
  run.latency.ttft = run.latency.prefill;
  CHECK(has(all_sentences(run), "llama starts to answer after 10 ms"));
  CHECK(has(nl::exporters::stakeholder_markdown(run), "| Time to first token, traced (ms) | 10.000 |"));
}

TEST_CASE("rates are of all sequences, or said to be of one") {
  nl::Run run = traced_generation();
  CHECK(has(nl::exporters::stakeholder_markdown(run), "| Output tokens per second, all 4 sequences, traced | 800 |"));
  CHECK(has(nl::exporters::stakeholder_markdown(run), "| Time per output token of each sequence, traced (ms) | 4.000 |"));
  run.latency.batch.reset();  // known, but not always the same
  CHECK(has(nl::exporters::stakeholder_markdown(run), "| Output tokens per second, all sequences, traced | 800 |"));
  run.stages[1].tokens_per_window = 10;  // a token a step: the batch is not known
  CHECK(has(nl::exporters::stakeholder_markdown(run), "| Output tokens per second, one sequence, traced | 800 |"));
  CHECK(has(all_sentences(run), ": 800 tokens per second over whole requests, if the batch is one."));
  run.latency.batch = 1;
  CHECK(has(nl::exporters::stakeholder_markdown(run), "| Output tokens per second, traced | 800 |"));
  CHECK(has(nl::exporters::stakeholder_markdown(run), "| Time per output token, traced (ms) | 4.000 |"));
}

TEST_CASE("headline figures are of the unprofiled passes, the traced ones beside them") {
  nl::Run run = traced_generation();
  measure_unprofiled(run);
  // 80 tokens in 100 ms less 2 × 2 ms of prefill and 2 × 10 ms of decode.
  CHECK(has(all_sentences(run),
            "llama reads 4 prompts of 256 tokens in 8.0 ms and then writes a token every 3.0 ms for each of 4 sequences: "
            "1,050 tokens per second "
            "over whole requests (unprofiled; with the profiler 10 ms, 4.0 ms and 800)."));
  const std::string text = nl::exporters::stakeholder_markdown(run);
  CHECK(has(text, "| Prefill time, unprofiled (ms) | 8.000 |"));
  CHECK(has(text, "| Prefill time, traced (ms) | 10.000 |"));
  CHECK(has(text, "| Time per output token of each sequence, unprofiled (ms) | 3.000 |"));
  CHECK(has(text, "| Output tokens per second, all 4 sequences, unprofiled | 1053 |"));
  CHECK(has(nl::exporters::report_html(run), "unprofiled; traced 10.000 ms, 25.0 % more"));
}

TEST_CASE("a sentence has unprofiled figures or traced ones, not both") {
  nl::Run run = traced_generation();
  measure_unprofiled(run);
  run.latency.ttft =
      nl::TimeSummary{2, 24'000'000, 12e6, 12e6, 12'000'000, 12'000'000, 12'000'000, 0};  // traced: no unprofiled pass knows it
  CHECK(has(all_sentences(run),
            "llama reads 4 prompts of 256 tokens in 8.0 ms and then writes a token every 3.0 ms for each of 4 sequences: "
            "1,050 tokens per second "
            "over whole requests (unprofiled; with the profiler 10 ms, 4.0 ms and 800)."));
  // Nor is the median of traced steps beside an unprofiled time.
  run.stages.push_back(a_window("decode_step", 1'000'000, 10, 1));
  run.stages.back().wall.mean_ns = 4e6;
  CHECK_FALSE(has(all_sentences(run), "half of the steps"));
  run.stages.pop_back();
  run.perturbation.stages.erase(run.perturbation.stages.begin());  // prefill
  CHECK(has(all_sentences(run), "llama writes a token every 3.0 ms for each of 4 sequences (unprofiled; with the profiler 4.0 ms)."));
  run.perturbation.stages.clear();
  CHECK(has(all_sentences(run),
            "llama starts to answer after 12 ms and then writes a token every 4.0 ms for each of 4 sequences: 800 tokens per "
            "second over whole requests."));
  measure_unprofiled(run);
  run.perturbation.stages.pop_back();  // decode
  CHECK(has(all_sentences(run), "llama starts to answer after 12 ms and then writes a token every 4.0 ms"));
}

TEST_CASE("what ends before its GPU work has no unprofiled time either") {
  nl::Run run = traced_generation();
  measure_unprofiled(run);
  for (auto& stage : run.stages) stage.gpu_busy_ns = 2 * stage.wall.total_ns;
  CHECK_FALSE(has(nl::exporters::stakeholder_markdown(run), ", unprofiled"));
}
