#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "orchestrator/machine/loaded_library.h"

// The CUDA driver, loaded at run time: nothing of CUDA is needed to build.
namespace nl::orchestrator {

// The driver's functions, by the names under which libcuda.so.1 exports them. Never unloaded: a tracer may have put itself into it.
class CudaDriver {
 public:
  explicit CudaDriver(const std::filesystem::path& library = "libcuda.so.1");

  using Handle = void*;
  struct Uuid {
    std::uint8_t bytes[16];
  };
  int (*init)(unsigned) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*device_uuid)(Uuid*, int) = nullptr;
  int (*context_retain)(Handle*, int) = nullptr;
  int (*context_set)(Handle) = nullptr;
  int (*module_load)(Handle*, const void*) = nullptr;
  int (*function_get)(Handle*, Handle, const char*) = nullptr;
  int (*stream_create)(Handle*, unsigned) = nullptr;
  int (*stream_wait)(Handle) = nullptr;
  int (*event_create)(Handle*, unsigned) = nullptr;
  int (*event_record)(Handle, Handle) = nullptr;
  int (*event_elapsed)(float*, Handle, Handle) = nullptr;
  int (*allocate)(std::uint64_t*, std::size_t) = nullptr;
  int (*free)(std::uint64_t) = nullptr;
  int (*allocate_pinned)(void**, std::size_t) = nullptr;
  int (*free_pinned)(void*) = nullptr;
  int (*launch_kernel)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**) = nullptr;
  int (*copy_on_device)(std::uint64_t, std::uint64_t, std::size_t, Handle) = nullptr;
  int (*copy_to_device)(std::uint64_t, const void*, std::size_t, Handle) = nullptr;
  int (*copy_from_device)(void*, std::uint64_t, std::size_t, Handle) = nullptr;

  // Throws Error(kTool) where the result is not zero: "the CUDA driver does not launch".
  static void check(int result, const char* what);

  // Makes the first GPU's context that of this thread, and returns a stream of it.
  Handle start(int device_number = 0) const;

 private:
  LoadedLibrary library_;
};

}  // namespace nl::orchestrator
