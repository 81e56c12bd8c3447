#include "adapters/tensorrt/shape_profiles.h"

#include <fmt/format.h>

#include "adapters/tensor_types.h"
#include "adapters/tensorrt/tensors.h"
#include "model/error.h"

namespace nl::adapters::tensorrt {
namespace {

using nvinfer1::OptProfileSelector;

bool within(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& least, const std::vector<std::int64_t>& most) {
  if (least.size() != shape.size() || most.size() != shape.size()) return false;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] < least[axis] || shape[axis] > most[axis]) return false;
  return true;
}

// A shape without open sizes is in no profile.
std::vector<std::int64_t> bound_of(const nvinfer1::ICudaEngine& engine, const Tensor& input, std::int32_t profile,
                                   OptProfileSelector bound) {
  const nvinfer1::Dims declared = engine.getTensorShape(input.name.c_str());
  return has_open_size(declared) ? shape_of(engine.getProfileShape(input.name.c_str(), profile, bound)) : shape_of(declared);
}

// An input that the profile does not fit; null where it fits all.
const Tensor* misfit(const nvinfer1::ICudaEngine& engine, const std::vector<Tensor>& inputs, std::int32_t profile) {
  for (const Tensor& input : inputs)
    if (!within(input.shape, bound_of(engine, input, profile, OptProfileSelector::kMIN),
                bound_of(engine, input, profile, OptProfileSelector::kMAX)))
      return &input;
  return nullptr;
}

}  // namespace

std::int32_t profile_for(const nvinfer1::ICudaEngine& engine, const std::vector<Tensor>& inputs) {
  const std::int32_t profiles = engine.getNbOptimizationProfiles();
  for (std::int32_t profile = 0; profile < profiles; ++profile)
    if (misfit(engine, inputs, profile) == nullptr) return profile;
  const Tensor* input = profiles > 0 ? misfit(engine, inputs, 0) : nullptr;
  if (input == nullptr) return 0;
  throw Error(ErrorKind::kUsage, fmt::format("the engine was not built for the shape {}", shape_text(input->shape)), "input " + input->name,
              fmt::format("give sizes from {} to {}, or build the engine for others",
                          shape_text(bound_of(engine, *input, 0, OptProfileSelector::kMIN)),
                          shape_text(bound_of(engine, *input, 0, OptProfileSelector::kMAX))));
}

}  // namespace nl::adapters::tensorrt
