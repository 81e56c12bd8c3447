#pragma once

#include <NvInfer.h>

#include <string>

namespace nl::adapters::tensorrt {

// precision: as SessionOptions'. Throws Error(kUsage) for one that this GPU or this TensorRT lacks.
void check_precision(const nvinfer1::IBuilder& builder, const std::string& precision);

// Flags for createNetworkV2(): strongly typed, which is the types that the model has, where no precision was asked for.
nvinfer1::NetworkDefinitionCreationFlags network_flags(const std::string& precision);

void set_precision(nvinfer1::IBuilderConfig& config, const std::string& precision);

}  // namespace nl::adapters::tensorrt
