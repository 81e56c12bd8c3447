#include <string>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/markdown.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

// Several GPUs, and how they talk to each other.
using namespace nl;
using namespace nl::exporters::report;
using nl::test::has;

namespace {

std::string gpu_text(Blocks blocks) { return nl::exporters::markdown({"T", "", {}, std::move(blocks)}); }

StageEntry stage_on_two(double compute_spread) {
  StageEntry stage;
  stage.name = "decode";
  StageDevice gpu;
  gpu.budget = {1000, 400, 50, 40, 60, 80, 10, 5, 55, 300};
  gpu.busy_ns = 750;
  stage.devices = {gpu, gpu};
  stage.devices[1].device = 3;
  stage.devices[1].pid = 77;
  GpuSpread spread;
  spread.busy_share_mean = 0.5;
  spread.busy_share_min = 0.4;
  spread.busy_share_max = 0.6;
  spread.compute_spread = compute_spread;
  spread.slowest_device = 3;
  stage.gpu_spread = spread;
  return stage;
}

Communication paired(std::int32_t device, std::uint32_t pid, Ns late_ns, Ns sum_ns, std::uint64_t last) {
  Communication out;
  out.kind = Collective::kAllGather;
  out.device = device;
  out.pid = pid;
  out.late_peer_ns = late_ns;
  out.sum_ns = sum_ns;
  out.last_arrivals = last;
  return out;
}

}  // namespace

TEST_CASE("gpus: the budget of each, with its process where that is known") {
  Run run;
  run.stages = {stage_on_two(0.1)};
  const std::string text = gpu_text(gpus(run));
  CHECK(has(text, "| decode | 0 | — | 1.00 µs | 75.0 % | 40.0 % | 30.0 % | 0.0 % | 5.0 % | 25.0 % |\n"));
  CHECK(has(text, "| decode | 3 | 77 | 1.00 µs |"));
  run.stages[0].devices.pop_back();
  CHECK(gpus(run).empty());  // one GPU that talks to no other
  run.communication = {Communication()};
  CHECK_FALSE(has(gpu_text(gpus(run)), "| decode | 0 |"));
  run.stages[0].communication = {Communication()};
  CHECK(has(gpu_text(gpus(run)), "| decode | 0 |"));
}

TEST_CASE("gpus: one that computes longest is named from half a per cent on") {
  Run run;
  run.stages = {stage_on_two(0.005)};
  CHECK(has(gpu_text(gpus(run)),
            "- decode: the GPUs are busy 50.0 % of the time on average, the least busy 40.0 %, the busiest 60.0 %. GPU 3 computes longest, "
            "0.5 % more than the mean.\n"));
  run.stages = {stage_on_two(0.0049)};
  CHECK(has(gpu_text(gpus(run)), "the busiest 60.0 %. They compute equally long.\n"));
}

TEST_CASE("gpus: the whole capture has a row for each") {
  Run run;
  run.coverage.devices = {{0, 0, 800, 700, 200, 30}, {1, 42, 0, 0, 0, 0}};
  const std::string text = gpu_text(gpus(run));
  CHECK(has(text, "| 0 | — | 800 ns | 700 ns | 200 ns | 25.0 % | 30 ns |\n"));
  CHECK(has(text, "| 1 | 42 | 0 ns | 0 ns | 0 ns | — | 0 ns |\n"));
  run.coverage.devices.pop_back();
  CHECK(gpus(run).empty());
}

TEST_CASE("communication: who arrives last, over all that could be paired") {
  Run run;
  run.communication = {paired(0, 41, 100, 1000, 1), paired(1, 42, 300, 2000, 2), paired(1, 42, 0, 500, 2)};
  const std::string text = gpu_text(communication(run));
  CHECK(has(text,
            "Whole capture: the ranks wait 400 ns of 3.50 µs for the last one to arrive. GPU 1 (process 42) arrives last most often, at "
            "80.0 % of "
            "the collectives.\n"));
  CHECK_FALSE(has(text, "cannot be paired"));
  Communication copy;
  copy.kind = Collective::kPeerCopy;
  copy.sum_ns = 9000;
  run.communication.push_back(copy);  // no GPU waits for a copy
  CHECK(gpu_text(communication(run)).find("cannot be paired") == std::string::npos);
  CHECK(has(gpu_text(communication(run)), "400 ns of 3.50 µs"));
  run.communication[0].late_peer_ns.reset();
  CHECK(has(gpu_text(communication(run)), "cannot be paired"));
  for (auto& each : run.communication) each.last_arrivals = 0;
  CHECK_FALSE(has(gpu_text(communication(run)), "arrives last"));
  CHECK(communication(Run()).empty());
}
