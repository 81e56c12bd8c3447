#include "orchestrator/machine/gpu_activity.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "orchestrator/machine/nvml.h"

namespace nl::orchestrator {
namespace {

constexpr double kIdleUtilisation = 0.05;         // a desktop, or what is left of the last second
constexpr ino_t kFirstPidNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO of the kernel: the machine's own

bool in_first_pid_namespace() {
  struct stat own{};
  return stat("/proc/self/ns/pid", &own) == 0 && own.st_ino == kFirstPidNamespace;
}

class NvmlActivity : public GpuActivity {
 public:
  NvmlActivity(std::unique_ptr<Nvml> nvml, std::vector<NvmlDevice> devices)
      : nvml_(std::move(nvml)), devices_(std::move(devices)), first_namespace_(in_first_pid_namespace()) {}

  GpuReading read() override {
    GpuReading reading;
    for (const NvmlDevice device : devices_) {
      if (const auto processes = nvml_->compute_processes(device)) {
        reading.processes_known = true;
        reading.processes.insert(reading.processes.end(), processes->begin(), processes->end());
      }
      NvmlUtilization busy;
      if (nvml_->utilization != nullptr && nvml_->utilization(device, &busy) == 0)
        reading.utilisation = std::max(reading.utilisation.value_or(0), busy.gpu / 100.0);
    }
    std::sort(reading.processes.begin(), reading.processes.end());
    reading.processes.erase(std::unique(reading.processes.begin(), reading.processes.end()), reading.processes.end());
    return reading;
  }

  bool names_processes() const override { return first_namespace_; }

 private:
  std::unique_ptr<Nvml> nvml_;
  std::vector<NvmlDevice> devices_;
  bool first_namespace_;
};

}  // namespace

std::unique_ptr<GpuActivity> open_gpu_activity(const std::filesystem::path& library, const std::string& visible, std::string& trouble) {
  auto nvml = Nvml::load(library, trouble);
  if (!nvml) return nullptr;
  const auto all = nvml->devices(trouble);
  if (all.empty()) {
    if (trouble.empty()) trouble = "NVML knows no GPU";
    return nullptr;
  }
  auto chosen = visible_devices(*nvml, all, visible);
  return std::make_unique<NvmlActivity>(std::move(nvml), std::move(chosen));
}

bool is_idle(const GpuReading& reading) { return reading.processes.empty() && reading.utilisation.value_or(0) <= kIdleUtilisation; }

std::string process_names(const std::vector<int>& processes) {
  std::string text;
  for (const int pid : processes) {
    std::string name;
    std::getline(std::ifstream(fmt::format("/proc/{}/comm", pid)), name);
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", pid, name.empty() ? "" : " ", name);
  }
  return text;
}

}  // namespace nl::orchestrator
