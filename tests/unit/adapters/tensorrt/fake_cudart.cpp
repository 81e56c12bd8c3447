// What nl-stage calls of libcudart.so, on the host's memory.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>

#include "tests/unit/adapters/tensorrt/fake_model.h"

namespace {

std::size_t memory_left = std::size_t{1} << 30;
int the_stream = 0;

}  // namespace

namespace nl::fake {

void set_memory(std::size_t bytes) { memory_left = bytes; }

}  // namespace nl::fake

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) { return *count = nl::fake::is_kind("no-gpu") ? 0 : 1, cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorIllegalAddress ? "an illegal memory access was encountered" : "out of memory";
}

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  if (bytes > memory_left) return cudaErrorMemoryAllocation;
  return *address = std::malloc(bytes), cudaSuccess;
}
cudaError_t cudaFree(void* address) { return std::free(address), cudaSuccess; }
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  return std::memcpy(to, from, bytes), cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return *stream = reinterpret_cast<cudaStream_t>(&the_stream), cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
}
