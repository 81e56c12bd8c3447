#include "model/headline.h"

#include "tests/catch.h"

using namespace nl;

namespace {

KernelEntry kernel(const char* name, Ns total_ns, std::vector<StageSplit> stages, std::vector<StageLaunches> measured,
                   std::int32_t device = 0) {
  KernelEntry entry;
  entry.name = name;
  entry.device = device;
  entry.time.total_ns = total_ns;
  entry.time.count = 10;
  entry.gpu_share = 0.5;
  entry.stages = std::move(stages);
  entry.measured = std::move(measured);
  return entry;
}

}  // namespace

TEST_CASE("kernels that run only in warm-up or outside of stages do not work, however long they take") {
  Run run;
  run.kernels.emplace();
  run.kernels->push_back(kernel("autotune", 9000, {{"prefill", 9000, 10}}, {}));
  run.kernels->push_back(kernel("load", 5000, {{"none", 5000, 10}}, {}));
  run.kernels->push_back(kernel("mostly warm-up", 4000, {{"decode", 4000, 10}}, {{"decode", 100, 2}, {"decode_step", 100, 2}}));
  run.kernels->push_back(
      kernel("gemm", 600, {{"prefill", 300, 5}, {"decode", 300, 5}}, {{"prefill", 150, 3}, {"decode", 150, 2}, {"decode_step", 140, 1}}));
  run.kernels->push_back(kernel("other GPU", 60, {{"decode", 60, 10}}, {{"decode", 60, 10}}, 1));
  const WorkingKernels working = working_kernels(run);
  CHECK(working.measured);
  REQUIRE(working.list.size() == 3);
  CHECK(working.list[0].index == 3);
  CHECK(working.list[0].time_ns == 300);  // steps are a part of decode
  CHECK(working.list[0].calls == 5);
  CHECK(working.list[0].measured_share == Approx(0.75));
  CHECK(working.list[1].index == 2);
  CHECK(working.list[1].measured_share == Approx(0.25));
  CHECK(working.list[2].measured_share == Approx(1));
  CHECK(working.left_out == 2);
  CHECK(working.left_out_ns == 14000);

  run.coverage.graph_only_share = 0.4;  // how much of the graphs is measured is not known
  CHECK(working_kernels(run).list[0].measured_share == Approx(0.5));
}

TEST_CASE("without measured launches all kernels work, over the whole capture") {
  Run run;
  CHECK(working_kernels(run).list.empty());
  run.kernels.emplace();
  run.kernels->push_back(kernel("a", 900, {}, {}));
  run.kernels->push_back(kernel("b", 100, {{"decode", 100, 10}}, {}));
  const WorkingKernels working = working_kernels(run);
  CHECK_FALSE(working.measured);
  REQUIRE(working.list.size() == 2);
  CHECK(working.list[0].time_ns == 900);
  CHECK(working.list[0].calls == 10);
  CHECK(working.list[0].measured_share == 0.5);
  CHECK(working.left_out == 0);
}

TEST_CASE("a stage that is the outermost here and within another there makes no kernel longer than it is") {
  Run run;
  run.kernels.emplace();
  run.kernels->push_back(kernel("a", 100, {{"decode", 60, 6}, {"decode_step", 40, 4}}, {{"decode", 60, 6}, {"decode_step", 100, 10}}));
  const WorkingKernels working = working_kernels(run);
  CHECK(working.list[0].time_ns == 100);
  CHECK(working.list[0].calls == 10);
}

// A warm-up generate() outside of the request: decode is the outermost stage there, and lies within request elsewhere.
TEST_CASE("the launches in measured windows are those that the capture counted, however its stages nest") {
  Run run;
  run.kernels.emplace();
  run.kernels->push_back(kernel("gemm", 1000, {{"decode", 200, 2}, {"request", 800, 8}}, {{"decode", 800, 8}, {"request", 800, 8}}));
  run.kernels->push_back(kernel("autotune", 500, {{"decode", 500, 10}}, {}));
  SECTION("of an older file they are guessed, and are never more than all") {
    const WorkingKernels working = working_kernels(run);
    CHECK(working.list.at(0).time_ns == 1000);
    CHECK(working.list.at(0).calls == 10);
  }
  SECTION("counted once each") {
    run.kernels->at(0).measured_ns = 800;
    run.kernels->at(0).measured_calls = 8;
    run.kernels->at(1).measured_ns = 0;
    run.kernels->at(1).measured_calls = 0;
    const WorkingKernels working = working_kernels(run);
    CHECK(working.measured);
    REQUIRE(working.list.size() == 1);
    CHECK(working.list[0].time_ns == 800);
    CHECK(working.list[0].calls == 8);
    CHECK(working.list[0].measured_share == Approx(1));
    CHECK(working.left_out == 1);
    CHECK(working.left_out_ns == 500);
  }
}

TEST_CASE("a kernel that several GPUs run is one, and tells what it takes on each") {
  Run run;
  run.hardware.gpus = {{.id = 0, .name = "H200"}, {.id = 1, .name = "H200"}, {.id = 2, .name = "A100"}};
  run.kernels.emplace();
  run.kernels->push_back(kernel("gemm", 900, {}, {{"decode", 900, 10}}, 1));
  run.kernels->push_back(kernel("gemm", 800, {}, {{"decode", 800, 10}}, 2));
  run.kernels->push_back(kernel("gemm", 750, {}, {{"decode", 750, 10}}, 0));
  run.kernels->push_back(kernel("norm", 100, {}, {{"decode", 100, 10}}, 0));
  run.kernels->push_back(kernel("norm", 60, {}, {}, 1));  // in warm-up only, there
  run.kernels->push_back(kernel("load", 50, {}, {}, 0));
  run.kernels->push_back(kernel("load", 50, {}, {}, 1));
  WorkingKernels working = working_kernels(run);
  REQUIRE(working.list.size() == 3);
  CHECK(working.list[0].index == 0);
  CHECK(working.list[0].gpus == 2);
  CHECK(working.list[0].least_ns == 750);
  CHECK(working.list[0].most_ns == 900);
  CHECK(working.list[1].index == 1);  // of another model
  CHECK(working.list[1].gpus == 1);
  CHECK(working.list[2].gpus == 1);
  CHECK(working.left_out == 1);
  CHECK(working.left_out_ns == 100);  // of what is left out

  run.kernels->at(2).ncu.emplace_back();
  working = working_kernels(run);
  CHECK(working.list[0].index == 1);
  CHECK(working.list[1].index == 2);  // whose counters are known; the most time comes first still
  CHECK(working.list[1].time_ns == 750);
  CHECK(working.list[1].gpus == 2);
  CHECK(working.list[1].most_ns == 900);

  run.kernels->at(2).measured[0].total_ns = run.kernels->at(2).time.total_ns = 90;  // far from what the other takes
  working = working_kernels(run);
  REQUIRE(working.list.size() == 4);
  CHECK(working.list[0].index == 0);
  CHECK(working.list[0].gpus == 1);
  CHECK(working.list[3].index == 2);
}
