#include "adapters/tensorrt/tensors.h"

#include <algorithm>
#include <map>

namespace nl::adapters::tensorrt {
namespace {

struct TypeFacts {
  const char* name;
  std::size_t bits;
};

// Types that later releases add are met as numbers, so that older headers do.
const std::map<int, TypeFacts>& type_facts() {
  static const std::map<int, TypeFacts> kFacts = {{0, {"float32", 32}}, {1, {"float16", 16}}, {2, {"int8", 8}},    {3, {"int32", 32}},
                                                  {4, {"bool", 8}},     {5, {"uint8", 8}},    {6, {"float8", 8}},  {7, {"bfloat16", 16}},
                                                  {8, {"int64", 64}},   {9, {"int4", 4}},     {10, {"float4", 4}}, {11, {"e8m0", 8}}};
  return kFacts;
}

}  // namespace

std::string dtype_name(nvinfer1::DataType type) {
  const auto found = type_facts().find(static_cast<int>(type));
  return found == type_facts().end() ? "type " + std::to_string(static_cast<int>(type)) : found->second.name;
}

std::size_t bytes_for(nvinfer1::DataType type, std::size_t values) {
  const auto found = type_facts().find(static_cast<int>(type));
  return ((found == type_facts().end() ? 64 : found->second.bits) * values + 7) / 8;
}

std::vector<std::int64_t> shape_of(const nvinfer1::Dims& dims) { return {dims.d, dims.d + std::max(dims.nbDims, 0)}; }

bool has_open_size(const nvinfer1::Dims& dims) {
  const std::vector<std::int64_t> shape = shape_of(dims);
  return std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 0; });
}

nvinfer1::Dims dims_of(const std::vector<std::int64_t>& shape) {
  nvinfer1::Dims dims{};
  dims.nbDims = static_cast<std::int32_t>(std::min<std::size_t>(shape.size(), nvinfer1::Dims::MAX_DIMS));
  std::copy_n(shape.begin(), dims.nbDims, dims.d);
  return dims;
}

TensorSpec spec_of(const nvinfer1::ITensor& tensor) {
  TensorSpec spec;
  spec.name = tensor.getName();
  spec.dtype = dtype_name(tensor.getType());
  const nvinfer1::Dims dims = tensor.getDimensions();
  spec.shape_known = dims.nbDims >= 0;
  for (std::int32_t axis = 0; axis < dims.nbDims; ++axis) {
    const char* symbol = dims.d[axis] < 0 ? tensor.getDimensionName(axis) : nullptr;
    spec.shape.push_back({dims.d[axis], symbol == nullptr ? "" : symbol});
  }
  return spec;
}

TensorSpec spec_of(const nvinfer1::ICudaEngine& engine, const char* tensor) {
  TensorSpec spec;
  spec.name = tensor;
  spec.dtype = dtype_name(engine.getTensorDataType(tensor));
  const nvinfer1::Dims dims = engine.getTensorShape(tensor);
  spec.shape_known = dims.nbDims >= 0;
  for (const std::int64_t size : shape_of(dims)) spec.shape.push_back({size, ""});
  return spec;
}

}  // namespace nl::adapters::tensorrt
