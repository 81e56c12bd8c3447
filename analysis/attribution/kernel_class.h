#pragma once

#include <cstdint>
#include <string_view>

namespace nl::analysis {

enum class KernelClass : std::uint8_t { kGemm, kAttention, kElementwise, kCopy, kCacheCopy, kReduce, kNorm, kOther };

// What a kernel does, as far as its demangled name tells: the names of PyTorch, cuBLAS, cuDNN, CUTLASS, flash
// attention, Triton (as Inductor names its kernels), vLLM, ggml and of workloads/ are known. kCacheCopy is a copy
// as a KV cache needs it: concatenating, index_put, cache writers. kOther where the name says nothing.
KernelClass classify_kernel(std::string_view name);

// The two halves of rotate_half(x) = cat(-x2, x1) of a rotary embedding: a concatenation right after a negation is no copy of
// a KV cache.
bool negates(std::string_view name);
bool concatenates(std::string_view name);

}  // namespace nl::analysis
