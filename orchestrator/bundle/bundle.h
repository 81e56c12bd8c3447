#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "model/run.h"

namespace nl::orchestrator {

// The folder that a run leaves behind:
//   run.json kernels.md report.md env.json config.yaml inputs.yaml manifest.json nsys/ ncu/ collector/ counters/ logs/
class Bundle {
 public:
  struct Request {
    std::filesystem::path parent;  // artifacts/runs: a new folder is made in it
    std::filesystem::path out;     // not empty: the bundle itself; must be absent or empty
    std::string name, mode;
  };
  // Throws Error(kOutput) where it cannot be made or written to, before anything was run.
  static Bundle create(const Request& request, std::chrono::system_clock::time_point now);

  const std::filesystem::path& path() const { return path_; }
  const std::string& run_id() const { return run_id_; }  // unlike that of any other run, on any machine
  const std::string& created_at() const { return created_at_; }

  void discard() const;  // before anything was captured; a folder that was there before stays, empty
  void write(const std::filesystem::path& relative, std::string_view text) const;
  // sha256 and size of every file that is there now, with tool versions, exit statuses and durations.
  void write_manifest(const Run& run) const;

 private:
  std::filesystem::path path_;
  std::string run_id_, created_at_;
  bool was_there_ = false;
};

// The kernel's. A static libstdc++ with its std::random_device would need glibc 2.36; Ubuntu 22.04 has 2.35.
std::uint32_t random_bits();

// Whole or not at all: a temporary file, fsync, rename. Error(kOutput) names the file and, where the disk
// is full, what is left on it.
void write_file_whole(const std::filesystem::path& file, std::string_view text);

// "1.5 MiB free on the disk of FILE", for messages.
std::string free_space_of(const std::filesystem::path& file);

}  // namespace nl::orchestrator
