#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/trace.h"

namespace nl::parsers {

// A kernel's mangled name, demangled as the C++ library writes it; the name itself where it is not mangled (C
// kernels, Triton's). nsys has a demangler of its own and writes the same name in other words: join on the
// mangled one.
std::string demangled_kernel(const std::string& mangled);

// "void at::native::reduce_kernel<512, 1, …>(…)" → "reduce_kernel", as nsys' shortName.
std::string_view kernel_base_name(std::string_view demangled);

// CUPTI's numbers of the directions of a copy, which nsys' tables and the collector's files use.
MemOpKind copy_kind(std::int64_t number);
// "[CUDA memcpy Host-to-Device]", as nsys names it.
std::string copy_label(std::int64_t number);

}  // namespace nl::parsers
