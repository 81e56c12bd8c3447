#include "orchestrator/machine/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <type_traits>

namespace nl::orchestrator {

std::unique_ptr<Nvml> Nvml::load(const std::filesystem::path& library, std::string& trouble) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    trouble = dlerror();
    return nullptr;
  }
  std::unique_ptr<Nvml> nvml(new Nvml(handle));
  if (!nvml->find_functions()) {
    trouble = library.string() + " lacks functions of NVML";
    return nullptr;
  }
  if (const int failed = nvml->init_(); failed != 0) {
    trouble = nvml->error_text_(failed);
    return nullptr;
  }
  nvml->started_ = true;
  return nvml;
}

Nvml::~Nvml() {
  if (started_) shutdown_();
  dlclose(library_);
}

bool Nvml::find_functions() {
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library_, name));
    return function != nullptr;
  };
  find(device_uuid_, "nvmlDeviceGetUUID");
  find(total_energy, "nvmlDeviceGetTotalEnergyConsumption");
  find(power_usage, "nvmlDeviceGetPowerUsage");
  find(enforced_power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  find(field_values, "nvmlDeviceGetFieldValues");
  find(clock_info, "nvmlDeviceGetClockInfo");
  find(temperature, "nvmlDeviceGetTemperature");
  find(utilization, "nvmlDeviceGetUtilizationRates");
  // Renamed with driver 535; the bits are the same.
  find(clocks_event_reasons, "nvmlDeviceGetCurrentClocksEventReasons") ||
      find(clocks_event_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  find(persistence_mode, "nvmlDeviceGetPersistenceMode");
  find(mig_mode, "nvmlDeviceGetMigMode");
  find(ecc_mode, "nvmlDeviceGetEccMode");
  find(ecc_errors, "nvmlDeviceGetTotalEccErrors");
  if (!find(cuda_driver_version_, "nvmlSystemGetCudaDriverVersion_v2")) find(cuda_driver_version_, "nvmlSystemGetCudaDriverVersion");
  find(max_clock, "nvmlDeviceGetMaxClockInfo");
  find(application_clock, "nvmlDeviceGetApplicationsClock");
  find(default_application_clock, "nvmlDeviceGetDefaultApplicationsClock");
  // Entries have been longer since the second version, which names the instances of MIG.
  const bool with_instances = find(compute_processes_, "nvmlDeviceGetComputeRunningProcesses_v3") ||
                              find(compute_processes_, "nvmlDeviceGetComputeRunningProcesses_v2");
  process_size_ = with_instances ? 24 : 16;
  if (!with_instances) find(compute_processes_, "nvmlDeviceGetComputeRunningProcesses");
  return find(init_, "nvmlInit_v2") & find(shutdown_, "nvmlShutdown") & find(device_count_, "nvmlDeviceGetCount_v2") &
         find(device_by_index_, "nvmlDeviceGetHandleByIndex_v2") & find(device_name_, "nvmlDeviceGetName") &
         find(driver_version_, "nvmlSystemGetDriverVersion") & find(error_text_, "nvmlErrorString");
}

std::vector<NvmlDevice> Nvml::devices(std::string& trouble) const {
  unsigned count = 0;
  if (const int failed = device_count_(&count); failed != 0) trouble = error_text_(failed);
  std::vector<NvmlDevice> found;
  for (unsigned index = 0; index < count; ++index) {
    NvmlDevice device = nullptr;
    if (device_by_index_(index, &device) == 0) found.push_back(device);
  }
  return found;
}

std::vector<NvmlDevice> visible_devices(const Nvml& nvml, const std::vector<NvmlDevice>& all, const std::string& visible) {
  std::vector<NvmlDevice> chosen;
  std::istringstream words(visible);
  for (std::string word; std::getline(words, word, ',');) {
    const bool is_index = !word.empty() && word.size() < 4 && word.find_first_not_of("0123456789") == std::string::npos;
    const std::size_t index = is_index ? std::stoul(word) : all.size();
    if (index < all.size()) chosen.push_back(all[index]);
    for (const NvmlDevice device : all)
      if (word.starts_with("GPU-") && nvml.uuid(device).starts_with(word)) chosen.push_back(device);
  }
  return chosen.empty() ? all : chosen;
}

std::string Nvml::name(NvmlDevice device) const {
  char text[256] = {};
  return device_name_(device, text, sizeof text) == 0 ? text : "";
}

std::string Nvml::uuid(NvmlDevice device) const {
  char text[256] = {};
  return device_uuid_ != nullptr && device_uuid_(device, text, sizeof text) == 0 ? text : "";
}

// Each entry begins with the process id, and has the memory it uses after that.
std::optional<std::vector<int>> Nvml::compute_processes(NvmlDevice device) const {
  constexpr unsigned kMost = 256;
  if (compute_processes_ == nullptr) return std::nullopt;
  std::vector<unsigned char> list(kMost * process_size_);
  unsigned count = kMost;
  if (compute_processes_(device, &count, list.data()) != 0) return std::nullopt;
  std::vector<int> found(std::min(count, kMost));
  for (std::size_t i = 0; i < found.size(); ++i) std::memcpy(&found[i], &list[i * process_size_], sizeof found[i]);
  return found;
}

std::string Nvml::driver() const {
  char text[256] = {};
  return driver_version_(text, sizeof text) == 0 ? text : "";
}

int Nvml::cuda_driver() const {
  int version = 0;
  return cuda_driver_version_ != nullptr && cuda_driver_version_(&version) == 0 ? version : 0;
}

}  // namespace nl::orchestrator
