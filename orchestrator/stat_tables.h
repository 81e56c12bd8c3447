#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/codes.h"
#include "model/stat_table.h"

namespace nl::orchestrator {

// The reports of `nsys stats` on an export, in their order, and what was wrong with its rows.
struct StatTables {
  std::vector<StatTable> tables;
  DamagedRows damaged;
};
StatTables read_stat_tables(const std::filesystem::path& export_file, const std::vector<std::string>& reports);

}  // namespace nl::orchestrator
