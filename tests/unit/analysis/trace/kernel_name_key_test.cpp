#include <utility>

#include "analysis/trace/kernel_names.h"
#include "tests/catch.h"

using namespace nl::analysis;

TEST_CASE("kernel name keys: what is left out, and what stays") {
  const std::pair<const char*, const char*> expected[] = {{"k", "k"},
                                                          {"void k(int)", "void k(int)"},
                                                          {"void  k ( int )", "void k(int)"},
                                                          {"void a::b::k(c::d *)", "void k(d*)"},
                                                          {"k<(int)4>", "k<4>"},
                                                          {"k<(Mode)-1>", "k<-1>"},
                                                          {"k<(unsigned long)2>", "k<2>"},
                                                          {"k<(a::b<c>)3>", "k<3>"},
                                                          {"k<(int)>", "k<(int)>"},
                                                          {"k<()4>", "k<()4>"},
                                                          {"k(int)", "k(int)"},
                                                          {"k(x)-", "k(x)-"},
                                                          {"k(x", "k(x"},
                                                          {"k(int)x", "k(int)x"},
                                                          {"k<true, false>", "k<1,0>"},
                                                          {"k<2ul, 3U, 4LL>", "k<2,3,4>"},
                                                          {"k<0x2u>", "k<0x2u>"},
                                                          {"k<truely>", "k<truely>"},
                                                          {"a_b$c", "a_b$c"},
                                                          {"<unnamed>::k", "k"},
                                                          {"(anonymous namespace)::k", "k"},
                                                          {"{anonymous}::k", "k"},
                                                          {"a::<unnamed>::k", "k"},
                                                          {"a::*", "a::*"},
                                                          {"k<{lambda(float)#1}>", "k<[lambda(float)(instance 1)]>"},
                                                          {"k<[lambda(float) (instance 1)]>", "k<[lambda(float)(instance 1)]>"},
                                                          {"k#1", "k#1"},
                                                          {"k}", "k}"},
                                                          {"", ""}};
  for (const auto& [name, key] : expected) {
    CAPTURE(name);
    CHECK(kernel_name_key(name) == key);
  }
}
