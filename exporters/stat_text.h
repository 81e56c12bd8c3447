#pragma once

#include <cstddef>
#include <string>

#include "model/stat_table.h"

namespace nl::exporters {

std::string stat_csv(const StatTable& table);  // byte for byte what `nsys stats --format csv` writes
std::string stat_json(const StatTable& table);
// For people: aligned columns, thousands separated, not wider than a terminal; 0: as wide as it is.
std::string stat_text(const StatTable& table, std::size_t width = 0);

}  // namespace nl::exporters
