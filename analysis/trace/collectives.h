#pragma once

#include <string_view>

#include "model/codes.h"

namespace nl::analysis {

// Whether a kernel talks to other GPUs, as far as its name tells: NCCL and RCCL, NVSHMEM and DeepEP, and the own
// all-reduce kernels of vLLM, TensorRT-LLM, FlashInfer and PyTorch's symmetric memory. In lower case; `function` is
// the part of the name that kernel_function() finds.
bool is_communication(std::string_view name, std::string_view function);

// Which kind, of a kernel that does: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(…)" → kAllReduce.
Collective collective_of(std::string_view name);

}  // namespace nl::analysis
