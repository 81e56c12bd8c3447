#pragma once

#include <cstdint>
#include <string_view>

namespace nl::analysis {

// Which way through the model a kernel or an operator computes.
enum class Direction : std::uint8_t {
  kUnknown,
  kForward,
  kBackward,        // gradients, of whatever
  kDataGradient,    // of a layer's inputs: dgrad
  kWeightGradient,  // wgrad
};

// As far as the name tells: names of cuDNN, CUTLASS, flash attention, Triton, Inductor, PyTorch (kernels and operators), Transformer
// Engine and JAX are known.
Direction direction_of(std::string_view name);

// Whether two known directions differ; what is not known differs from nothing.
bool opposed(Direction a, Direction b);

// Whether two kernels may do the same: a name that says nothing is that of a forward kernel, or of one that serves both ways, because
// libraries name their backward kernels.
bool same_direction(Direction a, Direction b);

}  // namespace nl::analysis
