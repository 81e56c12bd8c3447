#include "exporters/power_csv.h"

#include <fmt/format.h>

#include <algorithm>

namespace nl::exporters {
namespace {

void add_number(std::string& text, const std::optional<double>& value) {
  text += ',';
  if (value) text += fmt::format("{:.12g}", *value);
}

void add_row(std::string& text, const std::string& pass, const PowerSample& sample) {
  text += fmt::format("{},{},{}", pass, sample.utc_ns, sample.device);
  for (const auto& value :
       {sample.power_w, sample.energy_j, sample.sm_clock_mhz, sample.memory_clock_mhz, sample.temperature_c, sample.gpu_utilisation})
    add_number(text, value);
  text += sample.throttle_reasons ? fmt::format(",0x{:x}\n", *sample.throttle_reasons) : ",\n";
}

}  // namespace

std::string samples_csv(const std::vector<NamedSamples>& passes, std::size_t most_rows) {
  std::size_t rows = 0;
  for (const auto& [name, samples] : passes) rows += samples->size();
  const std::size_t stride = std::max<std::size_t>((rows + most_rows - 1) / most_rows, 1);
  std::string text =
      "pass,utc_ns,device,power_w,energy_j,sm_clock_mhz,memory_clock_mhz,temperature_c,gpu_utilisation,"
      "throttle_reasons\n";
  for (const auto& [name, samples] : passes) {
    std::size_t reading = 0;  // the rows of one moment stay together
    for (std::size_t i = 0; i < samples->size(); ++i) {
      if (i > 0 && (*samples)[i].utc_ns != (*samples)[i - 1].utc_ns) ++reading;
      if (reading % stride == 0) add_row(text, name, (*samples)[i]);
    }
  }
  return text;
}

}  // namespace nl::exporters
