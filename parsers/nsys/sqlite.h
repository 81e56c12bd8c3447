#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/trace.h"
#include "model/work_rows.h"

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

// An export of which calls and kernels are summed up as they are read, and not kept: for reports that need none of them one by one.
class NsysSums {
 public:
  // Reads all that `tables` asks for but calls and kernels.
  NsysSums(const std::filesystem::path& file, const NsysTables& tables);
  ~NsysSums();
  NsysSums(const NsysSums&) = delete;
  NsysSums& operator=(const NsysSums&) = delete;

  // Strings, places, ranges and memory operations; api_stats once calls were read.
  Trace& trace();
  std::vector<LaunchedRow> mem_ops() const;
  std::size_t call_parts() const;
  std::size_t kernel_parts() const;
  void read_calls(const TakeCalls& take);
  std::vector<ApiStat> read_kernels(const TakeWork& take);
  // After the last table: names of threads, and what was wrong with strings.
  void finish();

 private:
  struct Reading;
  std::unique_ptr<Reading> reading_;
};

}  // namespace nl::parsers
