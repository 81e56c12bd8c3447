#pragma once

#include <string>
#include <string_view>

namespace nl::parsers {

// What the mangled name of a kernel says, as the C++ library writes it; the name itself where it is none (C
// kernels, Triton's). nsys has a demangler of its own and writes the same name in other words: join on the
// mangled one.
std::string demangled_kernel(const std::string& mangled);

// "void at::native::reduce_kernel<512, 1, …>(…)" → "reduce_kernel", as nsys' shortName.
std::string_view kernel_base_name(std::string_view demangled);

}  // namespace nl::parsers
