#include <algorithm>
#include <filesystem>
#include <string>

#include "analysis/figures/nodes/operator_figures.h"
#include "parsers/kineto/json.h"
#include "parsers/ort/profile.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/analysis/small_trace.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using namespace nl::analysis;

namespace {

std::vector<OperatorStep> profile_steps(const Trace& trace) {
  Run run;
  add_operator_steps(trace, {WarmupRule::Mode::kNone, 0, 1}, "p.json", run);
  return run.operator_steps;
}

// A product of 10 + i ns, then a sum of 5, from `start` on.
void add_two_operators(test::SmallTrace& made, Ns start, Ns i, std::uint32_t thread = 0) {
  made.range("torch.ops", "aten::mm, sizes = [[1, 4], [4, 4]]", start, start + 10 + i, thread);
  made.range("torch.ops", "aten::add, sizes = [[4], [4]]", start + 20, start + 25, thread);
}

}  // namespace

TEST_CASE("a profile without stages has the profiler's own steps") {
  test::SmallTrace made;
  for (Ns i = 0; i < 3; ++i) {
    made.range("", "ProfilerStep#" + std::to_string(i + 4), 100 * i, 100 * i + 90);
    add_two_operators(made, 100 * i + 1, i);
  }
  made.trace.dtypes = {{"aten::mm", "[[1, 4], [4, 4]]", "[bfloat16, bfloat16]"}};
  const auto steps = profile_steps(made.trace);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].stage == "ProfilerStep");
  CHECK(steps[0].file == "p.json");
  CHECK(steps[0].windows == 3);
  CHECK(steps[0].iterations == 3);
  CHECK(steps[0].wall_ns == 90);
  REQUIRE(steps[0].calls.size() == 2);
  CHECK(steps[0].calls[0].dtypes == "[bfloat16, bfloat16]");
  REQUIRE(steps[0].calls[0].host_times);
  CHECK(steps[0].calls[0].host_times->count == 3);
  CHECK(steps[0].calls[0].host_times->median_ns == 11);
  CHECK(steps[0].calls[0].host_times->max_ns == 12);
}

TEST_CASE("a profile without any steps is one step, of the thread with the most operators") {
  test::SmallTrace made(2);
  made.trace.duration_ns = 1000;
  made.range("torch.ops", "aten::ones", 5, 9, 0);
  for (Ns i = 0; i < 3; ++i) add_two_operators(made, 100 * i, i, 1);
  const auto steps = profile_steps(made.trace);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].stage == "profile");
  CHECK(steps[0].calls.size() == 6);
  CHECK_FALSE(steps[0].calls[0].host_times);
}

TEST_CASE("a real trace of torch.profiler: steps with data types and times over its windows") {
  const Unpacked json(std::filesystem::path(NL_FIXTURES) / "h200-llama/kineto.json.gz");
  const auto steps = profile_steps(parsers::read_kineto_json(json.file));
  const auto decode = std::find_if(steps.begin(), steps.end(), [](const OperatorStep& step) { return step.stage == "decode_step"; });
  REQUIRE(decode != steps.end());
  CHECK(decode->iterations >= 2);
  CHECK(decode->iterations <= decode->windows);
  std::size_t typed = 0;
  for (const OperatorCall& call : decode->calls) {
    typed += !call.dtypes.empty();
    REQUIRE(call.host_times);
    CHECK(call.host_times->count == decode->iterations);
    CHECK(*call.host_times->min_ns <= call.host_ns);
    CHECK(*call.host_times->max_ns >= call.host_ns);
  }
  CHECK(typed > decode->calls.size() / 2);
}

// 16 tokens once, then one token four times: 51 nodes each.
TEST_CASE("a real profile of ONNX Runtime: a step for each length of its input, node by node") {
  const auto steps = profile_steps(parsers::read_ort_profile(NL_FIXTURES "/onnxruntime/profile.json"));
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].iterations == 4);
  CHECK(steps[1].iterations == 1);
  for (const OperatorStep& step : steps) {
    CHECK(step.stage == "inference");
    CHECK(step.source == "onnxruntime");
    CHECK(step.calls.size() == 51);
  }
  CHECK(steps[0].wall_ns == (543000 + 597000) / 2);  // of 541, 543, 612 and 597 µs
  CHECK(steps[0].calls[0].node == "embed");
  CHECK(steps[0].calls[0].shapes == "[[320, 64], [1, 1]]");
  CHECK(steps[0].calls[0].host_times->count == 4);
  CHECK(steps[1].calls[0].shapes == "[[320, 64], [1, 16]]");
  CHECK(steps[1].calls[0].host_ns == 74000);
  CHECK(steps[1].wall_ns == 923000);
}

TEST_CASE("kernels of the CUDA provider stand at the node that launched them") {
  test::SmallTrace made;
  ModelSession& session = made.trace.session.emplace();
  session.backend = "onnxruntime";
  session.nodes.resize(2);
  session.nodes[0].name = "/a/MatMul";
  session.nodes[0].type = "MatMul";
  session.nodes[1].name = "/b";
  session.nodes[1].type = "MyKernel";
  session.runs = {{0, 0, 100, 50, 30}, {0, 1, 200, 20, 9}};
  made.kernel(made.call(100, 150), 20, "gemm_small");
  made.kernel(made.call(100, 150), 10, "gemm_small");
  made.kernel(made.call(200, 220), 9, "rms_norm_kernel");
  const auto steps = profile_steps(made.trace);
  REQUIRE(steps.size() == 1);
  REQUIRE(steps[0].calls[0].kernels.size() == 1);
  CHECK(steps[0].calls[0].kernels[0].calls == 2);
  CHECK(steps[0].calls[0].kernels[0].total_ns == 30);
  CHECK(steps[0].calls[0].gpu_ns == 30);
  CHECK(steps[0].calls[1].kernels.at(0).name == "rms_norm_kernel");
  CHECK(steps[0].calls[1].type == OperatorType::kNorm);
}
