#include "tests/unit/adapters/tensorrt/scene.h"
#include "tests/unit/adapters/thrown.h"

using namespace nl;
using namespace nl::test;

namespace {

const std::string kSmall = "input x float32 2\noutput y float32 1\n";

adapters::Tensor small_input() { return float_tensor("x", {2}, {1, 1}); }

void run_once(const TensorRtScene& scene, const adapters::SessionOptions& options) {
  const auto session = scene.open(options);
  session->bind({small_input()});
  session->run();
}

Error fault_of(const TensorRtScene& scene, const adapters::SessionOptions& options) {
  return thrown_by([&] { run_once(scene, options); });
}

Error fault_of(const TensorRtScene& scene, const char* file, const std::string& text) { return fault_of(scene, scene.options(file, text)); }

}  // namespace

TEST_CASE("TensorRT: without its library nothing loads, and the reason names the file", "[tensorrt]") {
  TensorRtScene scene;
  std::filesystem::remove(scene.folder.path / ("libnvinfer.so." + std::to_string(NV_TENSORRT_MAJOR)));
  const auto here = scene.adapter->availability();
  CHECK(here.built_in);
  CHECK_FALSE(here.loads);
  CHECK(has(here.reason, "TensorRT " + std::to_string(NV_TENSORRT_MAJOR) + " is not here"));
  CHECK(has(here.reason, "libnvinfer.so"));
  const Error error = fault_of(scene, "m.engine", engine_head() + kSmall);
  CHECK(error.kind == ErrorKind::kTool);
  CHECK(has(error.fix, "NL_STAGE_TENSORRT"));
}

TEST_CASE("TensorRT: a library of another major version is refused by its number", "[tensorrt]") {
  TensorRtScene scene("8601");
  CHECK_FALSE(scene.adapter->availability().loads);
  const Error error = fault_of(scene, "m.engine", engine_head() + kSmall);
  CHECK(error.kind == ErrorKind::kTool);
  CHECK(error.message == "this is TensorRT 8.6.1; nl-stage was built for TensorRT " + std::to_string(NV_TENSORRT_MAJOR));
}

TEST_CASE("TensorRT: without the parser engines run and ONNX files do not", "[tensorrt]") {
  TensorRtScene scene;
  std::filesystem::remove(scene.folder.path / ("libnvonnxparser.so." + std::to_string(NV_TENSORRT_MAJOR)));
  CHECK_NOTHROW(run_once(scene, scene.options("m.engine", engine_head() + kSmall)));
  const Error error = fault_of(scene, "m.onnx", "onnx\n" + kSmall);
  CHECK(error.kind == ErrorKind::kTool);
  CHECK(has(error.where, "libnvonnxparser.so"));
}

TEST_CASE("TensorRT: without a GPU nothing loads", "[tensorrt]") {
  TensorRtScene scene("no-gpu");
  const auto here = scene.adapter->availability();
  CHECK_FALSE(here.loads);
  CHECK(has(here.reason, "there is no GPU"));
  CHECK(fault_of(scene, "m.engine", engine_head() + kSmall).kind == ErrorKind::kTool);
}

TEST_CASE("TensorRT: an engine of another version is refused with TensorRT's own line, once", "[tensorrt]") {
  TensorRtScene scene;
  const Error error = fault_of(scene, "m.engine", "engine 9\n" + kSmall);
  CHECK(error.kind == ErrorKind::kInput);
  CHECK(count(error.message, "not compatible with this version of TensorRT") == 1);
  CHECK(has(error.fix, "build it again here"));
}

TEST_CASE("TensorRT: a corrupt engine is refused with TensorRT's own line", "[tensorrt]") {
  TensorRtScene scene;
  const std::string text = GENERATE("", "engi", "\x7f\x01\x02 neither");
  const Error error = fault_of(scene, "m.engine", text);
  CHECK(error.kind == ErrorKind::kInput);
  CHECK(has(error.message, "Serialization assertion"));
  CHECK(has(error.where, "m.engine"));
}

TEST_CASE("TensorRT: a model that is not there is an input error", "[tensorrt]") {
  TensorRtScene scene;
  auto options = scene.options("m.engine", "");
  options.model = scene.folder / "other.engine";
  CHECK(fault_of(scene, options).kind == ErrorKind::kInput);
}

TEST_CASE("TensorRT: an operator that it does not support is named with its node", "[tensorrt]") {
  TensorRtScene scene;
  const Error error = fault_of(scene, "m.onnx", "onnx\n" + kSmall + "operator /block/Foo Foo\n");
  CHECK(error.kind == ErrorKind::kInput);
  CHECK(has(error.message, "node /block/Foo (Foo): No importer registered for op: Foo"));
}

TEST_CASE("TensorRT: a corrupt ONNX file is refused with the parser's line", "[tensorrt]") {
  TensorRtScene scene;
  const Error error = fault_of(scene, "m.onnx", "garbage");
  CHECK(error.kind == ErrorKind::kInput);
  CHECK(error.message == "TensorRT cannot read this model: Failed to parse ONNX model from file");
}

TEST_CASE("TensorRT: a build that fails quotes the reason", "[tensorrt]") {
  TensorRtScene scene;
  const Error error = fault_of(scene, "m.onnx", "onnx\n" + kSmall + "fault build\n");
  CHECK(error.kind == ErrorKind::kWorkload);
  CHECK(has(error.message, "Could not find any implementation for node /block/Foo"));
  CHECK(scene.built_engine().empty());
}

TEST_CASE("TensorRT: Ctrl-C ends a build", "[tensorrt]") {
  TensorRtScene scene;
  auto options = scene.options("m.onnx", "onnx\n" + kSmall);
  options.check_interrupt = [] { throw Error(ErrorKind::kInterrupted, "interrupted"); };
  CHECK(fault_of(scene, options).kind == ErrorKind::kInterrupted);
}

TEST_CASE("TensorRT: memory that does not suffice is told with the tensor and its size", "[tensorrt]") {
  TensorRtScene scene;
  SECTION("for an input") {
    const Error error = fault_of(scene, "m.engine", engine_head() + kSmall + "memory 7\n");
    CHECK(error.kind == ErrorKind::kWorkload);
    CHECK(error.message == "the GPU's memory does not suffice");
    CHECK(error.where == "input x: 8 bytes");
  }
  SECTION("for an output whose size is known only at run time") {
    const Error error = fault_of(scene, "m.engine", engine_head() + "input x float32 2\noutput y float32 ? 4\nmemory 40\n");
    CHECK(error.where == "output y: 48 bytes");
  }
  SECTION("for the engine's own") {
    const Error error = fault_of(scene, "m.engine", engine_head() + kSmall + "fault context\n");
    CHECK(error.kind == ErrorKind::kWorkload);
    CHECK(has(error.message, "8589934592 bytes"));
  }
}

TEST_CASE("TensorRT: an iteration that fails quotes the reason", "[tensorrt]") {
  TensorRtScene scene;
  const Error error = fault_of(scene, "m.engine", engine_head() + kSmall + "fault iteration\n");
  CHECK(error.kind == ErrorKind::kWorkload);
  CHECK(has(error.message, "Cask convolution execution"));
}

TEST_CASE("TensorRT: a precision that the GPU or the version lacks is a usage error", "[tensorrt]") {
  TensorRtScene scene("old-gpu");
  auto options = scene.options("m.onnx", "onnx\n" + kSmall);
  options.precision = GENERATE("fp16", "bf16", "int8");
  const Error error = fault_of(scene, options);
  CHECK(error.kind == ErrorKind::kUsage);
  CHECK(has(error.message, options.precision));
}

TEST_CASE("TensorRT: an engine takes no precision", "[tensorrt]") {
  TensorRtScene scene;
  auto options = scene.options("m.engine", engine_head() + kSmall);
  options.precision = "fp16";
  CHECK(fault_of(scene, options).kind == ErrorKind::kUsage);
}

TEST_CASE("TensorRT: it runs on a GPU only", "[tensorrt]") {
  TensorRtScene scene;
  auto options = scene.options("m.engine", engine_head() + kSmall);
  options.provider = "cpu";
  const Error error = fault_of(scene, options);
  CHECK(error.kind == ErrorKind::kUsage);
  CHECK(error.fix == "give --provider cuda");
}

TEST_CASE("TensorRT: a shape outside the engine's range is refused with the range", "[tensorrt]") {
  TensorRtScene scene;
  const Error error = fault_of(scene, "m.engine", engine_head() + "input x float32 -1\noutput y float32 1\nprofile 0 x 4 8\n");
  CHECK(error.kind == ErrorKind::kUsage);
  CHECK(error.message == "the engine was not built for the shape [2]");
  CHECK(error.where == "input x");
  CHECK(has(error.fix, "from [4] to [8]"));
}

TEST_CASE("TensorRT: an input whose values decide shapes cannot be built for", "[tensorrt]") {
  TensorRtScene scene;
  const Error error = fault_of(scene, "m.onnx", "onnx\n" + kSmall + "fault shape-tensor\n");
  CHECK(error.kind == ErrorKind::kUsage);
  CHECK(error.where == "input x");
}

TEST_CASE("TensorRT: tensors in a padded format are refused", "[tensorrt]") {
  TensorRtScene scene;
  const Error error = fault_of(scene, "m.engine", engine_head() + kSmall + "fault format\n");
  CHECK(error.kind == ErrorKind::kUsage);
  CHECK(has(error.message, "channel % 4 == 0"));
}
