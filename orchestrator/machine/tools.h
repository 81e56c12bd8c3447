#pragma once

#include <compare>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orchestrator/config/config.h"
#include "orchestrator/machine/tools_host.h"

namespace nl::orchestrator {

struct ToolVersion {
  int year = 0, release = 0, patch = 0;  // 2025.3.1
  friend auto operator<=>(const ToolVersion&, const ToolVersion&) = default;
  std::string text() const;  // "2025.3.1", "" where unknown
};

struct Tool {
  std::filesystem::path path;  // what is started
  ToolVersion version;
  std::string found_by;                              // "config tools.nsys", "NL_STAGE_NSYS", "PATH", "inside Nsight Compute" …
  std::vector<std::string> help_options;             // the long options that its --help names
  std::vector<std::string> export_options;           // those of `nsys export`
  bool has_option(const std::string& option) const;  // "--pytorch"; true where its help is unknown
  bool has_export_option(const std::string& option) const;
  std::vector<std::pair<std::string, std::string>> env;  // to be set when it is started (LD_LIBRARY_PATH …)
  std::filesystem::path found_at;                        // where it was found; differs from path where a private copy is started
  std::filesystem::path importer;                        // nsys: what turns its raw capture into a report; empty: unknown
  std::string importer_trouble;                          // why that does not start; empty where it does
  std::vector<std::string> missing_libraries;            // that the importer needs
};

struct Toolset {
  std::optional<Tool> nsys, ncu;
  std::optional<std::filesystem::path> cupti, nvml, collector;
  std::filesystem::path program;  // nl-stage itself; empty: another program has it inside, which cannot be started for that
  std::vector<std::string> gpus;  // names, from NVML; empty: none or unknown
  std::string driver_version;
  int cuda_driver_version = 0;             // the newest CUDA that it supports, 13000: 13.0; 0: not known
  std::string gpu_trouble;                 // what NVML said where it named none
  std::vector<std::string> rejected;       // tools that were found and do not start, and why
  std::vector<std::string> injection_env;  // CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH where set around us
};

// Looks in the config, the environment (NL_STAGE_NSYS, NL_STAGE_NCU, …), PATH, CUDA's and Nsight's usual
// folders and inside Nsight Compute. Throws Error(kTool) when one that was named explicitly is not there.
Toolset find_tools(const ToolOptions& overrides, const Host& host = host_itself());

// Only NVML, for callers that cannot wait for the rest: its file, or its name for the loader.
std::filesystem::path find_nvml(const ToolOptions& overrides, const Host& host);

// Only the collector; empty: it is not installed.
std::optional<std::filesystem::path> find_collector(const ToolOptions& overrides, const Host& host = host_itself());

// The library of matrix products, in CUDA's folders or Python's packages: its file, or its name for the loader.
std::filesystem::path find_cublas_lt(const Host& host = host_itself());

// "NVIDIA Nsight Systems version 2022.4.2.1-df9881f", "Version 2025.3.1.0 (build 36398880)"
ToolVersion parse_tool_version(std::string_view text);

// The long options that a help text of nsys or ncu lists.
std::vector<std::string> parse_help_options(std::string_view text);

// The libraries that the dynamic loader did not find: "	libdw.so.1 => not found"
std::vector<std::string> parse_missing_libraries(std::string_view loader_trace);

// Finds the importer of an nsys that was found, and sees that nsys will find it too. nsys looks in the
// folder host-linux-* beside its own; where the importer lies elsewhere (inside Nsight Compute, in
// Debian's packages) a private folder is made in the cache that has both, and its nsys is started
// instead. Libraries that it misses and that its own folders have are supplied the same way. Nothing
// outside the cache is written.
void settle_importer(Tool& nsys, const Host& host);

}  // namespace nl::orchestrator
