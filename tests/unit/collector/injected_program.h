#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "model/trace.h"
#include "tests/unit/files.h"

namespace nl::test {

struct Outcome {
  int exit_status = -1;  // 128 + signal where a signal ended it
  std::string out, err;
};

// A folder of its own that goes away with it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

// Runs a command with the collector injected, its traces going to `folder`.
Outcome run_injected(const std::vector<std::string>& argv, const std::filesystem::path& folder, const Environment& environment = {});
Outcome run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder, const Environment& environment = {});

// gpu_program with both halves injected, over the libcupti that stands in for the real one, or one of CUDA 11.8's age.
inline constexpr const char* kFakeCupti = NL_BUILD_ROOT "/tests/unit/collector/libfake_cupti.so";
inline constexpr const char* kFakeOldCupti = NL_BUILD_ROOT "/tests/unit/collector/libfake_cupti_old.so";
Outcome run_gpu(const std::vector<std::string>& arguments, const std::filesystem::path& folder, const Environment& environment = {});

// For a program built with AddressSanitizer: what nothing points to when it exits makes it fail. Costs seconds.
inline const Environment kLeakCheck{{"ASAN_OPTIONS", "detect_leaks=1"}};

// Whether the bytes from there on are records, or space that was not used yet.
bool in_use(const std::string& trace, std::size_t at);
std::vector<std::filesystem::path> trace_files(const std::filesystem::path& folder);
Trace read_folder(const std::filesystem::path& folder);

std::vector<Range> ranges_named(const Trace& trace, const std::string& domain, const std::string& name);

}  // namespace nl::test
