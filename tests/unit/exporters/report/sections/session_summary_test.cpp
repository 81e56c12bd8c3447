#include "exporters/report/sections/executive_summary.h"
#include "tests/catch.h"

// What leads the report of a model file: its unprofiled iterations, not the profiled ones that the trace shows as a stage.
using namespace nl;
using namespace nl::exporters::report;

namespace {

TimeSummary iterations_of(Ns each, Ns longest) {
  TimeSummary out;
  out.count = 20;
  out.total_ns = 20 * each;
  out.mean_ns = out.median_ns = static_cast<double>(each);
  out.min_ns = each;
  out.max_ns = longest;
  return out;
}

OperatorCall node_of(std::uint32_t index, OperatorType type, Ns host_ns) {
  OperatorCall call;
  call.index = index;
  call.type = type;
  call.host_ns = host_ns;
  return call;
}

Run model_run() {
  Run run;
  SessionEntry& session = run.session.emplace();
  session.backend = "onnxruntime";
  session.provider = "cpu";
  session.model = "/models/block.onnx";
  session.unprofiled = iterations_of(4'000'000, 5'000'000);
  session.profiled = iterations_of(5'000'000, 6'000'000);
  session.slowdown = 0.25;
  StageEntry& stage = run.stages.emplace_back();
  stage.name = kIterationStage;
  stage.wall = session.profiled;
  OperatorStep& step = run.operator_steps.emplace_back();
  step.source = "onnxruntime";
  step.calls = {node_of(0, OperatorType::kMatmul, 3'000'000), node_of(1, OperatorType::kNorm, 1'000'000)};
  return run;
}

}  // namespace

TEST_CASE("summary of a model file: unprofiled iterations lead") {
  const auto sentences = executive_summary(model_run());
  REQUIRE(sentences.size() == 4);
  CHECK(sentences[0] == "block.onnx takes 4.0 ms an iteration, 250 per second (onnxruntime on cpu; unprofiled, median of 20).");
  CHECK(sentences[1] == "Of the operators' time, matmul takes 75 % and norm 25 %.");
  CHECK(sentences[3] == "Recording the operators makes an iteration 25 % longer: 5.0 ms.");
}

TEST_CASE("summary of a model file: what the GPU did is said of a profiled iteration") {
  Run run = model_run();
  run.hardware.gpus.emplace_back().name = "NVIDIA H200";
  run.stages[0].budget = Budget{1000, 200, 0, 0, 0, 800, 0, 0};
  const auto sentences = executive_summary(run);
  CHECK(sentences[0] ==
        "On one NVIDIA H200, block.onnx takes 4.0 ms an iteration, 250 per second (onnxruntime on cpu; unprofiled, median of 20).");
  CHECK(sentences[2] == "The GPU computes 20 % of a profiled iteration and waits for the program 80 %.");
}

TEST_CASE("summary of a model file: no sentence about what was not recorded") {
  Run run = model_run();
  run.operator_steps.clear();
  run.session->slowdown.reset();
  CHECK(executive_summary(run).size() == 2);
  run.session->unprofiled = {};  // the session ended before: the stage is all there is
  CHECK(executive_summary(run)[0] == "In the workload, the stage inference takes 5.0 ms on average.");
}

TEST_CASE("summary of a model file: a profile that its backend wrote has its runs, its types and where its nodes ran") {
  Run run = model_run();
  run.session.reset();
  run.stages.clear();
  run.name = "block";
  OperatorStep& step = run.operator_steps[0];
  step.wall_ns = 5'000'000;
  step.iterations = 4;
  step.windows = 5;
  for (OperatorCall& call : step.calls) call.provider = "CPUExecutionProvider";
  auto sentences = executive_summary(run);
  CHECK(sentences[0] == "block takes 5.0 ms a run (onnxruntime; 4 of 5 runs have these shapes).");
  CHECK(sentences[1] == "Of the operators' time, matmul takes 75 % and norm 25 %.");
  CHECK(sentences[2] == "All 2 nodes run in CPUExecutionProvider.");
  step.calls_left_out = 8;
  CHECK(executive_summary(run)[2] == "All nodes that are listed (2 of 10) run in CPUExecutionProvider.");
  step.calls_left_out = 0;
  step.calls[1].provider = "CUDAExecutionProvider";
  step.calls.push_back(step.calls[1]);
  step.wall_ns.reset();
  sentences = executive_summary(run);
  CHECK(sentences[0] == "The operators of block take 5.0 ms a run (onnxruntime, 4 runs).");
  CHECK(sentences[2] == "2 of 3 nodes run in CUDAExecutionProvider.");
}

TEST_CASE("summary of a model file: the tiles are of its iterations") {
  const auto tiles = session_tiles(model_run());
  REQUIRE(tiles.size() == 4);
  CHECK(tiles[0].figure == "4.000 ms");
  CHECK(tiles[0].detail == "unprofiled; profiled 5.000 ms, 25.0 % more");
  CHECK(tiles[1].figure == "250 per second");
  CHECK(tiles[2].figure == "5.000 ms");
  CHECK(tiles[3].title == "matmul");
  CHECK(tiles[3].figure == "75.0 %");
}
