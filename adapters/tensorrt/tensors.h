#pragma once

#include <NvInfer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/adapter.h"

namespace nl::adapters::tensorrt {

// "float32", "bfloat16" …; "float8" and the like for types that NumPy has no name for.
std::string dtype_name(nvinfer1::DataType type);

// Bytes of so many values, those smaller than a byte packed.
std::size_t bytes_for(nvinfer1::DataType type, std::size_t values);

std::vector<std::int64_t> shape_of(const nvinfer1::Dims& dims);
bool has_open_size(const nvinfer1::Dims& dims);
nvinfer1::Dims dims_of(const std::vector<std::int64_t>& shape);

TensorSpec spec_of(const nvinfer1::ITensor& tensor);                          // of a network: open dimensions have ONNX's symbols
TensorSpec spec_of(const nvinfer1::ICudaEngine& engine, const char* tensor);  // of an engine: symbols are lost

}  // namespace nl::adapters::tensorrt
