#pragma once

#include <filesystem>

#include "orchestrator/machine/tools_host.h"

namespace nl::orchestrator {

// Asks the driver's management library which GPUs there are. Loaded for the moment of the question.
GpuInventory ask_nvml(const std::filesystem::path& library);

}  // namespace nl::orchestrator
