#pragma once

#include <filesystem>

#include "model/trace.h"

namespace nl::parsers {

// What to read: a report that needs no API calls does not spend time on them.
struct NsysTables {
  bool kernels = true;
  bool api = true;
  bool mem_ops = true;
  bool ranges = true;
  bool host = true;        // with the API calls: calls of the operating system, sampled stacks
  bool all_calls = false;  // keep also those that neither launched GPU work nor waited for it
};

// The SQLite export of an nsys report, of any schema from 2022 to 2026: tables and columns are probed,
// none is assumed. Throws Error(kInput) where the file is not such an export or is damaged.
Trace read_nsys_sqlite(const std::filesystem::path& file, const NsysTables& tables = {});

}  // namespace nl::parsers
