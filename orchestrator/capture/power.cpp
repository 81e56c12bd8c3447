#include "orchestrator/capture/power.h"

#include "orchestrator/config/choices.h"

namespace nl::orchestrator {

PowerSource open_power_source(const Config& config, const Toolset& tools, Verdict& verdict) {
  const auto wanted = choice<EnergyReading>(config.energy.enabled);
  if (wanted == EnergyReading::kOff) return {nullptr, "switched off (energy.enabled)"};
  std::string trouble = tools.gpu_trouble;
  std::unique_ptr<PowerMeter> meter = tools.nvml ? open_nvml_meter(*tools.nvml, trouble) : nullptr;
  if (meter) return {std::make_unique<PowerSampler>(std::move(meter), config.energy.interval_ms), ""};
  const std::string note = "NVML does not answer" + (trouble.empty() ? "" : ": " + trouble);
  if (wanted == EnergyReading::kOn) verdict.add(Code::kMetersSilent, {note});
  return {nullptr, note};
}

}  // namespace nl::orchestrator
