#pragma once

#include <NvInferVersion.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "adapters/adapter.h"
#include "model/error.h"
#include "tests/unit/files.h"

namespace nl::test {

// A folder with the stand-in under the names of TensorRT's libraries, for as long as the scene lasts.
struct TensorRtScene {
  explicit TensorRtScene(const char* kind = "") {
    const std::string major = "." + std::to_string(NV_TENSORRT_MAJOR);
    for (const std::string& name : {"libnvinfer.so" + major, "libnvonnxparser.so" + major, std::string("libcudart.so.13")})
      std::filesystem::create_symlink(NL_BUILD_ROOT "/tests/unit/adapters/tensorrt/libfake_tensorrt.so", folder.path / name);
    std::filesystem::create_directory(scratch());
    ::setenv("NL_STAGE_TENSORRT", folder.path.c_str(), 1);
    ::setenv("NL_FAKE_TENSORRT", kind, 1);
  }
  ~TensorRtScene() {
    ::unsetenv("NL_STAGE_TENSORRT");
    ::unsetenv("NL_FAKE_TENSORRT");
  }

  std::filesystem::path scratch() const { return folder / "scratch"; }

  adapters::SessionOptions options(const char* file, const std::string& text) const {
    adapters::SessionOptions options;
    options.model = folder.file(file, text);
    options.provider = "cuda";
    options.scratch = scratch();
    return options;
  }
  std::unique_ptr<adapters::Session> open(const adapters::SessionOptions& options) const { return adapter->open(options); }
  std::unique_ptr<adapters::Session> open(const char* file, const std::string& text) const { return open(options(file, text)); }

  std::string built_engine() const {
    for (const auto& entry : std::filesystem::directory_iterator(scratch())) return read_text(entry.path());
    return {};
  }

  Folder folder;
  std::unique_ptr<adapters::Adapter> adapter = adapters::tensorrt_adapter();
};

inline adapters::Tensor float_tensor(const char* name, std::vector<std::int64_t> shape, const std::vector<float>& values) {
  adapters::Tensor tensor{name, "float32", std::move(shape), std::vector<std::byte>(values.size() * sizeof(float))};
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

inline std::vector<float> floats_of(const adapters::Tensor& tensor) {
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

inline std::string engine_head() { return "engine " + std::to_string(NV_TENSORRT_MAJOR) + "\n"; }

}  // namespace nl::test
