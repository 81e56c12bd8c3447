#pragma once

#include <NvInfer.h>

#include <vector>

#include "adapters/adapter.h"

namespace nl::adapters::tensorrt {

// The engine's first optimisation profile whose range has the shapes of all inputs. Throws Error(kUsage) that names the input and its range.
std::int32_t profile_for(const nvinfer1::ICudaEngine& engine, const std::vector<Tensor>& inputs);

}  // namespace nl::adapters::tensorrt
