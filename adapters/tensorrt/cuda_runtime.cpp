#include "adapters/tensorrt/cuda_runtime.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "adapters/tensorrt/libraries.h"
#include "model/error.h"

namespace nl::adapters::tensorrt {

CudaRuntime::CudaRuntime() {
  std::string path, trouble;
  // TensorRT's own folder rarely holds it.
  std::vector<std::string> folders = library_folders();
  folders.insert(folders.end(), {"", "/usr/local/cuda/lib64"});
  void* library = open_library(folders, {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so"}, path, trouble);
  if (library == nullptr)
    throw Error(ErrorKind::kTool, "the CUDA runtime is not here", trouble,
                "set NL_STAGE_TENSORRT to a folder that holds libcudart.so too, or add its folder to LD_LIBRARY_PATH");
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr)
      throw Error(ErrorKind::kTool, fmt::format("the CUDA runtime lacks {}", name), path, "install another version of it");
  };
  find(allocate, "cudaMalloc");
  find(free, "cudaFree");
  find(copy, "cudaMemcpyAsync");
  find(make_stream, "cudaStreamCreateWithFlags");
  find(end_stream, "cudaStreamDestroy");
  find(wait, "cudaStreamSynchronize");
  find(get_device_, "cudaGetDevice");
  find(count_devices_, "cudaGetDeviceCount");
  find(error_text_, "cudaGetErrorString");
  int devices = 0;
  if (const cudaError_t failed = count_devices_(&devices); failed != cudaSuccess || devices == 0)
    throw Error(ErrorKind::kTool, "there is no GPU that CUDA can use", failed != cudaSuccess ? error_text_(failed) : path,
                "nl-stage doctor checks the driver and the GPU");
}

void CudaRuntime::check(cudaError_t status, const std::string& doing) const {
  if (status == cudaSuccess) return;
  if (status == cudaErrorMemoryAllocation)
    throw Error(ErrorKind::kWorkload, "the GPU's memory does not suffice", doing,
                "give smaller sizes (--batch, --seq, --dim), or end other programs on this GPU");
  throw Error(ErrorKind::kWorkload, fmt::format("CUDA failed: {}", error_text_(status)), doing);
}

int CudaRuntime::device() const {
  int device = 0;
  check(get_device_(&device), "asking which GPU is used");
  return device;
}

CudaStream::CudaStream(const CudaRuntime& cuda) : cuda_(cuda) {
  cuda.check(cuda.make_stream(&stream_, cudaStreamNonBlocking), "making a stream");
}

CudaStream::~CudaStream() { cuda_.end_stream(stream_); }

void CudaStream::wait(const std::string& doing) const { cuda_.check(cuda_.wait(stream_), doing); }

DeviceMemory::DeviceMemory(const CudaRuntime& cuda, std::size_t bytes, const std::string& what) : cuda_(cuda), bytes_(bytes) {
  // An empty tensor needs an address too.
  cuda.check(cuda.allocate(&address_, std::max<std::size_t>(bytes, 1)), fmt::format("{}: {} bytes", what, bytes));
}

DeviceMemory::~DeviceMemory() { cuda_.free(address_); }

}  // namespace nl::adapters::tensorrt
