#pragma once

#include <string_view>

#include "model/codes.h"
#include "model/operator.h"

namespace nl::analysis {

// What an operator does, by its name in PyTorch ("aten::mm", "vllm::unified_attention"), ONNX ("Gemm"), TensorRT
// ("MatrixMultiply") or Triton ("triton_poi_fused_add_0"). Choosing a token (argmax, topk, multinomial) is sampling; making or filling
// a tensor is elementwise, for it is a kernel; what only looks at one in another way is shape; what runs a part of the model
// once, often or never is control flow.
OperatorType operator_type(std::string_view name);

// The same of a record: where the name of its operator says little (TensorRT's "kgen", a layer of which only the name is known),
// its kernels and then its node's name say more.
OperatorType type_of_call(const OperatorCall& call);

}  // namespace nl::analysis
