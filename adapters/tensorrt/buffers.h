#pragma once

#include <NvInfer.h>

#include <exception>
#include <memory>
#include <vector>

#include "adapters/adapter.h"
#include "adapters/tensorrt/cuda_runtime.h"

namespace nl::adapters::tensorrt {

// An input where the engine reads it: in the GPU's memory, or in ours where its values decide shapes.
class InputBuffer {
 public:
  InputBuffer(const CudaRuntime& cuda, const CudaStream& stream, Tensor tensor, bool on_host);
  void* address();

 private:
  Tensor tensor_;  // the copy to the GPU reads it until the stream is waited for
  std::unique_ptr<DeviceMemory> device_;
};

// An output. Where its shape depends on values, TensorRT asks for the memory while it runs.
class OutputBuffer : public nvinfer1::IOutputAllocator {
 public:
  OutputBuffer(const CudaRuntime& cuda, const nvinfer1::ICudaEngine& engine, const char* name);

  void attach(nvinfer1::IExecutionContext& context);  // once the shapes of the inputs are set
  Tensor result(const CudaStream& stream) const;      // of the last iteration
  void rethrow() const;                               // where memory did not suffice while TensorRT ran

  void* reallocateOutputAsync(const char* name, void* current, std::uint64_t size, std::uint64_t alignment,
                              cudaStream_t stream) noexcept override;
  void notifyShape(const char* name, const nvinfer1::Dims& dims) noexcept override;

 private:
  void* reserve(std::size_t bytes);

  const CudaRuntime& cuda_;
  const std::string name_;
  const nvinfer1::DataType type_;
  const bool on_host_;
  std::vector<std::int64_t> shape_;
  std::unique_ptr<DeviceMemory> device_;
  std::vector<std::byte> host_;
  std::exception_ptr failure_;
};

}  // namespace nl::adapters::tensorrt
