#pragma once

#include <optional>
#include <string_view>

#include "model/codes.h"

namespace nl::analysis {

// What a kernel does, as far as its demangled name tells: the names of PyTorch, cuBLAS, cuDNN, CUTLASS, flash
// attention, Triton (as Inductor names its kernels), vLLM, ggml and of workloads/ are known. kCacheCopy is a copy
// as a KV cache needs it: concatenating, index_put, cache writers. kOther where the name says nothing.
KernelClass classify_kernel(std::string_view name);

// The two halves of rotate_half(x) = cat(-x2, x1) of a rotary embedding: a concatenation right after a negation does not
// copy a KV cache.
bool negates(std::string_view name);
bool concatenates(std::string_view name);
bool is_softmax(std::string_view name);

// A matrix product of the experts of a mixture of experts, each with the tokens that came to it: the grouped products of CUTLASS, cuBLAS, Triton and
// DeepGEMM, and the fused ones of vLLM, SGLang and TensorRT-LLM. False where the name says nothing.
bool is_expert_product(std::string_view name);

// The function itself, without its return type, namespaces, template arguments and parameters: a functor among
// the arguments may be named after anything. "void at::native::<unnamed>::reduce_kernel<…>(T3)" → "reduce_kernel"
std::string_view kernel_function(std::string_view name);

// Which kind of communication, of a kernel that does any: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(…)" → kAllReduce.
Collective collective_of(std::string_view name);

// The range that NCCL marks a call of a collective with: "ncclAllReduce". Nothing: it is another range.
std::optional<Collective> collective_of_call(std::string_view range);

}  // namespace nl::analysis
