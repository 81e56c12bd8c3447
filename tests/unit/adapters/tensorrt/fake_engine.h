#pragma once

#include <map>
#include <string>
#include <vector>

#include "stub_interfaces.h"
#include "tests/unit/adapters/tensorrt/fake_model.h"

namespace nl::fake {

// An object of TensorRT is a shell that calls its implementation; here it is both.
template <class Interface, class Stub>
class Played : public Interface, public Stub {
 public:
  Played() { this->mImpl = this; }
};

class Bytes : public Played<nvinfer1::IHostMemory, nvinfer1::stubs::HostMemory> {
 public:
  explicit Bytes(std::string text) : text_(std::move(text)) {}
  void* data() const noexcept override { return const_cast<char*>(text_.data()); }
  std::size_t size() const noexcept override { return text_.size(); }

 private:
  std::string text_;
};

class Engine : public Played<nvinfer1::ICudaEngine, nvinfer1::stubs::CudaEngine> {
 public:
  Engine(Model model, nvinfer1::ILogger& log) : model(std::move(model)), log(log) {}

  std::int32_t getNbLayers() const noexcept override { return static_cast<std::int32_t>(model.layers.size()); }
  std::int32_t getNbIOTensors() const noexcept override { return static_cast<std::int32_t>(model.tensors.size()); }
  const char* getIOTensorName(std::int32_t index) const noexcept override { return model.tensors[index].name.c_str(); }
  nvinfer1::Dims getTensorShape(const char* name) const noexcept override { return model.tensor(name)->dims; }
  nvinfer1::DataType getTensorDataType(const char* name) const noexcept override { return model.tensor(name)->type; }
  nvinfer1::TensorLocation getTensorLocation(const char*) const noexcept override { return nvinfer1::TensorLocation::kDEVICE; }
  nvinfer1::TensorIOMode getTensorIOMode(const char* name) const noexcept override;
  nvinfer1::TensorFormat getTensorFormat(const char*) const noexcept override;
  const char* getTensorFormatDesc(const char*) const noexcept override { return "Channel major FP32 format where channel % 4 == 0"; }
  std::int32_t getNbOptimizationProfiles() const noexcept override;
  nvinfer1::Dims getProfileShape(const char* name, std::int32_t profile, nvinfer1::OptProfileSelector bound) const noexcept override;
  nvinfer1::IExecutionContext* createExecutionContext(nvinfer1::ExecutionContextAllocationStrategy) noexcept override;
  nvinfer1::IEngineInspector* createEngineInspector() const noexcept override;

  const Model model;
  nvinfer1::ILogger& log;
};

// Each value of an output is the sum of all inputs (they are float32).
class Context : public Played<nvinfer1::IExecutionContext, nvinfer1::stubs::ExecutionContext> {
 public:
  explicit Context(const Engine& engine) : engine_(engine) {}

  void setProfiler(nvinfer1::IProfiler* profiler) noexcept override { profiler_ = profiler; }
  void setEnqueueEmitsProfile(bool emits) noexcept override { emits_ = emits; }
  bool setOptimizationProfileAsync(std::int32_t profile, cudaStream_t) noexcept override { return profile_ = profile, true; }
  bool setInputShape(const char* name, const nvinfer1::Dims& dims) noexcept override;
  nvinfer1::Dims getTensorShape(const char* name) const noexcept override;
  bool setTensorAddress(const char* name, void* address) noexcept override { return addresses_[name] = address, true; }
  bool setOutputAllocator(const char* name, nvinfer1::IOutputAllocator* allocator) noexcept override {
    return allocators_[name] = allocator, true;
  }
  std::int32_t inferShapes(std::int32_t, const char**) noexcept override { return 0; }
  bool enqueueV3(cudaStream_t stream) noexcept override;
  bool reportToProfiler() const noexcept override;

 private:
  bool write_output(const TensorLine& output, float value, cudaStream_t stream);
  float sum_of_inputs() const;
  void tell_profiler() const;

  const Engine& engine_;
  nvinfer1::IProfiler* profiler_ = nullptr;
  bool emits_ = true;
  std::int32_t profile_ = 0;
  std::int64_t iterations_ = 0;
  std::map<std::string, nvinfer1::Dims> shapes_;
  std::map<std::string, void*> addresses_;
  std::map<std::string, nvinfer1::IOutputAllocator*> allocators_;
};

void log_error(nvinfer1::ILogger& log, const std::string& line);

}  // namespace nl::fake
