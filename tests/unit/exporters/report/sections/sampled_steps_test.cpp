#include "exporters/report/sections/sections.h"
#include "exporters/report/text/markdown.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

// Which steps were traced, and what that says of the others.
using namespace nl;
using namespace nl::exporters::report;
using nl::test::has;

namespace {

std::string told_of_steps(const SampledStage& stage) {
  Run run;
  run.sampled = {stage};
  return nl::exporters::markdown({"T", "", {}, sampled_steps(run)});
}

SampledStage sampled_decode() {
  SampledStage stage;
  stage.stage = "decode_step";
  stage.windows = 1204;
  stage.traced = 112;
  stage.rows = 7;
  stage.wall_ns = 1.2e6;
  stage.untraced_ns = 1.0e6;
  stage.wall_error = 0.0213;
  stage.gpu_ns = 4e5;
  stage.gpu_error = 0.014;
  stage.gpu_total_ns = 4.816e8;
  return stage;
}

}  // namespace

TEST_CASE("sampled steps: coverage, error and total in words and in a table") {
  const std::string text = told_of_steps(sampled_decode());
  CHECK(has(
      text,
      "112 of 1,204 windows of decode_step were traced, in 7 rows, and figures of decode_step are those of these windows. Sampling makes "
      "their mean time uncertain by ±2.1 % (95 %), the overhead of tracing apart; all windows together launch 481.600 ms of GPU time, "
      "extrapolated, within ±1.4 %."));
  CHECK(has(text, "| 1,204 | 112 | 7 | 1.200 ms | 1.000 ms | ±2.1 % | 481.600 ms | ±1.4 % |"));
  Run all;
  CHECK(sampled_steps(all).empty());
}

TEST_CASE("sampled steps: what is not known is said") {
  SampledStage few = sampled_decode();
  few.wall_error = few.gpu_error = few.gpu_total_ns = std::nullopt;
  CHECK(has(told_of_steps(few), "How far sampling puts their mean off is not known: too few rows were drawn."));
  CHECK(has(told_of_steps(few), "| 1.000 ms | — | — | — |"));
  SampledStage none = sampled_decode();
  none.traced = none.rows = 0;
  CHECK(has(told_of_steps(none), "No window of decode_step lies within what was traced: 1,204 in all."));
  SampledStage whole = sampled_decode();
  whole.windows = whole.traced = 1;
  CHECK(has(told_of_steps(whole), "1 window of decode_step: traced, all of them."));
}
