#pragma once

#include <NvInfer.h>

#include <string>
#include <vector>

// The stand-in for TensorRT reads its ONNX and engine files as text, one declaration a line:
//
//   onnx                        the first line of an ONNX file
//   engine 10                   the first line of an engine: the major version that it was built with
//   input x float32 batch 16    a size that is a word is open; engines keep no words, so that they say -1
//   output y float32 batch 4    "?": known only when the engine has run; it is 3 then, and grows by one with each run
//   profile 0 x 1x16 8x16       an engine's range of shapes, least and most
//   layer 0.25 {"Name": …}      milliseconds, and what the inspector says of it
//   operator /block/Foo Foo     that this parser does not support
//   memory 1000                 bytes that the GPU has left
//   fault build                 or context, iteration, shape-tensor, format: what goes wrong
namespace nl::fake {

struct TensorLine {
  std::string name;
  nvinfer1::DataType type = nvinfer1::DataType::kFLOAT;
  nvinfer1::Dims dims{};
  std::vector<std::string> symbols;
  bool is_input = true;
};

struct ProfileLine {
  int profile = 0;
  std::string tensor;
  nvinfer1::Dims least{}, most{};
};

struct LayerLine {
  float ms = 0;
  std::string name, json;
};

struct Model {
  std::string kind;     // "onnx", "engine"; of a damaged file anything
  std::string version;  // of an engine
  std::vector<TensorLine> tensors;
  std::vector<ProfileLine> profiles;
  std::vector<LayerLine> layers;
  std::string unsupported_node, unsupported_operator, fault;
  std::string text;  // after the first line

  const TensorLine* tensor(const std::string& name) const;
};

Model model_of(const std::string& text);
std::string sizes_text(const nvinfer1::Dims& dims);  // "1x16"

// NL_FAKE_TENSORRT: another version ("8601"), "old-gpu" without fast types, "no-gpu".
bool is_kind(const char* kind);

void set_memory(std::size_t bytes);  // what fake cudart has left

}  // namespace nl::fake
