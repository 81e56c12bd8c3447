#pragma once

#include <string>
#include <string_view>

namespace nl {

// A demangled C++ function as a reader looks for it: without return type, parameters, template arguments and the compiler's suffixes. A
// lambda has the name of the function that it is written in. So has an instance of the standard library over a lambda: its body is
// usually compiled into it.
//
//   void std::__introsort_loop<int*, audit(int)::{lambda(int, int)#1}>(int*, int*)   audit
//   (anonymous namespace)::Server::step(int) const [clone .cold]                     Server::step
std::string plain_function_name(std::string_view demangled);

// Whether code of this name belongs to the C++ standard library, or to a library of templates that is compiled into the programs that
// use it. `name` is a plain one.
bool is_template_library(std::string_view name);

}  // namespace nl
