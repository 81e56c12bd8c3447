#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/perturbation.h"
#include "model/stat_table.h"

// Tables that are written as they are.
namespace nl::exporters {

std::string stat_csv(const StatTable& table);  // byte for byte what `nsys stats --format csv` writes
std::string stat_json(const StatTable& table);
// For people: aligned columns, thousands separated, not wider than a terminal; 0: as wide as it is.
std::string stat_text(const StatTable& table, std::size_t width = 0);

std::string csv_quoted(std::string_view text);  // a field of RFC 4180 in quotes, those inside doubled

// pass,utc_ns,device,power_w, … one row a reading and GPU; thinned out over 200,000 rows.
using NamedSamples = std::pair<std::string, const std::vector<PowerSample>*>;
std::string samples_csv(const std::vector<NamedSamples>& passes, std::size_t most_rows = 200000);

}  // namespace nl::exporters
