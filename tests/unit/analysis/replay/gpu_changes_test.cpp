// Changes of what runs on the GPU, on programs that a test writes: steps whose launches all come before their kernels.
#include <cmath>

#include "analysis/replay/predict.h"
#include "model/error.h"
#include "tests/unit/analysis/trace_builder.h"

using namespace nl;
using namespace nl::analysis;

namespace {

struct Work {
  const char* kernel;
  Ns us;
  std::uint32_t blocks = 1;
};

// Steps of this work on an H200, launched ahead of it, and a wait for its end.
struct GpuSteps : TraceBuilder {
  explicit GpuSteps(const std::vector<Work>& works, int steps = 10) {
    Device device;
    device.sm_count = 132;
    trace.devices.push_back(device);
    Ns now = 0;
    for (int i = 0; i < steps; ++i) {
      const Ns start = now;
      Ns gpu = now + 10'000;
      for (const Work& work : works) {
        Kernel& each = kernel(work.kernel, gpu, static_cast<std::uint64_t>(work.us * 1'000), call(now, 0, "cudaLaunchKernel", 500));
        trace.shapes[each.shape].grid = {work.blocks, 1, 1};
        trace.shapes[each.shape].block = {1024, 1, 1};
        gpu += work.us * 1'000 + 1'000;
        now += 600;
      }
      wait(now, gpu + 3'000);
      now = gpu + 4'000;
      stage("step", start, now);
    }
    trace.duration_ns = now;
  }
};

Prediction predicted(const TraceBuilder& program, const std::string& change) {
  WarmupRule rule;
  rule.mode = WarmupRule::Mode::kNone;
  const StagedTrace staged(program.trace, rule);
  return Predictor(staged, {}).predict("step", {change_of(change)});
}

double saved_us(const TraceBuilder& program, const std::string& change) {
  const Prediction prediction = predicted(program, change);
  REQUIRE_FALSE(prediction.refused);
  return (prediction.unperturbed_ns - prediction.predicted_ns) / 1e3;
}

constexpr const char* kProduct = "nvjet_tst_128x128_64x6_bf16_gemm";

}  // namespace

TEST_CASE("gpu changes: kernels scale by name, by kind and by the operator that launched them") {
  GpuSteps program({{kProduct, 100}, {"vectorized_elementwise_kernel", 50}});
  CHECK(saved_us(program, "--kernel nvjet=0.5") == Approx(50).margin(1));
  CHECK(saved_us(program, "--kind gemm=0.5") == Approx(50).margin(1));
  CHECK(saved_us(program, "--kind elementwise=0") == Approx(50).margin(1));
  CHECK(predicted(program, "--kind attention=0.5").refused == NoPrediction::kNothingToChange);
  for (std::size_t i = 1; i < program.trace.kernels.size(); i += 2) {  // of the second kernel of each step
    const ApiCall& launch = program.trace.api_calls[program.trace.kernels[i].api];
    program.range("", "aten::add, op_id = 7, sizes = [[2]]", launch.start_ns - 10, launch.end_ns() + 10);
  }
  CHECK(saved_us(program, "--operator aten::add=0") == Approx(50).margin(1));
  CHECK(predicted(program, "--operator aten::mm=0").refused == NoPrediction::kNothingToChange);
}

TEST_CASE("gpu changes: attention that is written out becomes one kernel, at most as long as its two products") {
  const GpuSteps program({{kProduct, 40}, {"vectorized_elementwise_kernel", 30}, {"cunn_SoftMaxForward", 60}, {kProduct, 50}});
  const Prediction fused = predicted(program, "--fuse attention");
  REQUIRE_FALSE(fused.refused);
  const double least = fused.unperturbed_ns - 93'000, most = least - 0.75 * 90'000;  // all of the products, and a quarter
  CHECK(fused.predicted_ns == Approx(std::sqrt(least * most)).epsilon(0.02));
  CHECK(fused.low_ns < most);
  CHECK(fused.high_ns > least);
  CHECK(predicted(GpuSteps({{"cunn_SoftMaxForward", 60}, {"vectorized_elementwise_kernel", 5}}), "--fuse attention").refused ==
        NoPrediction::kNothingToChange);
}

TEST_CASE("gpu changes: a copy that overlaps is paid for only where it is longer than the other work") {
  const auto steps = [](Ns copy_us) {
    TraceBuilder program;
    Ns now = 0;
    for (int i = 0; i < 10; ++i) {
      const Ns start = now, copied = now + 10'000 + copy_us * 1'000;
      program.copy(MemOpKind::kHostToDevice, now + 10'000, copied, program.call(now, 0, "cudaMemcpyAsync", 1'000));
      program.kernel("work", copied + 1'000, 200'000, program.call(now + 2'000, 0, "cudaLaunchKernel", 1'000));
      program.wait(now + 4'000, copied + 205'000);
      now = copied + 206'000;
      program.stage("step", start, now);
    }
    return program;
  };
  CHECK(saved_us(steps(100), "--overlap-copies") == Approx(100).margin(10));
  const Prediction longer = predicted(steps(500), "--overlap-copies");
  CHECK(longer.predicted_ns / 1e3 > 499);  // the copies still have to be made
  CHECK(longer.predicted_ns < longer.unperturbed_ns - 150'000);
}

TEST_CASE("gpu changes: a larger batch lies between kernels that have room and kernels that have none") {
  const GpuSteps small({{"vectorized_elementwise_kernel", 20, 10}});
  const Prediction room = predicted(small, "--batch 4");
  CHECK(room.low_ns < room.unperturbed_ns);                // 40 blocks fit beside each other
  CHECK(room.high_ns > room.unperturbed_ns + 3 * 18'000);  // but the trace does not show that they do
  const GpuSteps full({{"vectorized_elementwise_kernel", 200, 132 * 2 * 8}});
  const Prediction none = predicted(full, "--batch 4");
  CHECK(none.low_ns > 2.9 * none.unperturbed_ns);  // eight waves become thirty-two
  CHECK(none.high_ns < 5 * none.unperturbed_ns);
  CHECK_FALSE(none.ceiling);
  // Products read the weights once for all.
  const GpuSteps products({{kProduct, 200, 132}});
  WarmupRule rule;
  rule.mode = WarmupRule::Mode::kNone;
  const StagedTrace staged(products.trace, rule);
  const Prediction decode = Predictor(staged, {}).predict("step", {{"--batch 4", LargerBatch{4, 0.02}}});
  CHECK(decode.high_ns < 1.2 * decode.unperturbed_ns);
  const Prediction prefill = Predictor(staged, {}).predict("step", {{"--batch 4", LargerBatch{4, 0.5}}});
  CHECK(prefill.low_ns > 1.6 * prefill.unperturbed_ns);
}

TEST_CASE("gpu changes: what smaller weights and another card bring is a ceiling") {
  const GpuSteps program({{kProduct, 100}, {"vectorized_elementwise_kernel", 50}});
  WarmupRule rule;
  rule.mode = WarmupRule::Mode::kNone;
  const StagedTrace staged(program.trace, rule);
  const Predictor predictor(staged, {});
  const Prediction weights = predictor.predict("step", {{"--weights fp8", SmallerWeights{DataType::kFp8, 0.5}}});
  CHECK(weights.ceiling);
  CHECK((weights.unperturbed_ns - weights.predicted_ns) / 1e3 == Approx(50).margin(1));
  CHECK(weights.high_ns >= weights.unperturbed_ns);  // it may bring nothing
  const Prediction card = predictor.predict("step", {{"--device B200", OtherCard{"B200", 0.4, 0.6}}});
  CHECK(card.ceiling);
  CHECK((card.unperturbed_ns - card.predicted_ns) / 1e3 == Approx(90).margin(2));
  CHECK(predictor.predict("step", {change_of("--weights fp8")}).refused == NoPrediction::kUnknownWeights);
  CHECK(predictor.predict("step", {change_of("--device Z9")}).refused == NoPrediction::kUnknownCard);
  CHECK(predictor.predict("step", {change_of("--kernel nvjet=ceiling")}).refused == NoPrediction::kNoCeiling);
  const Prediction best = predictor.predict("step", {{"--kernel nvjet=ceiling", KernelsAtCeiling{"nvjet", {{kProduct, 0.25}}}}});
  CHECK((best.unperturbed_ns - best.predicted_ns) / 1e3 == Approx(75).margin(1));
}

TEST_CASE("gpu changes: where a step's time without a tracer is known, predictions start from it") {
  GpuSteps program({{kProduct, 100}});
  WarmupRule rule;
  rule.mode = WarmupRule::Mode::kNone;
  const StagedTrace staged(program.trace, rule);
  const double now = Predictor(staged, {}).predict("step", {}).unperturbed_ns;
  const Predictor slower(staged, {{}, UnprofiledWindow{"step", 1.2 * now}});
  const Prediction half = slower.predict("step", {change_of("--kernel nvjet=0.5")});
  CHECK(half.unperturbed_ns == Approx(1.2 * now));
  CHECK(half.predicted_ns == Approx(1.2 * (now - 50'000)).epsilon(0.01));
}

TEST_CASE("gpu changes: a strip shows what the thread and the GPU do in a window") {
  const GpuSteps program({{kProduct, 100}, {kProduct, 100}});
  WarmupRule rule;
  rule.mode = WarmupRule::Mode::kNone;
  const StagedTrace staged(program.trace, rule);
  const auto strip = Predictor(staged, {}).strip("step", {change_of("--kernel nvjet=0.5")});
  REQUIRE(strip);
  CHECK(strip->length_ns / 1e3 == Approx(10 + 100 + 2 + 3 + 1).margin(2));
  REQUIRE_FALSE(strip->gpu.empty());
  CHECK(strip->gpu.front().start_ns / 1e3 == Approx(10).margin(1));
  CHECK(strip->gpu.back().end_ns / 1e3 == Approx(111).margin(2));
  REQUIRE(strip->host.size() >= 2);
  const StripPart longest = *std::max_element(strip->host.begin(), strip->host.end(), [](const StripPart& a, const StripPart& b) {
    return a.end_ns - a.start_ns < b.end_ns - b.start_ns;
  });
  CHECK(longest.what == Binding::kWaits);
}

TEST_CASE("gpu changes: texts that are no change are refused with the flag and an example") {
  const auto fix_of = [](const std::string& text) -> std::string {
    try {
      change_of(text);
    } catch (const Error& error) {
      CHECK(error.kind == ErrorKind::kUsage);
      return error.fix;
    }
    return "";
  };
  CHECK(fix_of("--host audit") == "write --host NAME=0.5");
  CHECK(fix_of("--kind quick=0.5") == "write --kind gemm=0.5");
  CHECK(fix_of("--batch many") == "write --batch 2");
  CHECK(fix_of("--weights heavy") == "write --weights fp8");
  CHECK(fix_of("--fuse everything") == "write --fuse elementwise, or attention");
  CHECK(fix_of("--grpah step").starts_with("one of: --device, "));
  CHECK(change_of("--graph decode_step").text == "--graph decode_step");
}

TEST_CASE("gpu changes: of a long capture a part is replayed, with the same result") {
  GpuSteps program({{kProduct, 100}, {"vectorized_elementwise_kernel", 50}}, 400);
  WarmupRule rule;
  rule.mode = WarmupRule::Mode::kNone;
  const StagedTrace staged(program.trace, rule);
  const std::vector<NamedChange> changes = {change_of("--kernel nvjet=0.5"), change_of("--graph step")};
  const Predictor all(staged), part(staged, {{}, {}, 60, "step"});
  CHECK(part.predict("step", changes).predicted_ns == all.predict("step", changes).predicted_ns);
  CHECK(part.predict("step", {}).measured_ns == all.predict("step", {}).measured_ns);
  CHECK(part.replay_error("step") == Approx(0).margin(0.001));
  CHECK(part.predict("other", changes).refused == NoPrediction::kNoStage);
}
