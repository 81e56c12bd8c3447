#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/gpu/cupti_library.h"

// The CUDA contexts of the process, as CUPTI's callbacks tell of them.
namespace nl::collector {

struct GpuContext {
  void* handle;  // nullptr: none
  std::uint32_t device;
};
inline constexpr std::size_t kMaxContexts = 32;

bool context_created(const CuptiLibrary& library, void* context, std::uint32_t& device);  // false: CUPTI does not say on which
void context_destroyed(void* context);

bool have_several_devices();

// The oldest context of each device, which its counters are measured through; how many.
std::size_t device_contexts(GpuContext (&contexts)[kMaxContexts]);

}  // namespace nl::collector
