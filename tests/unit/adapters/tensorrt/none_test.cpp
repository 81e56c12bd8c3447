#include "adapters/adapter.h"
#include "model/error.h"
#include "tests/catch.h"

using namespace nl;

TEST_CASE("without TensorRT's headers the backend says how it is built in", "[tensorrt]") {
  const auto adapter = adapters::tensorrt_adapter();
  CHECK_FALSE(adapter->availability().built_in);
  CHECK(adapter->availability().reason.find("-Dtensorrt_include") != std::string::npos);
  CHECK_THROWS_AS(adapter->open({}), Error);
}

TEST_CASE("TensorRT against a stand-in for its library", "[tensorrt]") { NL_SKIP("no headers of TensorRT: give -Dtensorrt_include=DIR"); }
