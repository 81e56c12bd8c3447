#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/perturbation.h"

namespace nl::exporters {

// pass,utc_ns,device,power_w, … one row a reading and GPU; thinned out over 200,000 rows.
using NamedSamples = std::pair<std::string, const std::vector<PowerSample>*>;
std::string samples_csv(const std::vector<NamedSamples>& passes, std::size_t most_rows = 200000);

}  // namespace nl::exporters
