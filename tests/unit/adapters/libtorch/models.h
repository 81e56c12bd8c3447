#pragma once

#include <filesystem>
#include <string>

#include "adapters/inputs.h"
#include "tests/unit/files.h"

// The models of tools/make-torchscript, which the build makes, and LibTorch to run them.
namespace nl::test {

inline std::filesystem::path torchscript(const std::string& name) {
  return std::filesystem::path(NL_BUILD_ROOT "/tests/unit/adapters/torch_models") / name;
}

inline const adapters::Adapter& libtorch() { return adapters::adapter_named("libtorch"); }

inline adapters::SessionOptions torch_options(const std::filesystem::path& model, bool profiled = false) {
  adapters::SessionOptions options;
  options.model = model;
  options.profiled = profiled;
  options.threads = 1;
  return options;
}

inline adapters::Tensor floats(const std::string& name, std::vector<std::int64_t> shape, const std::vector<float>& values) {
  adapters::Tensor tensor{name, "float32", std::move(shape), {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  tensor.data.assign(bytes, bytes + values.size() * sizeof(float));
  return tensor;
}

// shapes: {{"x", "2x16"}, {"ids", "2x5:int64"}}
inline std::vector<adapters::Tensor> random_inputs(const adapters::Session& session, const std::map<std::string, std::string>& shapes) {
  adapters::GivenShapes given;
  for (const auto& [name, text] : shapes) given[name] = adapters::parse_shape(text);
  return adapters::make_inputs(session.inputs(), "random", 7, {}, given);
}

}  // namespace nl::test

#define NL_NEEDS_LIBTORCH()                                               \
  do {                                                                    \
    const auto availability = ::nl::test::libtorch().availability();      \
    if (!availability.loads) NL_SKIP("LibTorch: " + availability.reason); \
  } while (false)
