#include "orchestrator/tools_nvml.h"

#include <dlfcn.h>

#include <memory>

namespace nl {
namespace {

// The few functions that are needed, as nvml.h has declared them since 2013; 0 is success.
using NvmlDevice = void*;
struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device_by_index)(unsigned, NvmlDevice*) = nullptr;
  int (*device_name)(NvmlDevice, char*, unsigned) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  const char* (*error_text)(int) = nullptr;

  bool load(void* library) {
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find(init, "nvmlInit_v2") & find(shutdown, "nvmlShutdown") & find(device_count, "nvmlDeviceGetCount_v2") &
           find(device_by_index, "nvmlDeviceGetHandleByIndex_v2") & find(device_name, "nvmlDeviceGetName") &
           find(driver_version, "nvmlSystemGetDriverVersion") & find(error_text, "nvmlErrorString");
  }
};

GpuInventory inventory(const Nvml& nvml) {
  GpuInventory found;
  char text[256] = {};
  if (nvml.driver_version(text, sizeof text) == 0) found.driver_version = text;
  unsigned count = 0;
  if (int failed = nvml.device_count(&count); failed != 0) found.trouble = nvml.error_text(failed);
  for (unsigned index = 0; index < count; ++index) {
    NvmlDevice device = nullptr;
    if (nvml.device_by_index(index, &device) == 0 && nvml.device_name(device, text, sizeof text) == 0)
      found.names.emplace_back(text);
  }
  return found;
}

}  // namespace

GpuInventory ask_nvml(const std::filesystem::path& library) {
  std::unique_ptr<void, int (*)(void*)> handle(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), dlclose);
  if (!handle) return {{}, {}, dlerror()};
  Nvml nvml;
  if (!nvml.load(handle.get())) return {{}, {}, library.string() + " lacks functions of NVML"};
  if (int failed = nvml.init(); failed != 0) return {{}, {}, nvml.error_text(failed)};
  GpuInventory found = inventory(nvml);
  nvml.shutdown();
  return found;
}

}  // namespace nl
