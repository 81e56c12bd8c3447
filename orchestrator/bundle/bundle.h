#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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

// A capture may hold the environment of the workload: no other user may read a bundle. The folder becomes 0700, and what is in it loses
// the rights of group and others. What belongs to another user stays as it is.
void make_private(const std::filesystem::path& bundle);

// Random bits from Linux itself. A static libstdc++ with its std::random_device would need glibc 2.36; Ubuntu 22.04 has 2.35.
std::uint32_t random_bits();

// A file that appears under its name with commit(), and leaves nothing behind without it: a temporary file, fsync,
// rename. Error(kOutput) names the file and, where the disk is full, what is left on it.
class WholeFile {
 public:
  explicit WholeFile(std::filesystem::path file);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void append(std::string_view piece);
  void commit();

 private:
  [[noreturn]] void fail(const char* step) const;

  std::filesystem::path file_, unfinished_;
  int fd_ = -1;
};
void write_file_whole(const std::filesystem::path& file, std::string_view text);  // the same at once

// "1.5 MiB free on the disk of FILE", for messages.
std::string free_space_of(const std::filesystem::path& file);

// The folder of what compares or repeats runs, such as a trial, a bisection or a suite: `asked`, or
// "artifacts/suites/20260101-120000-attention" where that is empty.
std::filesystem::path results_folder(const std::filesystem::path& asked, const std::string& kind, const std::string& name = {});
// Throws Error(kOutput) where it has something in it already, or cannot be made.
void make_results_folder(const std::filesystem::path& folder);

// manifest.json of a bundle: what belongs to it, and how it must look.
inline constexpr const char* kManifestFile = "manifest.json";

struct ManifestFile {
  std::string path;  // relative to the bundle
  std::uintmax_t size_bytes = 0;
  std::string sha256;  // empty: the machine had no libcrypto
};

// Every file below the folder, but the manifest itself, by path.
std::vector<ManifestFile> files_with_digests(const std::filesystem::path& folder);

// The files, with tool versions, exit statuses and durations of the run.
std::string manifest_text(const Run& run, const std::vector<ManifestFile>& files);

// Throws Error(kInput) where it is missing or damaged.
std::vector<ManifestFile> read_manifest(const std::filesystem::path& bundle);

}  // namespace nl::orchestrator
