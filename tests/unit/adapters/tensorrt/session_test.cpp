#include "adapters/measure.h"
#include "tests/catch.h"
#include "tests/unit/adapters/tensorrt/scene.h"

using namespace nl;
using namespace nl::test;
using adapters::Tensor;

namespace {

const std::string kOnnx =
    "onnx\n"
    "input x float32 batch 2\n"
    "output y float32 batch 3\n"
    "layer 0.25 {\"Name\": \"copy\", \"LayerType\": \"Reformat\"}\n"
    "layer 1.5 {\"Name\": \"/fc/MatMul + /fc/Add\", \"LayerType\": \"gemm\", "
    "\"Inputs\": [{\"Name\": \"x\", \"Dimensions\": [2, 2], \"Format/Datatype\": \"Half\"}], "
    "\"Metadata\": \"[ONNX Layer: /fc/MatMul]\\u001e[ONNX Layer: /fc/Add]\"}\n"
    "layer 0.5 {\"Name\": \"copy\", \"LayerType\": \"Reformat\"}\n";

Tensor two_by_two() { return float_tensor("x", {2, 2}, {1, 2, 3, 4}); }

}  // namespace

TEST_CASE("TensorRT: an ONNX file's open sizes have the symbols of the file", "[tensorrt]") {
  TensorRtScene scene;
  const auto session = scene.open("m.onnx", kOnnx);
  const auto inputs = session->inputs();
  REQUIRE(inputs.size() == 1);
  CHECK(inputs[0].name == "x");
  CHECK(inputs[0].dtype == "float32");
  REQUIRE(inputs[0].shape.size() == 2);
  CHECK(inputs[0].shape[0].size == -1);
  CHECK(inputs[0].shape[0].symbol == "batch");
  CHECK(inputs[0].shape[1].size == 2);
  REQUIRE(session->outputs().size() == 1);
  CHECK(session->outputs()[0].name == "y");
}

TEST_CASE("TensorRT: an engine is built for the shapes that are bound, with all that it can tell of its layers", "[tensorrt]") {
  TensorRtScene scene;
  scene.open("m.onnx", kOnnx)->bind({two_by_two()});
  const std::string engine = scene.built_engine();
  CHECK(has(engine, "profile 0 x 2x2 2x2\n"));
  CHECK(has(engine, " verbosity 2\n"));  // kDETAILED
}

TEST_CASE("TensorRT: a model without open sizes is built without a range of shapes", "[tensorrt]") {
  TensorRtScene scene;
  scene.open("m.onnx", "onnx\ninput x float32 2 2\noutput y float32 1\n")->bind({two_by_two()});
  CHECK_FALSE(has(scene.built_engine(), "profile"));
  CHECK(has(scene.built_engine(), " verbosity 2\n"));
}

TEST_CASE("TensorRT: a run's outputs are those of the bound inputs", "[tensorrt]") {
  TensorRtScene scene;
  const auto session = scene.open("m.onnx", kOnnx);
  session->bind({two_by_two()});
  session->run();
  const auto results = session->results();
  REQUIRE(results.size() == 1);
  CHECK(results[0].name == "y");
  CHECK(results[0].shape == std::vector<std::int64_t>{2, 3});
  CHECK(floats_of(results[0]) == std::vector<float>(6, 10.0f));

  SECTION("and of other inputs when these are bound") {
    session->bind({float_tensor("x", {1, 2}, {5, 6})});
    session->run();
    CHECK(floats_of(session->results()[0]) == std::vector<float>(3, 11.0f));
  }
}

TEST_CASE("TensorRT: an output whose shape depends on values has the shape that it was given at run time", "[tensorrt]") {
  TensorRtScene scene;
  const auto session = scene.open("m.plan", engine_head() + "input x float32 2\noutput y float32 ? 4\n");
  session->bind({float_tensor("x", {2}, {1, 1})});
  session->run();
  CHECK(session->results()[0].shape == std::vector<std::int64_t>{3, 4});
  session->run();
  CHECK(session->results()[0].shape == std::vector<std::int64_t>{4, 4});
  CHECK(floats_of(session->results()[0]) == std::vector<float>(16, 2.0f));
}

TEST_CASE("TensorRT: each layer of each iteration has its GPU time and no host time", "[tensorrt]") {
  TensorRtScene scene;
  auto options = scene.options("m.onnx", kOnnx);
  options.profiled = true;
  const auto session = scene.open(options);
  session->bind({two_by_two()});
  session->run();
  session->run();
  const adapters::Executions done = session->executions();

  CHECK_FALSE(done.host_times_known);
  REQUIRE(done.nodes.size() == 3);  // two of them are called "copy"
  CHECK(done.nodes[0].name == "copy");
  CHECK(done.nodes[2].name == "copy");
  CHECK(done.nodes[1].name == "/fc/MatMul + /fc/Add");
  CHECK(done.nodes[1].type == "gemm");
  CHECK(done.nodes[1].provider == "cuda:0");
  CHECK(done.nodes[1].shapes == "[[2, 2]]");
  CHECK(done.nodes[1].dtypes == "[float16]");
  CHECK(done.nodes[1].holds == std::vector<std::string>{"/fc/MatMul", "/fc/Add"});

  REQUIRE(done.runs.size() == 6);
  for (std::uint32_t n = 0; n < 6; ++n) {
    CHECK(done.runs[n].iteration == n / 3);
    CHECK(done.runs[n].node == n % 3);
    CHECK(done.runs[n].host_ns == 0);
  }
  CHECK(done.runs[3].gpu_ns == 250'000);
  CHECK(done.runs[4].gpu_ns == 1'500'000);
  CHECK(done.runs[5].gpu_ns == 500'000);
}

TEST_CASE("TensorRT: no precision keeps the model's types, and one that is asked for is a flag of the builder", "[tensorrt]") {
  if (NV_TENSORRT_MAJOR != 10) NL_SKIP("TensorRT 11 has no flags for a precision");
  TensorRtScene scene;
  auto options = scene.options("m.onnx", kOnnx);
  const auto [precision, flags] =
      GENERATE(table<std::string, std::string>({{"", "network-flags 2 builder-flags 64 "},  // strongly typed; TF32 is on by default
                                                {"fp16", "network-flags 0 builder-flags 65 "},
                                                {"int8", "network-flags 0 builder-flags 66 "},
                                                {"bf16", "network-flags 0 builder-flags 131136 "},
                                                {"fp32", "network-flags 0 builder-flags 0 "}}));
  options.precision = precision;
  scene.open(options)->bind({two_by_two()});
  CHECK(has(scene.built_engine(), flags));
}

TEST_CASE("TensorRT: an engine with several profiles runs with the first that has the shape", "[tensorrt]") {
  TensorRtScene scene;
  const auto session =
      scene.open("m.engine", engine_head() + "input x float32 -1 2\noutput y float32 -1 1\nprofile 0 x 1x2 1x2\nprofile 1 x 2x2 8x2\n");
  CHECK(session->inputs()[0].shape[0].symbol.empty());
  session->bind({two_by_two()});
  session->run();
  CHECK(floats_of(session->results()[0]) == std::vector<float>(2, 10.0f));
}

TEST_CASE("TensorRT: an engine of which only names are known runs with names alone", "[tensorrt]") {
  TensorRtScene scene;
  auto options = scene.options("m.engine", engine_head() + "input x float32 2\noutput y float32 1\nlayer 0.1 \"fc1\"\nlayer 0.2 \"fc2\"\n");
  options.profiled = true;
  const auto session = scene.open(options);
  session->bind({float_tensor("x", {2}, {1, 1})});
  session->run();
  const auto done = session->executions();
  REQUIRE(done.nodes.size() == 2);
  CHECK(done.nodes[1].name == "fc2");
  CHECK(done.nodes[1].type.empty());
  CHECK(done.runs[1].gpu_ns == 200'000);
}

TEST_CASE("TensorRT: measuring builds one engine, and tells of the build", "[tensorrt]") {
  TensorRtScene scene;
  std::string lines;
  adapters::MeasureOptions options;
  options.session = scene.options("m.onnx", kOnnx);
  options.dims = {{"batch", 2}};
  options.inputs = "zeros";
  options.iterations = 4;
  options.warmup = 1;
  options.progress = [&](const std::string& line) { lines += line + "\n"; };
  const ModelSession session = adapters::measure(*scene.adapter, options);
  CHECK(session.backend == "tensorrt");
  CHECK(session.unprofiled_ns.size() == 4);
  CHECK(session.profiled_ns.size() == 4);
  CHECK(session.nodes.size() == 3);
  CHECK(session.runs.size() == 12);
  CHECK(session.outputs.at(0).declared == "[batch, 3]");
  CHECK(session.outputs.at(0).shape == std::vector<std::int64_t>{2, 3});
  CHECK(count(lines, "building the engine; this can take minutes") == 1);
  CHECK(count(lines, "building the engine: Building Engine, step 1 of 2") == 1);
}

TEST_CASE("TensorRT: what is here is its version and a GPU", "[tensorrt]") {
  TensorRtScene scene;
  const auto here = scene.adapter->availability();
  CHECK(here.built_in);
  CHECK(here.loads);
  CHECK(here.version.substr(0, 3) == std::to_string(NV_TENSORRT_MAJOR) + ".");
  CHECK(here.providers == std::vector<std::string>{"cuda"});
}
