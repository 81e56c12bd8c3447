#include "orchestrator/machine/cuda_driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "model/error_code.h"

namespace nl::orchestrator {
namespace {

constexpr const char* kDriverFix = "nl-stage doctor says what is missing; --set perturbation.calibrate=off does without";

}  // namespace

LoadedLibrary::LoadedLibrary(const std::string& file, std::string title, std::string fix)
    : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)), file_(file), title_(std::move(title)), fix_(std::move(fix)) {
  if (handle_ == nullptr) throw CodedError(ErrorCode::kToolMissing, title_ + " was not found", dlerror(), fix_);
}

void* LoadedLibrary::symbol(const char* name) const {
  void* found = dlsym(handle_, name);
  if (found == nullptr) throw Error(ErrorKind::kTool, fmt::format("{} lacks {}", title_, name), file_, fix_);
  return found;
}

CudaDriver::CudaDriver(const std::filesystem::path& library) : library_(library.string(), "the CUDA driver", kDriverFix) {
  library_.find(init, "cuInit");
  library_.find(driver_version, "cuDriverGetVersion");
  library_.find(device_get, "cuDeviceGet");
  library_.find(device_name, "cuDeviceGetName");
  library_.find(device_uuid, "cuDeviceGetUuid");
  library_.find(context_retain, "cuDevicePrimaryCtxRetain");
  library_.find(context_set, "cuCtxSetCurrent");
  library_.find(module_load, "cuModuleLoadData");
  library_.find(function_get, "cuModuleGetFunction");
  library_.find(stream_create, "cuStreamCreate");
  library_.find(stream_wait, "cuStreamSynchronize");
  library_.find(event_create, "cuEventCreate");
  library_.find(event_record, "cuEventRecord");
  library_.find(event_elapsed, "cuEventElapsedTime");
  library_.find(allocate, "cuMemAlloc_v2");
  library_.find(free, "cuMemFree_v2");
  library_.find(allocate_pinned, "cuMemAllocHost_v2");
  library_.find(free_pinned, "cuMemFreeHost");
  library_.find(launch_kernel, "cuLaunchKernel");
  library_.find(copy_on_device, "cuMemcpyDtoDAsync_v2");
  library_.find(copy_to_device, "cuMemcpyHtoDAsync_v2");
  library_.find(copy_from_device, "cuMemcpyDtoHAsync_v2");
}

void CudaDriver::check(int result, const char* what) {
  if (result != 0)
    throw Error(ErrorKind::kTool, fmt::format("the CUDA driver does not {}", what), fmt::format("CUresult {}", result), kDriverFix);
}

CudaDriver::Handle CudaDriver::start(int device_number) const {
  int device = 0;
  Handle context = nullptr, stream = nullptr;
  check(init(0), "start");
  check(device_get(&device, device_number), "show a GPU");
  check(context_retain(&context, device), "make a context");
  check(context_set(context), "take its context");
  check(stream_create(&stream, 1), "make a stream");
  return stream;
}

}  // namespace nl::orchestrator
