#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

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

// pass,utc_ns,device,power_w, … one row a reading and GPU; thinned out over 200,000 rows.
using NamedSamples = std::pair<std::string, const std::vector<PowerSample>*>;
std::string samples_csv(const std::vector<NamedSamples>& passes, std::size_t most_rows = 200000);

}  // namespace nl::orchestrator
