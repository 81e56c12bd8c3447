#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/process/process.h"

namespace nl::orchestrator {

struct GpuInventory {
  std::vector<std::string> names;
  std::string driver_version;
  std::string trouble;          // why there is none; empty where it answered
  int cuda_driver_version = 0;  // 13000: CUDA 13.0; 0: not known
};

struct FileSpace {
  std::uint64_t free_bytes = 0, total_bytes = 0;
};

// The machine as discovery and the checks see it. Tests give a tree of files, an environment and
// answers of their own; the rest of the program gives host_itself().
struct Host {
  std::filesystem::path root = "/";
  std::map<std::string, std::string> env;
  std::string architecture;              // as uname says: "x86_64", "aarch64"
  std::filesystem::path cache;           // where private copies may be made; empty: nowhere
  std::filesystem::path program_folder;  // where nl-stage itself lies
  std::function<ProcessResult(const ProcessSpec&)> start;
  std::function<GpuInventory(const std::filesystem::path& nvml)> ask_nvml;
  std::function<std::optional<FileSpace>(const std::filesystem::path&)> space;
  std::function<bool(const std::filesystem::path&)> writable;
  std::function<int()> try_perf_events;  // 0, or the error of perf_event_open

  std::filesystem::path at(const std::string& absolute) const;  // below the root
  std::string variable(const std::string& name) const;          // "" where it is not set
  std::optional<std::string> read(const std::string& absolute) const;
  bool exists(const std::string& absolute) const;
  // Paths that match a pattern with * in its parts ("/usr/local/cuda*/bin/nsys"), newest version first.
  std::vector<std::filesystem::path> match(const std::string& pattern) const;
  std::filesystem::path temporary_folder() const;  // $TMPDIR, or /tmp below the root
};

Host host_itself();

// Asks the driver's management library which GPUs there are. Loaded for the moment of the question.
GpuInventory ask_nvml(const std::filesystem::path& library);

}  // namespace nl::orchestrator
