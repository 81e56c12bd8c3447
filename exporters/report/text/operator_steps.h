#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/operator.h"

namespace nl::exporters::report {

// An operator that no other calls, with all that it calls.
struct OuterCall {
  const OperatorCall* call = nullptr;
  std::optional<Ns> gpu_ns;
  std::vector<OperatorKernel> kernels;  // in the order of their launches
};
std::vector<OuterCall> outer_calls(const OperatorStep& step);

// "The median of 9 decode_step windows with operators: 658 operators, 187 kernels and copies, 0.400 ms of GPU time. …"
std::string step_text(const OperatorStep& step, std::size_t shown);

// "[[1, 2], [2, 3]] of [bfloat16, bfloat16]"
std::string typed_shapes(const std::string& shapes, const std::string& dtypes);

}  // namespace nl::exporters::report
