#include "orchestrator/machine/tools_nvml.h"

#include "orchestrator/machine/nvml.h"

namespace nl::orchestrator {

GpuInventory ask_nvml(const std::filesystem::path& library) {
  GpuInventory found;
  const auto nvml = Nvml::load(library, found.trouble);
  if (!nvml) return found;
  found.driver_version = nvml->driver();
  for (const NvmlDevice device : nvml->devices(found.trouble))
    if (auto name = nvml->name(device); !name.empty()) found.names.push_back(std::move(name));
  return found;
}

}  // namespace nl::orchestrator
