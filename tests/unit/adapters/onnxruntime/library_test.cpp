#include "adapters/onnxruntime/library.h"

#include "tests/unit/adapters/onnxruntime/models.h"
#include "tests/unit/adapters/thrown.h"

using namespace nl;
using namespace nl::adapters;
using namespace nl::test;

TEST_CASE("a library that is too old is refused with its version and ours") {
  const Error error = thrown_by([] { load_onnxruntime(NL_BUILD_ROOT "/tests/unit/adapters/libold_onnxruntime.so"); });
  CHECK(error.kind == ErrorKind::kTool);
  CHECK(has(error.message, "this is ONNX Runtime 1.4.2; nl-stage needs 1.17 or newer"));
  CHECK(has(error.where, "libold_onnxruntime.so"));
  CHECK(has(error.fix, "NL_STAGE_ONNXRUNTIME"));
}

TEST_CASE("another library, and a file that is none, are refused") {
  Folder folder;
  const auto text = folder.file("libonnxruntime.so", "hello");
  CHECK(has(thrown_by([&] { load_onnxruntime(text); }).message, "does not load"));
  CHECK(thrown_by([&] { load_onnxruntime(text); }).where == text.string());
  CHECK(has(thrown_by([] { load_onnxruntime("libc.so.6"); }).message, "no OrtGetApiBase"));
  CHECK(thrown_by([] { load_onnxruntime("/nonexistent/libonnxruntime.so"); }).kind == ErrorKind::kTool);
}

TEST_CASE("the library that is found has a version, a path and the CPU") {
  NL_NEEDS_ONNXRUNTIME();
  const Availability found = onnxruntime().availability();
  CHECK(has(found.version, "1."));
  CHECK(std::filesystem::exists(found.library));
  CHECK(found.providers.at(0) == "cpu");
}
