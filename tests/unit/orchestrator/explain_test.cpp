#include "orchestrator/explain.h"

#include "tests/catch.h"

using namespace nl;
using namespace nl::orchestrator;

namespace {

Run counted_run() {
  Run run;
  run.hardware.gpus.resize(1);
  run.hardware.gpus[0].name = "NVIDIA Card";
  run.hardware.gpus[0].bandwidth_bytes_per_s = 4'000'000'000'000;
  StageEntry& stage = run.stages.emplace_back();
  stage.name = "prefill";
  stage.counters.emplace().dram_use = {{0, 2e6, 1000}};
  stage.sampling.emplace().dram_use = {{0, 1e12, 1e9}};
  KernelEntry& kernel = run.kernels.emplace().emplace_back();
  kernel.name = "k";
  NcuSample& sample = kernel.ncu.emplace_back();
  sample.measured_by = nl::Meter::kCupti;
  sample.ncu_duration_ns = 1000;
  sample.values[nl::Metric::kDramBytes] = 3e6;
  sample.values[nl::Metric::kSm] = 20;
  return run;
}

}  // namespace

TEST_CASE("DRAM % of stages, samples and kernels has the peak of the table, as MBU has, however often it is explained") {
  Knowledge knowledge;
  Run run = counted_run();
  explain(knowledge, run);
  CHECK(run.stages[0].counters->values[nl::Metric::kDram] == 50.0);
  CHECK(run.stages[0].sampling->values[nl::Metric::kDram] == 25.0);
  CHECK(*run.kernels->at(0).ncu[0].values[nl::Metric::kDram] == Approx(75));  // rounding of a division
  CHECK(run.kernels->at(0).ncu[0].bound_by == nl::Bound::kMemory);
  knowledge.devices = {{"NVIDIA Card", {"Card"}, {}, 8e12, {}, "own.yaml"}};  // as from device.file
  for (int again = 0; again < 2; ++again) {
    explain(knowledge, run);
    CHECK(run.peaks->bytes_per_s == 8e12);
    CHECK(run.stages[0].counters->values[nl::Metric::kDram] == 25.0);
    CHECK(run.stages[0].sampling->values[nl::Metric::kDram] == 12.5);
    CHECK(*run.kernels->at(0).ncu[0].values[nl::Metric::kDram] == Approx(37.5));  // likewise
    CHECK(run.kernels->at(0).ncu[0].bound_by == nl::Bound::kLatency);
  }
}
