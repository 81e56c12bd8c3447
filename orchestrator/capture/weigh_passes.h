#pragma once

#include <memory>

#include "model/trace.h"
#include "orchestrator/capture/launch.h"

namespace nl::orchestrator {

// What reads the GPUs' meters during the passes; null where that is switched off or NVML does not answer,
// which run.energy.note then says (and the verdict, where energy.enabled is on).
std::unique_ptr<PowerSampler> open_power_sampler(const Config& config, const Toolset& tools, Verdict& verdict,
                                                 Run& run);

// Fills perturbation and energy of an analysed run, after the ncu pass, and writes energy/samples.csv.
void weigh_passes(const Config& config, const Plan& plan, const Capture& capture, const Trace& trace,
                  const PowerSampler* sampler, const Bundle& bundle, Run& run);

// pass,utc_ns,device,power_w, … one row a reading and GPU; thinned out over 200,000 rows.
std::string samples_csv(const std::vector<std::pair<std::string, const std::vector<PowerSample>*>>& passes,
                        std::size_t most_rows = 200000);

}  // namespace nl::orchestrator
