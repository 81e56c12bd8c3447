#include <functional>
#include <string>
#include <vector>

#include "analysis/runs/compare/compare.h"
#include "tests/catch.h"
#include "tests/unit/analysis/runs/compare/made_runs.h"

using namespace nl;
using namespace nl::analysis;
using namespace nl::test;

namespace {

std::vector<Run> comparable_side(const std::function<void(Run&)>& change = [](Run&) {}) {
  Run run = made_run(steps_around(1'000'000), {{"gemm", 1000}});
  run.model.attributes = {{"architecture", "llama"}, {"layers", "4"}, {"dtype", "bf16"}};
  run.software.versions = {{"torch", "2.11"}};
  run.hardware.driver_version = "580.1";
  run.latency.batch = 1;
  ClockSummary clocks;
  clocks.sm_clock_median_mhz = 1980;
  clocks.power_limit_w = 700;
  clocks.throttled_share = 0;
  run.energy.devices = {clocks};
  change(run);
  return {run};
}

// The one difference of a side that was changed so.
Difference only_difference(const std::function<void(Run&)>& change) {
  const Comparability found = compare(comparable_side(), comparable_side(change)).comparability;
  REQUIRE(found.differences.size() == 1);
  CHECK(found.refused == (found.differences[0].severity == Severity::kHigh));
  CHECK(found.score < 1);
  return found.differences[0];
}

}  // namespace

TEST_CASE("runs of one build on one machine are fully comparable") {
  const Comparability found = compare(comparable_side(), comparable_side()).comparability;
  CHECK(found.score == 1);
  CHECK(found.differences.empty());
  CHECK_FALSE(found.refused);
}

TEST_CASE("another GPU, model, batch or prompt is refused, and both values are told") {
  const Difference gpu = only_difference([](Run& run) { run.hardware.gpus[0].name = "NVIDIA A100"; });
  CHECK(gpu.code == DifferenceCode::kGpu);
  CHECK(gpu.severity == Severity::kHigh);
  CHECK(gpu.a == "NVIDIA H200");
  CHECK(gpu.b == "NVIDIA A100");
  const Difference model = only_difference([](Run& run) { run.model.attributes["layers"] = "8"; });
  CHECK(model.code == DifferenceCode::kModel);
  CHECK(model.subject == "layers");
  CHECK(only_difference([](Run& run) { run.latency.batch = 8; }).code == DifferenceCode::kBatch);
  CHECK(only_difference([](Run& run) { run.hardware.gpus.emplace_back(); }).code == DifferenceCode::kGpuCount);
}

TEST_CASE("precision, clocks, the way of capturing and failed runs are told, and compared all the same") {
  CHECK(only_difference([](Run& run) { run.model.attributes["dtype"] = "fp8"; }).code == DifferenceCode::kPrecision);
  CHECK(only_difference([](Run& run) { run.model.attributes["dtype"] = "f16"; }).code == DifferenceCode::kPrecision);  // said once
  CHECK(only_difference([](Run& run) { run.model.attributes["dtype"] = "posit8"; }).code == DifferenceCode::kPrecision);
  CHECK(only_difference([](Run& run) { run.energy.devices[0].sm_clock_median_mhz = 1500; }).code == DifferenceCode::kClocks);
  CHECK(only_difference([](Run& run) { run.energy.devices[0].power_limit_w = 500; }).code == DifferenceCode::kPowerLimit);
  CHECK(only_difference([](Run& run) { run.provenance.tracer = Tracer::kCupti; }).code == DifferenceCode::kCaptureMode);
  CHECK(only_difference([](Run& run) { run.status = RunStatus::kPartial; }).code == DifferenceCode::kRunStatus);
  CHECK(only_difference([](Run& run) { run.stages[0].source = StageSource::kInferred; }).code == DifferenceCode::kStageSource);
}

TEST_CASE("versions and drivers are small differences") {
  const Difference torch = only_difference([](Run& run) { run.software.versions["torch"] = "2.12"; });
  CHECK(torch.code == DifferenceCode::kVersion);
  CHECK(torch.subject == "torch");
  CHECK(torch.severity == Severity::kLow);
  CHECK(only_difference([](Run& run) { run.hardware.driver_version = "590.2"; }).code == DifferenceCode::kDriver);
}

TEST_CASE("a clock that wanders a little and what is not known are no difference") {
  const auto side = comparable_side([](Run& run) {
    run.energy.devices[0].sm_clock_median_mhz = 1965;
    run.hardware.driver_version.clear();
    run.latency.batch.reset();
  });
  CHECK(compare(comparable_side(), side).comparability.differences.empty());
}

TEST_CASE("what is refused is compared when forced, and says so") {
  const auto other = comparable_side([](Run& run) { run.hardware.gpus[0].name = "NVIDIA A100"; });
  const Comparison refused = compare(comparable_side(), other);
  CHECK(refused.comparability.refused);
  CHECK(refused.verdict == CompareVerdict::kUndecidable);
  CHECK(refused.stages.lines.empty());
  CompareOptions force;
  force.force = true;
  const Comparison forced = compare(comparable_side(), other, force);
  CHECK(forced.comparability.forced);
  CHECK_FALSE(forced.comparability.refused);
  CHECK_FALSE(forced.stages.lines.empty());
}

TEST_CASE("runs of one side that differ among themselves are told") {
  std::vector<Run> mixed = comparable_side();
  mixed.push_back(comparable_side([](Run& run) { run.software.versions["torch"] = "2.12"; })[0]);
  const Comparability found = compare(mixed, mixed).comparability;
  REQUIRE(found.differences.size() == 1);
  CHECK(found.differences[0].code == DifferenceCode::kMixedSide);
  CHECK(found.differences[0].subject == "version torch");
  CHECK(found.differences[0].a == "2.11");
  CHECK(found.differences[0].b == "2.12");
}

TEST_CASE("another program or script lowers the score and is named; other arguments do so less") {
  const auto commanded = [](std::vector<std::string> command) {
    return comparable_side([&](Run& run) { run.workload.command = command; });
  };
  const auto base = commanded({"/usr/bin/python3", "-u", "/a/generate.py", "--batch", "1"});
  Comparability found = compare(base, commanded({"python", "/b/generate.py", "--batch", "8"})).comparability;
  REQUIRE(found.differences.size() == 1);
  CHECK(found.differences[0].code == DifferenceCode::kCommand);
  CHECK(found.differences[0].severity == Severity::kLow);
  CHECK(found.differences[0].subject == "arguments");

  found = compare(base, commanded({"/bin/sh", "-c", "OMP_NUM_THREADS=1 python3 serve.py --batch 1"})).comparability;
  REQUIRE(found.differences.size() == 1);  // its arguments are the same, behind a shell too
  CHECK(found.differences[0] == Difference{DifferenceCode::kCommand, Severity::kMedium, "", "generate.py", "serve.py"});
  CHECK_FALSE(found.refused);

  CompareOptions options;
  options.other_commands = true;
  CHECK(compare(base, commanded({"./other"}), options).comparability.differences.empty());
}

TEST_CASE("the script of a command is found behind shells, env and the flags of an interpreter") {
  const auto same_program = [](std::vector<std::string> command) {
    const auto of = [](std::vector<std::string> words) { return comparable_side([&](Run& run) { run.workload.command = words; }); };
    const Comparability found = compare(of({"python", "gen.py"}), of(std::move(command))).comparability;
    return found.differences.empty() || (found.differences.size() == 1 && found.differences[0].subject == "arguments");
  };
  CHECK(same_program({"bash", "-lc", "python gen.py --batch 8"}));
  const auto plain = comparable_side([](Run& run) { run.workload.command = {"python", "gen.py"}; });
  const auto batched = comparable_side([](Run& run) { run.workload.command = {"python", "gen.py", "--batch", "8"}; });
  CHECK(compare(plain, batched).comparability.differences.size() == 1);  // that there are none is known
  CHECK(same_program({"bash", "-euo", "pipefail", "-c", "python gen.py --batch 8"}));
  CHECK(same_program({"python3", "-X", "importtime", "gen.py"}));
  CHECK(same_program({"python3", "-Xpycache_prefix=/c", "-W", "ignore", "-u", "/a/gen.py"}));
  CHECK(same_program({"env", "A=1", "python", "/a/gen.py"}));
  CHECK(same_program({"/usr/bin/env", "-u", "B", "-i", "A=1", "python", "gen.py"}));
  CHECK_FALSE(same_program({"bash", "-lc", "python serve.py"}));
  CHECK_FALSE(same_program({"env"}));
  CHECK_FALSE(same_program({"python", "-c", "print(1)"}));
  CHECK_FALSE(same_program({"python", "-um", "gen"}));
}

TEST_CASE("programs that nothing names are told apart by their kernels") {
  const auto with_kernels = [](std::initializer_list<std::pair<const char*, Ns>> kernels, const char* program) {
    return comparable_side([&](Run& run) {
      run.model.attributes.clear();
      if (program != nullptr) run.workload.command = {program};
      run.kernels->clear();
      for (const auto& [name, total] : kernels) {
        KernelEntry& kernel = run.kernels->emplace_back();
        kernel.name = kernel.short_name = name;
        kernel.time.total_ns = total;
      }
    });
  };
  const auto base = with_kernels({{"gemm", 70}, {"softmax", 30}}, nullptr);
  Comparability found = compare(base, with_kernels({{"sort", 90}, {"gemm", 10}}, nullptr)).comparability;
  REQUIRE(found.differences.size() == 1);
  CHECK(found.differences[0].code == DifferenceCode::kKernels);
  CHECK(found.differences[0].subject == "10 % of the GPU time in common");
  CHECK(found.refused);
  found = compare(base, with_kernels({{"sort", 60}, {"gemm", 40}}, nullptr)).comparability;
  REQUIRE(found.differences.size() == 1);
  CHECK(found.differences[0].severity == Severity::kMedium);
  // A program may be rewritten, and is the same program.
  const auto named = with_kernels({{"gemm", 70}, {"softmax", 30}}, "decode");
  CHECK(compare(named, with_kernels({{"fused", 100}}, "decode")).comparability.differences.empty());
  CHECK(compare(named, with_kernels({{"fused", 100}}, "encode")).comparability.refused);
}

TEST_CASE("other shapes of a model file's inputs are another workload") {
  const auto shaped = [](std::int64_t length) {
    return [length](Run& run) {
      run.session.emplace().model = "block.onnx";
      run.session->inputs = {{"x", "float32", "[n]", {length}}};
    };
  };
  const Comparability found = compare(comparable_side(shaped(64)), comparable_side(shaped(256))).comparability;
  REQUIRE(found.differences.size() == 1);
  CHECK(found.differences[0] == Difference{DifferenceCode::kInputs, Severity::kHigh, "", "x:float32[64]", "x:float32[256]"});
  CHECK(found.refused);
}
