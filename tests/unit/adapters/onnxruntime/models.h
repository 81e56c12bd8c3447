#pragma once

#include <filesystem>
#include <string>

#include "adapters/adapter.h"
#include "adapters/measure.h"
#include "tests/unit/files.h"

// The models of tools/make-models, which the build makes, and ONNX Runtime to run them.
namespace nl::test {

inline std::filesystem::path made_model(const std::string& name) {
  return std::filesystem::path(NL_BUILD_ROOT "/tests/unit/adapters/models") / name;
}

inline const adapters::Adapter& onnxruntime() { return adapters::adapter_named("onnxruntime"); }

// On one thread, so that the tests that run beside it do not matter.
inline std::unique_ptr<adapters::Session> opened_session(const std::filesystem::path& model, const Folder& scratch, bool profiled = false) {
  adapters::SessionOptions options;
  options.model = model;
  options.scratch = scratch.path;
  options.profiled = profiled;
  options.threads = 1;
  return onnxruntime().open(options);
}

inline adapters::MeasureOptions measure_options(const std::filesystem::path& model, const Folder& scratch) {
  adapters::MeasureOptions options;
  options.session.model = model;
  options.session.scratch = scratch.path;
  options.session.threads = 1;
  options.iterations = 3;
  options.warmup = 1;
  options.dims = {{"batch", 2}, {"seq", 5}, {"past", 3}};
  return options;
}

}  // namespace nl::test

#define NL_NEEDS_ONNXRUNTIME()                                                \
  do {                                                                        \
    const auto availability = ::nl::test::onnxruntime().availability();       \
    if (!availability.loads) NL_SKIP("ONNX Runtime: " + availability.reason); \
  } while (false)
