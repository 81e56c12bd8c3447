#include "parsers/cuda_names.h"

#include <filesystem>

#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"

using namespace nl;
using namespace nl::parsers;

TEST_CASE("short names of a real capture's kernels are those that nsys gives them") {
  Trace trace = read_nsys_sqlite(std::filesystem::path(NL_FIXTURES) / "h200-llama/nsys.sqlite");
  REQUIRE(trace.shapes.size() > 40);
  for (const KernelShape& shape : trace.shapes) {
    std::string name = demangled_kernel(trace.strings[shape.mangled_name]);
    CHECK(std::string(kernel_base_name(name)) == trace.strings[shape.short_name]);
  }
}

TEST_CASE("names that are not mangled stay as they are") {
  for (const char* name : {"", "triton_poi_fused_add_0", "_Z", "_Znonsense", "nvjet_sm90_tst_8x64"}) CHECK(demangled_kernel(name) == name);
  CHECK(kernel_base_name("triton_poi_fused_add_0") == "triton_poi_fused_add_0");
  CHECK(kernel_base_name("") == "");
}

TEST_CASE("templates, namespaces and operators") {
  CHECK(kernel_base_name("void a::b<c::d>::e<1, f(int)>(g<h>*)") == "e");
  CHECK(kernel_base_name("void (anonymous namespace)::k<int>(int)") == "k");
  CHECK(kernel_base_name("a::(anonymous namespace)::k(int)") == "k");
  CHECK(kernel_base_name("void k<(x)1>(int)") == "k");
  CHECK(kernel_base_name("((<<>>") != "x");  // whatever it gives, it comes back
}
