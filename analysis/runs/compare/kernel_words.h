#pragma once

#include <set>
#include <string>
#include <string_view>

// What the name of a kernel says, for finding the same kernel under another name.
namespace nl::analysis {

using NameWords = std::set<std::string>;

// The words of a name in lower case, split at signs, at underscores and before capitals: "MulFunctor<float>" → {mul, functor, float}.
NameWords words_of_kernel(std::string_view name);

// The function with its namespaces, without template arguments and parameters:
// "void at::native::reduce_kernel<512, 1>(T3)" → "at::native::reduce_kernel". Of a symbol without any it is the whole name.
std::string kernel_root(std::string_view name);

// The operators that a compiler says it fused into the kernel: "triton_poi_fused_add_mul_3" → {add, mul}. Empty: it says nothing.
NameWords fused_operators(std::string_view name);

// How much two sets have in common, 0..1: what both have, of what either has.
double likeness(const NameWords& a, const NameWords& b);
bool share_any(const NameWords& a, const NameWords& b);

}  // namespace nl::analysis
