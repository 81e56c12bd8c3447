#include <string>
#include <utility>

#include "parsers/cuda_names.h"
#include "tests/catch.h"

using namespace nl::parsers;

TEST_CASE("base names with and without brackets") {
  const std::pair<const char*, const char*> expected[] = {{"k", "k"},
                                                          {"void k", "k"},
                                                          {"a::b::k", "k"},
                                                          {"void a::k", "k"},
                                                          {"a::(anonymous namespace)::k", "k"},
                                                          {"void k<int>", "k"},
                                                          {"void k<a<b>, c<d<e>>>", "k"},
                                                          {"void a<b::c>::k", "k"},
                                                          {"void k()", "k"},
                                                          {"k(int, a::b)", "k"},
                                                          {"void a::k<(anonymous namespace)::f>(int)", "k"},
                                                          {"(anonymous namespace)::k<1>(x)", "k"},
                                                          {"(int)", "(int)"},
                                                          {"a>b(int)", "a>b"}};
  for (const auto& [name, base] : expected) {
    CAPTURE(name);
    CHECK(std::string(kernel_base_name(name)) == base);
  }
}
