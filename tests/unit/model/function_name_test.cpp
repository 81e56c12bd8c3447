#include "model/function_name.h"

#include "tests/catch.h"

using nl::is_template_library;
using nl::plain_function_name;

TEST_CASE("function names: without types, arguments and the compiler's suffixes") {
  const std::pair<const char*, const char*> names[] = {
      {"main", "main"},
      {"(anonymous namespace)::steer_wind(int)", "steer_wind"},
      {"(anonymous namespace)::Server::step(int) const [clone .cold]", "Server::step"},
      {"void relax<float, 3>(float*, std::vector<int, std::allocator<int> > const&)", "relax"},
      {"Grid<float>::at(int) const", "Grid::at"},
      {"virtual thunk to Grid::at(int)", "Grid::at"},
      {"gather.part.0", "gather"},
      {"gather.constprop.0.isra.0", "gather"},
      {"Text::append[abi:cxx11](char const*)", "Text::append"},
      {"outer(int)::Local::go()", "outer::Local::go"},
      {"decltype (x + y) add<int>(int)", "add"},
      {"operator new(unsigned long)", "operator new"},
      {"bool operator==<int>(Box<int> const&, Box<int> const&)", "operator=="},
      {"std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)", "std::operator<<"},
      {"Box<int>::operator()(int) const", "Box::operator()"},
      {"Box<int>::operator unsigned long() const", "Box::operator unsigned long"},
      {"Box<int>::operator->() const", "Box::operator->"},
      {"__libc_start_main", "__libc_start_main"},
      {"_ZN4half", "_ZN4half"},
      {"", ""},
  };
  for (const auto& [demangled, plain] : names) {
    INFO(demangled);
    CHECK(plain_function_name(demangled) == plain);
  }
}

TEST_CASE("function names: a lambda is of the function it is written in, also inside the standard library") {
  CHECK(plain_function_name("settle(std::vector<int>&)::{lambda(int, int)#1}::operator()(int, int) const") == "settle");
  CHECK(plain_function_name("Grid<float>::relax(int) const::{lambda(int)#2}::operator()(int) const") == "Grid::relax");
  CHECK(plain_function_name("void std::__introsort_loop<int*, long, settle(int)::{lambda(int, int)#1}>(int*, int*, long)") == "settle");
  CHECK(plain_function_name("std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run()") == "main");
  CHECK(plain_function_name("std::_Function_handler<void (), (anonymous namespace)::run(int, char)::{lambda()#1}>::_M_invoke("
                            "std::_Any_data const&)") == "run");
  CHECK(plain_function_name("std::__once_callable<std::call_once<void (*)()>(void (*)())::{lambda()#1}>::go()") ==
        "std::__once_callable::go");  // the library's own
}

TEST_CASE("function names: brackets that do not close, and nothing but brackets") {
  for (const char* text : {"f(((", "f<<<", "((", "{", "operator", "operator<", "a::", "::", "  ", "f() const::", "{lambda",
                           "std::f<{lambda", "'lambda'(int)", "->", ")>}]", "std::a<)::{lambda()#1}>"}) {
    INFO(text);
    CHECK_NOTHROW(plain_function_name(text));
  }
}

TEST_CASE("function names: what is compiled into a program from a library of templates is not its own") {
  for (const char* name : {"std::__introsort_loop", "__gnu_cxx::new_allocator::allocate", "thrust::sort", "operator new"})
    CHECK(is_template_library(name));
  for (const char* name : {"settle", "my::std::f", "stdlib_call", "cudaLaunchKernel"}) CHECK_FALSE(is_template_library(name));
}
