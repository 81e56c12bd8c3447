#pragma once

#include <memory>
#include <string>

#include "orchestrator/capture/verdict.h"
#include "orchestrator/config/config.h"
#include "orchestrator/machine/nvml_sampler.h"
#include "orchestrator/machine/tools.h"

namespace nl::orchestrator {

// What reads the GPUs' meters during the passes; none where that is switched off or NVML does not answer, and why.
struct PowerSource {
  std::unique_ptr<PowerSampler> sampler;
  std::string note;
};
// The verdict has it too where energy.enabled is on.
PowerSource open_power_source(const Config& config, const Toolset& tools, Verdict& verdict);

}  // namespace nl::orchestrator
