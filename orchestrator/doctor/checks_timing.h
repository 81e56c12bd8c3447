#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/doctor/doctor.h"

// Does something on the machine make timings doubtful?
namespace nl::orchestrator {

struct GpuState {  // nothing: the driver does not say
  std::string name;
  std::optional<bool> clocks_locked, persistence, mig;
  std::optional<std::vector<int>> processes;
  std::optional<bool> ecc = {}, ecc_after_reset = {};
  unsigned long long ecc_errors = 0;  // that were not corrected, since the driver was loaded
};

// The GPUs that CUDA_VISIBLE_DEVICES names, or all; none where NVML does not answer, and `trouble` says why. `settles`: how long a
// GPU may take to lower its clocks after its last work.
std::vector<GpuState> read_gpu_states(const std::filesystem::path& nvml, const std::string& visible, std::string& trouble,
                                      std::chrono::milliseconds settles = std::chrono::seconds(3));

// "virtual_machine", "clocks", "persistence", "processes", "mig", "ecc": what may be waived.
std::vector<std::string> timing_check_names();

// One check each, by id "timing.clocks", as a warning where timings suffer.
std::vector<Check> timing_warnings(const Host& host, const std::vector<GpuState>& gpus, const std::string& trouble);

// The same for commands that only time: a failed check blocks them, unless it is in `waived`, or only a warning to them.
std::vector<Check> timing_checks(const Host& host, const std::vector<GpuState>& gpus, const std::string& trouble,
                                 const std::vector<std::string>& waived, const std::vector<std::string>& warnings = {});

}  // namespace nl::orchestrator
