#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>

namespace nl::adapters::tensorrt {

// The few functions of libcudart.so that a session needs; TensorRT has its own copy inside and takes our streams and pointers.
class CudaRuntime {
 public:
  CudaRuntime();  // throws Error(kTool) where there is no library or no GPU

  // Throws Error(kWorkload) where a call failed. doing: "copying input ids"
  void check(cudaError_t status, const std::string& doing) const;
  int device() const;

  decltype(&cudaMalloc) allocate = nullptr;
  decltype(&cudaFree) free = nullptr;
  decltype(&cudaMemcpyAsync) copy = nullptr;
  decltype(&cudaStreamCreateWithFlags) make_stream = nullptr;
  decltype(&cudaStreamDestroy) end_stream = nullptr;
  decltype(&cudaStreamSynchronize) wait = nullptr;

 private:
  decltype(&cudaGetDevice) get_device_ = nullptr;
  decltype(&cudaGetDeviceCount) count_devices_ = nullptr;
  decltype(&cudaGetErrorString) error_text_ = nullptr;
};

// A stream that waits for no other.
class CudaStream {
 public:
  explicit CudaStream(const CudaRuntime& cuda);
  ~CudaStream();
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  cudaStream_t get() const { return stream_; }
  void wait(const std::string& doing) const;

 private:
  const CudaRuntime& cuda_;
  cudaStream_t stream_ = nullptr;
};

class DeviceMemory {
 public:
  DeviceMemory(const CudaRuntime& cuda, std::size_t bytes, const std::string& what);  // throws Error(kWorkload) where it does not fit
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* get() const { return address_; }
  std::size_t bytes() const { return bytes_; }

 private:
  const CudaRuntime& cuda_;
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace nl::adapters::tensorrt
