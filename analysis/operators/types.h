#pragma once

#include <string_view>

#include "model/codes.h"

namespace nl::analysis {

// What an operator does, by its name in PyTorch ("aten::mm", "vllm::unified_attention"), ONNX ("Gemm"), TensorRT
// ("MatrixMultiply") or Triton ("triton_poi_fused_add_0"). Choosing a token (argmax, topk, multinomial) is sampling; making or filling
// a tensor is elementwise, for it is a kernel; what only looks at one in another way is shape.
OperatorType operator_type(std::string_view name);

}  // namespace nl::analysis
