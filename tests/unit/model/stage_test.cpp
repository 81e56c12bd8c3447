#include "model/stage.h"

#include "model/trace.h"
#include "tests/catch.h"

using namespace nl;

TEST_CASE("the bins of a budget add up to its wall, those with work on the GPU to its busy time") {
  const Budget budget{1023, 1, 2, 4, 8, 16, 32, 64, 128, 256};
  CHECK(budget.busy_ns() == 1 + 2 + 256);
  CHECK(budget.launch_wait_ns() == 16 + 128);
  CHECK(budget.sum_ns() == 511);
}

TEST_CASE("a stage runs on where its GPU work takes over a twentieth longer than its windows") {
  StageEntry stage;
  stage.wall.count = 4;
  stage.wall.mean_ns = 1000;
  CHECK_FALSE(stage.runs_on());  // nothing is known of the GPU
  stage.gpu_busy_ns = 4200;
  CHECK_FALSE(stage.runs_on());
  stage.gpu_busy_ns = 4201;
  CHECK(stage.runs_on());
  stage.wall.mean_ns = 0;
  CHECK_FALSE(stage.runs_on());
}

TEST_CASE("the host runs ahead where most of a busy GPU's time is work of earlier windows") {
  StageEntry stage;
  CHECK_FALSE(stage.runs_ahead());  // nothing is known of the GPU
  stage.budget.emplace().wall_ns = 1000;
  stage.budget->gpu_compute_ns = 900;
  stage.foreign_gpu_ns = 450;
  CHECK_FALSE(stage.runs_ahead());
  stage.foreign_gpu_ns = 451;
  CHECK(stage.runs_ahead());
  stage.budget->gpu_compute_ns = 500;  // of a GPU that is mostly idle it says nothing
  CHECK_FALSE(stage.runs_ahead());
}

TEST_CASE("of several GPUs one that runs on is enough, and their mean is not asked") {
  StageEntry stage;
  stage.wall.count = 1;
  stage.wall.mean_ns = 1000;
  stage.gpu_busy_ns = 5000;
  stage.devices.resize(2);
  for (StageDevice& gpu : stage.devices) {
    gpu.budget.wall_ns = 1000;
    gpu.launched_ns = 1050;
  }
  CHECK_FALSE(stage.runs_on());
  stage.devices[1].launched_ns = 1051;
  CHECK(stage.runs_on());
  stage.devices.erase(stage.devices.begin());
  stage.gpu_busy_ns = 500;
  CHECK_FALSE(stage.runs_on());
}

TEST_CASE("the error of the clocks is the larger of its bounds, and bounded by two") {
  ClockBounds clock;
  clock.launch_slack_ns = 700;
  CHECK_FALSE(clock.error_ns());
  CHECK(clock.consistent());
  clock.wait_slack_ns = 300;
  CHECK(clock.error_ns() == 700);
  clock.wait_slack_ns = 900;
  CHECK(clock.error_ns() == 900);
  clock.wait_slack_ns = -700;
  CHECK(clock.error_ns() == 700);
  CHECK(clock.consistent());
  clock.wait_slack_ns = -701;
  CHECK(clock.error_ns() == 701);
  CHECK_FALSE(clock.consistent());
  clock.launch_slack_ns = -800;
  CHECK(clock.error_ns() == 800);
}

TEST_CASE("rows end where they start and last, and a warp that was selected did not stall") {
  Kernel kernel;
  kernel.start_ns = 100;
  kernel.duration_ns = 7;
  CHECK(kernel.end_ns() == 107);
  ApiCall call;
  call.start_ns = -5;
  call.duration_ns = 6;
  CHECK(call.end_ns() == 1);
  CHECK(kMaxPackedDurationNs == 17'592'186'044'415);
  CHECK(StallShare{"selected", 1, 1}.issued());
  CHECK_FALSE(StallShare{"not_selected", 1, 1}.issued());
}
