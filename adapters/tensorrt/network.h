#pragma once

#include <NvInfer.h>
#include <NvOnnxParser.h>

#include <memory>
#include <string>
#include <vector>

#include "adapters/adapter.h"
#include "adapters/tensorrt/libraries.h"

namespace nl::adapters::tensorrt {

// precision: as SessionOptions'. Throws Error(kUsage) for one that this GPU or this TensorRT lacks.
void check_precision(const nvinfer1::IBuilder& builder, const std::string& precision);

// Flags for createNetworkV2(): strongly typed (the types of the model stay) where no precision was asked for.
nvinfer1::NetworkDefinitionCreationFlags network_flags(const std::string& precision);

void set_precision(nvinfer1::IBuilderConfig& config, const std::string& precision);

// An ONNX file as TensorRT reads it, from which an engine is built once the shapes of the inputs are known.
class Network {
 public:
  // Throws Error(kInput) with the parser's own lines, Error(kUsage) where the GPU lacks the precision.
  Network(const InferLibrary& library, const SessionOptions& options, Log& log);

  std::vector<TensorSpec> inputs() const;
  std::vector<TensorSpec> outputs() const;

  // The engine for inputs of these shapes, and for no others: TensorRT chooses its kernels for them. It takes seconds to many minutes. The
  // bytes are kept in options.scratch and taken from there the next time, as a second build could choose other kernels.
  std::vector<char> engine_for(const std::vector<Tensor>& inputs);

 private:
  std::unique_ptr<nvinfer1::IBuilderConfig> configuration(const std::vector<Tensor>& inputs);
  void set_shapes(const std::vector<Tensor>& inputs, nvinfer1::IBuilderConfig& config);
  [[noreturn]] void refuse_shape(const Tensor& input);
  std::vector<char> build(const std::vector<Tensor>& inputs);
  void parse();

  const SessionOptions options_;
  Log& log_;
  std::unique_ptr<nvinfer1::IBuilder> builder_;
  std::unique_ptr<nvinfer1::INetworkDefinition> network_;
  std::unique_ptr<nvonnxparser::IParser> parser_;  // holds the weights, so it lives as long as the network
};

}  // namespace nl::adapters::tensorrt
