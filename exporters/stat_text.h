#pragma once

#include <string>

#include "model/stat_table.h"

namespace nl::exporters {

std::string stat_csv(const StatTable& table);       // byte for byte what `nsys stats --format csv` writes
std::string stat_json(const StatTable& table);
std::string stat_text(const StatTable& table);      // for people: aligned columns, thousands separated

}  // namespace nl::exporters
