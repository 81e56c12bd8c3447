#pragma once

#include <filesystem>
#include <map>
#include <string>

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

// The export of an nsys report, as SQLite or as a folder of Parquet or Arrow files, of any schema from 2022 to 2026: tables and columns are
// probed, none is assumed. Throws Error(kInput) where it is not such an export or is damaged.
Trace read_nsys_sqlite(const std::filesystem::path& file, const NsysTables& tables = {});

// What the export says of the machine that was captured, by nsys' names ("NvDriverVersion"); nothing of its environment. Empty where it cannot
// be read: an export without it is still whole.
std::map<std::string, std::string> read_nsys_machine(const std::filesystem::path& file);

}  // namespace nl::parsers
