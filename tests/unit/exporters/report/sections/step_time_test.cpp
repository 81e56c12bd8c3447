#include <string>

#include "exporters/report/html/html.h"
#include "exporters/report/sections/sections.h"
#include "exporters/report/text/markdown.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using nl::test::has;

namespace {

namespace rep = nl::exporters::report;

// Two steps of 100 µs, of which the GPU works 40 µs and waits 50 µs for launches.
nl::Run two_steps() {
  nl::Run run;
  run.stages.resize(1);
  nl::StageEntry& step = run.stages[0];
  step.name = "decode_step";
  step.wall.count = 2;
  step.wall.mean_ns = 100'000;
  step.tokens_per_window = 4;
  step.budget = nl::Budget{};
  step.budget->wall_ns = 200'000;
  step.budget->gpu_compute_ns = 80'000;
  step.budget->launch_starved_ns = 90'000;
  step.budget->launch_latency_ns = 10'000;
  step.budget->other_host_ns = 20'000;
  run.kernels.emplace(3);
  auto& kernels = *run.kernels;
  kernels[0].name = "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT";
  kernels[0].kind = nl::KernelClass::kGemm;
  kernels[0].measured = {{"decode_step", 60'000, 4}};
  kernels[1].name = "cutlass_gemm";
  kernels[1].kind = nl::KernelClass::kGemm;
  kernels[1].measured = {{"decode_step", 10'000, 2}, {"prefill", 7'000, 1}};
  kernels[2].name = "softmax";
  kernels[2].kind = nl::KernelClass::kReduce;
  kernels[2].measured = {{"decode_step", 10'000, 10}};
  run.efficiency.resize(1);
  run.efficiency[0].stage = "decode_step";
  run.efficiency[0].ideal_ns = 12'000;
  return run;
}

std::string markdown_of(const rep::Section& section) { return nl::exporters::markdown({"T", "", {}, {}, {section}}); }

}  // namespace

TEST_CASE("a step's kernels by what they do, and what would be left of the step") {
  const std::string text = markdown_of(rep::step_time(two_steps()));
  // 70 µs of gemm in two steps of four tokens: 35 µs a step.
  CHECK(has(text, "| matrix multiplication | 35.00 µs | 35.0 % | 87.5 % | 3.0 |"));
  CHECK(has(text, "| reductions | 5.00 µs | 5.0 % | 12.5 % | 5.0 |"));
  CHECK(has(text, "measured | 100.00 µs | 100.0 %"));
  CHECK(has(text, "without launch waits | 50.00 µs | 50.0 %"));
  CHECK(has(text, "GPU busy | 40.00 µs | 40.0 %"));
  CHECK(has(text, "at the roof | 12.00 µs | 12.0 %"));
}

TEST_CASE("a roof above what the GPU needed is no step of the waterfall") {
  nl::Run run = two_steps();
  run.efficiency[0].ideal_ns = 41'000;
  CHECK_FALSE(has(markdown_of(rep::step_time(run)), "at the roof"));
  run.stages[0].budget.reset();
  run.kernels.reset();
  CHECK(rep::step_time(run).blocks.empty());
}

TEST_CASE("kernel rows have times per step and per token, with warm-up left out, and what they are grouped by") {
  const std::string page = nl::exporters::html::blocks_markup(rep::kernels(two_steps()).blocks);
  CHECK(has(page, "<tr id=\"kernel-2\" data-kind=\"gemm\" data-stage=\"decode_step|prefill\">"));
  CHECK(has(page, "data-key=\"us_per_step\" data-sum>µs per decode_step</th>"));
  CHECK(has(page, "data-key=\"us_per_token\" data-hidden data-sum>µs per token</th>"));
  CHECK(has(page, "data-v=\"30\">30.00</td><td class=\"n\" data-v=\"2\">2.00</td><td class=\"n\" data-v=\"7.5\">7.500</td>"));
  CHECK(has(page, "<summary><code>gemm 64x8x64 (nvjet sm90)</code></summary>"));
}

TEST_CASE("a kernel's time per step is that of the steps of its GPU, where each rank has steps of its own") {
  nl::Run run = two_steps();
  for (nl::StageEntry& stage : run.stages)
    for (const std::int32_t device : {0, 1}) {
      nl::StageDevice& gpu = stage.devices.emplace_back();
      gpu.device = device;
      gpu.pid = 100 + static_cast<std::uint32_t>(device);
      gpu.windows = stage.wall.count / 2;
    }
  const std::string page = nl::exporters::html::blocks_markup(rep::kernels(run).blocks);
  CHECK(has(page, "data-v=\"60\">60.00</td><td class=\"n\" data-v=\"4\">4.00</td><td class=\"n\" data-v=\"15\">15.000</td>"));
}

TEST_CASE("CUDA calls are a table of their own") {
  nl::Run run;
  CHECK(rep::api(run).blocks.empty());
  run.api = {{"cudaLaunchKernel", {}}};
  run.api[0].time.count = 3;
  run.api[0].time.total_ns = 9'000;
  CHECK(has(markdown_of(rep::api(run)), "| `cudaLaunchKernel` | 9.00 µs | 3 |"));
}
