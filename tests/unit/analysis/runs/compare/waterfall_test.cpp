#include <string>
#include <vector>

#include "analysis/runs/compare/compare.h"
#include "tests/catch.h"
#include "tests/unit/analysis/runs/compare/made_runs.h"

using namespace nl;
using namespace nl::analysis;
using namespace nl::test;

namespace {

void check_closes(const Waterfall& waterfall) {
  Ns a = 0, b = 0;
  for (const WaterfallRow& row : waterfall.rows) {
    a += row.a_ns;
    b += row.b_ns;
  }
  CHECK(a == waterfall.a_ns);
  CHECK(b == waterfall.b_ns);
}

}  // namespace

TEST_CASE("the waterfall goes from A's step to B's, kernel by kernel and bin by bin") {
  const std::vector<Run> a = {made_run(std::vector<Ns>(10, 1000), {{"gemm", 300}, {"softmax", 100}})};
  const std::vector<Run> b = {made_run(std::vector<Ns>(10, 700), {{"gemm", 250}, {"topk", 50}})};
  const Comparison comparison = compare(a, b);
  REQUIRE(comparison.waterfall);
  const Waterfall& waterfall = *comparison.waterfall;
  CHECK(waterfall.stage == "decode_step");
  CHECK(waterfall.a_ns == 1000);
  CHECK(waterfall.b_ns == 700);
  check_closes(waterfall);
  REQUIRE(waterfall.rows.size() == 4);
  CHECK(waterfall.rows.back().key == "launch_starved_ns");
  CHECK(waterfall.rows.back().a_ns == 600);
  CHECK(waterfall.rows.back().b_ns == 400);
  CHECK(waterfall.rows[0].part == WaterfallPart::kKernels);
  CHECK(waterfall.rows[2].part == WaterfallPart::kOtherKernels);  // what no kernel explains: nothing here
  CHECK(waterfall.rows[2].a_ns == 0);
}

TEST_CASE("the waterfall closes to the nanosecond where means are no whole numbers") {
  std::vector<Run> a, b;
  for (int i = 0; i < 7; ++i) {
    std::vector<MadeKernel> kernels;
    for (int k = 0; k < 20; ++k) kernels.push_back({"kernel" + std::to_string(k), 101 + 7 * k + i});
    a.push_back(made_run(steps_around(10'007 + i, 13, i), kernels, at_place(2 * i)));
    for (MadeKernel& kernel : kernels) kernel.in_step_ns += 3;
    b.push_back(made_run(steps_around(9'001 + 2 * i, 11, i), kernels, at_place(2 * i + 1)));
  }
  const Comparison comparison = compare(a, b);
  REQUIRE(comparison.waterfall);
  check_closes(*comparison.waterfall);
  double mean = 0;
  for (const Run& run : a) mean += static_cast<double>(run.stages[0].wall.total_ns) / 13 / 7;
  CHECK(comparison.waterfall->a_ns == static_cast<Ns>(mean + 0.5));
}

TEST_CASE("without budgets there is no waterfall") {
  std::vector<Run> a = {made_run(steps_around(1000))}, b = a;
  b[0].stages[0].budget.reset();
  CHECK_FALSE(compare(a, b).waterfall);
}
