#include "model/backend.h"

#include "tests/catch.h"

using namespace nl;

TEST_CASE("backend: as processes and captures spell it") {
  CHECK(NamedBackend("vllm").code == Backend::kVllm);
  CHECK(NamedBackend("vLLM").code == Backend::kVllm);
  CHECK(NamedBackend("TensorRT-LLM").code == Backend::kTensorrtLlm);
  CHECK(NamedBackend("tensorrt_llm").code == Backend::kTensorrtLlm);
  CHECK(NamedBackend("PyTorch").code == Backend::kTorch);
  CHECK(NamedBackend("ONNX Runtime").code == Backend::kOnnxruntime);
  CHECK(NamedBackend("TensorRT_LLM").name() == "tensorrt-llm");
  CHECK(NamedBackend("vLLM").text.empty());
}

TEST_CASE("backend: another one keeps its text, and none is not known") {
  const NamedBackend other("My Engine");
  CHECK(other.code == Backend::kOther);
  CHECK(other.text == "My Engine");
  CHECK(other.name() == "My Engine");
  CHECK(NamedBackend("").code == Backend::kNone);
  CHECK(NamedBackend("").name().empty());
  CHECK(NamedBackend("none").code == Backend::kOther);  // a word of ours, not a backend's
  CHECK(NamedBackend("other").name() == "other");
}
