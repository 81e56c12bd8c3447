#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nl::orchestrator {

struct GpuReading {
  std::vector<int> processes;         // with a context on one of the GPUs
  bool processes_known = false;       // the driver lists them
  std::optional<double> utilisation;  // 0..1 of the busiest GPU; nothing: not told, as under MIG
};

// What the GPUs are busy with. Tests script one.
class GpuActivity {
 public:
  virtual ~GpuActivity() = default;
  virtual GpuReading read() = 0;
  virtual bool names_processes() const = 0;  // by ids that are valid here: not inside most containers
};

// The GPUs that CUDA_VISIBLE_DEVICES (`visible`) names, or all. Null where NVML does not answer or knows no GPU; `trouble` says why.
std::unique_ptr<GpuActivity> open_gpu_activity(const std::filesystem::path& nvml, const std::string& visible, std::string& trouble);

// True where nothing runs on the GPU, as far as the driver says.
bool is_idle(const GpuReading& reading);

// "4711 python, 4712 vllm": for messages.
std::string process_names(const std::vector<int>& processes);

}  // namespace nl::orchestrator
