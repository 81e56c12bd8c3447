#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nl::orchestrator {

using NvmlDevice = void*;

struct NvmlUtilization {
  unsigned gpu = 0, memory = 0;  // per cent
};

// One entry of nvmlDeviceGetFieldValues, laid out as nvml.h has it.
struct NvmlFieldValue {
  unsigned field = 0, scope = 0;
  long long timestamp = 0, latency_us = 0;
  unsigned value_type = 0;  // 1: 32 bits; 0: a double; the others up to 4: 64 bits
  int result = 0;
  union {
    double number;
    unsigned int whole32;
    unsigned long long whole64 = 0;
  } value;
};
static_assert(sizeof(NvmlFieldValue) == 40);

// The driver's management library, loaded and initialised for as long as the object lives. Every result is
// 0 for success. Functions that a driver may lack are null then.
class Nvml {
 public:
  // Null where it cannot be loaded or does not start; `trouble` says why.
  static std::unique_ptr<Nvml> load(const std::filesystem::path& library, std::string& trouble);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::vector<NvmlDevice> devices(std::string& trouble) const;
  std::string name(NvmlDevice device) const;
  std::string uuid(NvmlDevice device) const;  // "GPU-…"; empty where it does not say
  std::string driver() const;
  int cuda_driver() const;  // 13000: the newest CUDA that the driver supports is 13.0; 0: it does not say
  // The ids of the processes with a context on the GPU; nothing where the driver does not say. In a container they are the ids
  // outside of it, or none are listed.
  std::optional<std::vector<int>> compute_processes(NvmlDevice device) const;

  int (*total_energy)(NvmlDevice, unsigned long long* millijoules) = nullptr;
  int (*power_usage)(NvmlDevice, unsigned* milliwatts) = nullptr;
  int (*enforced_power_limit)(NvmlDevice, unsigned* milliwatts) = nullptr;
  int (*field_values)(NvmlDevice, int, NvmlFieldValue*) = nullptr;
  int (*clock_info)(NvmlDevice, int clock, unsigned* mhz) = nullptr;  // 1: SM, 2: memory
  int (*temperature)(NvmlDevice, int sensor, unsigned* celsius) = nullptr;
  int (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  int (*clocks_event_reasons)(NvmlDevice, unsigned long long* bits) = nullptr;
  int (*persistence_mode)(NvmlDevice, int* on) = nullptr;
  int (*mig_mode)(NvmlDevice, unsigned* now, unsigned* after_reset) = nullptr;
  int (*ecc_mode)(NvmlDevice, int* now, int* after_reset) = nullptr;
  int (*ecc_errors)(NvmlDevice, int kind, int since,
                    unsigned long long* count) = nullptr;  // 1: uncorrected; 0: since the driver was loaded
  int (*max_clock)(NvmlDevice, int clock, unsigned* mhz) = nullptr;
  int (*application_clock)(NvmlDevice, int clock, unsigned* mhz) = nullptr;
  int (*default_application_clock)(NvmlDevice, int clock, unsigned* mhz) = nullptr;

 private:
  explicit Nvml(void* library) : library_(library) {}
  bool find_functions();

  void* library_;
  bool started_ = false;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*device_count_)(unsigned*) = nullptr;
  int (*device_by_index_)(unsigned, NvmlDevice*) = nullptr;
  int (*device_name_)(NvmlDevice, char*, unsigned) = nullptr;
  int (*device_uuid_)(NvmlDevice, char*, unsigned) = nullptr;
  int (*driver_version_)(char*, unsigned) = nullptr;
  int (*cuda_driver_version_)(int*) = nullptr;
  int (*compute_processes_)(NvmlDevice, unsigned* count, void* list) = nullptr;
  std::size_t process_size_ = 0;  // of an entry of that list
  const char* (*error_text_)(int) = nullptr;
};

// CUDA_VISIBLE_DEVICES: "0,2", or "GPU-de114a54,GPU-…" by the beginning of the UUID. Anything else: all of them.
std::vector<NvmlDevice> visible_devices(const Nvml& nvml, const std::vector<NvmlDevice>& all, const std::string& visible);

}  // namespace nl::orchestrator
