#include <cstdlib>

#include "tests/unit/adapters/tensorrt/fake_engine.h"

namespace nl::fake {
namespace {

class Runtime : public Played<nvinfer1::IRuntime, nvinfer1::stubs::Runtime> {
 public:
  explicit Runtime(nvinfer1::ILogger& log) : log_(log) {}

  using nvinfer1::stubs::Runtime::deserializeCudaEngine;
  nvinfer1::ICudaEngine* deserializeCudaEngine(const void* bytes, std::size_t size) noexcept override {
    Model model = model_of(std::string(static_cast<const char*>(bytes), size));
    if (model.kind != "engine")
      return refuse(
          "IRuntime::deserializeCudaEngine: Error Code 1: Serialization (Serialization assertion stdVersionRead == kSERIALIZATION_VERSION "
          "failed.)");
    if (model.version != std::to_string(NV_TENSORRT_MAJOR))
      return refuse("The engine plan file is not compatible with this version of TensorRT, please rebuild.");
    return new Engine(std::move(model), log_);
  }

 private:
  nvinfer1::ICudaEngine* refuse(const char* line) {
    log_error(log_, line);
    log_error(log_, line);  // TensorRT repeats itself
    return nullptr;
  }

  nvinfer1::ILogger& log_;
};

}  // namespace
}  // namespace nl::fake

extern "C" void* createInferRuntime_INTERNAL(void* log, std::int32_t) noexcept {
  return static_cast<nvinfer1::IRuntime*>(new nl::fake::Runtime(*static_cast<nvinfer1::ILogger*>(log)));
}

extern "C" std::int32_t getInferLibVersion() noexcept { return nl::fake::is_kind("8601") ? 8601 : NV_TENSORRT_VERSION; }
