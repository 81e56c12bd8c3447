#include "adapters/adapter.h"
#include "tests/unit/adapters/thrown.h"
#include "tests/unit/files.h"

using namespace nl;
using namespace nl::adapters;
using namespace nl::test;

TEST_CASE("the registry has each backend once, the one for tests last") {
  std::vector<std::string> names;
  for (const auto& adapter : registry()) names.push_back(adapter->name());
  CHECK(names == std::vector<std::string>{"onnxruntime", "libtorch", "tensorrt", "fake"});
  for (const auto& adapter : registry()) CHECK(adapter->for_tests() == (adapter->name() == "fake"));
}

TEST_CASE("a backend that does not load here says why") {
  for (const auto& adapter : registry()) {
    const Availability found = adapter->availability();
    CHECK(found.loads == found.reason.empty());
  }
}

TEST_CASE("a name that no backend has is refused with those that are there, without the one for tests") {
  const Error error = thrown_by([] { adapter_named("onnx"); });
  CHECK(error.kind == ErrorKind::kUsage);
  CHECK(error.message == "there is no backend \"onnx\"");
  CHECK(error.fix == "give one of: onnxruntime, libtorch, tensorrt");
}

TEST_CASE("a backend that nl-stage was built without opens nothing and says how to build it") {
  const auto adapter = not_built("engine", "Engine", "install its headers");
  CHECK_FALSE(adapter->availability().built_in);
  CHECK(adapter->availability().reason == "nl-stage was built without it; install its headers");
  const Error error = thrown_by([&] { adapter->open({}); });
  CHECK(error.kind == ErrorKind::kTool);
  CHECK(error.message == "nl-stage was built without Engine");
  CHECK(error.fix == "install its headers");
}
