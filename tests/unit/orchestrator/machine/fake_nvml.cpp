// A libnvidia-ml.so.1 with one H200 at 300 W, whose counter moves every 20 ms. NL_FAKE_NVML says what is different:
//   old: it does not know the instantaneous power     double, long: it tells it in another type     mute: it answers nothing
//   refuses: it cannot be started     uncounted: it cannot count GPUs     none: there is no GPU     lost: the first of two is lost     two: of two
//   slowing: it is idle and lowers its clocks at the fourth look     held: it is idle and does not
// NL_FAKE_NVML_PROCESSES names a file with the ids of the processes on the first GPU, which is idle where there are none.
// With NL_FAKE_NVML_FIT its clocks are locked and persistence mode is on.
// Built with NL_BARE_NVML it is that of an old driver: without the functions that a driver may lack.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kNotSupported = 3;
int the_gpu = 0, second_gpu = 0, started = 0;

bool is(const char* what) {
  const char* kind = std::getenv("NL_FAKE_NVML");
  return kind != nullptr && std::strcmp(kind, what) == 0;
}

[[maybe_unused]] bool is_fit() { return std::getenv("NL_FAKE_NVML_FIT") != nullptr; }

int answer() { return is("mute") ? kNotSupported : 0; }

// As nvml.h has it since its second version.
struct ProcessInfo {
  unsigned pid;
  unsigned long long memory_bytes;
  unsigned gpu_instance, compute_instance;
};

[[maybe_unused]] unsigned processes_on_gpu(ProcessInfo* list, unsigned room) {
  const char* name = std::getenv("NL_FAKE_NVML_PROCESSES");
  std::FILE* file = name != nullptr ? std::fopen(name, "r") : nullptr;
  if (file == nullptr) return 0;
  unsigned count = 0;
  for (unsigned pid = 0; count < room && std::fscanf(file, "%u", &pid) == 1; ++count)
    if (list != nullptr) list[count] = {pid, 1 << 30, 0, 0};
  std::fclose(file);
  return count;
}

struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  unsigned type;
  int result;
  unsigned long long value;
};

}  // namespace

extern "C" {
int nl_fake_nvml_reads = 0;  // of the energy counter
int nl_fake_nvml_started() { return started; }
int nvmlInit_v2() { return is("refuses") ? kNotSupported : (++started, 0); }
int nvmlShutdown() { return --started, 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  if (is("uncounted")) return kNotSupported;
  return *count = is("none") ? 0 : is("lost") || is("two") ? 2 : 1, 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (is("lost") && index == 0) return kNotSupported;
  return *device = is("two") && index == 1 ? &second_gpu : &the_gpu, 0;
}
int nvmlDeviceGetName(void*, char* text, unsigned size) { return std::snprintf(text, size, "NVIDIA H200"), answer(); }
int nvmlSystemGetCudaDriverVersion_v2(int* version) { return *version = 13000, answer(); }
int nvmlSystemGetDriverVersion(char* text, unsigned size) { return std::snprintf(text, size, "580.82.07"), answer(); }
const char* nvmlErrorString(int) { return "Not Supported"; }
#ifndef NL_BARE_NVML
int nvmlDeviceGetUUID(void*, char* text, unsigned size) {
  return std::snprintf(text, size, "GPU-de114a54-90c1-a1a5-0e99-1bb3d2af386b"), answer();  // that of the probe's captures
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  __atomic_add_fetch(&nl_fake_nvml_reads, 1, __ATOMIC_SEQ_CST);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const unsigned long long ticks = static_cast<unsigned long long>(now.tv_sec) * 50 + now.tv_nsec / 20'000'000;
  return *millijoules = is("long") ? 5250 : ticks * 6000, answer();  // 300 W · 20 ms
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) { return *milliwatts = 250'000, answer(); }
int nvmlDeviceGetFieldValues(void*, int count, FieldValue* values) {
  for (int i = 0; i < count; ++i) {
    const double power = 310'500;
    values[i].type = is("double") ? 0 : is("long") ? 3 : 1;
    values[i].result = is("old") || is("mute") || values[i].field != 186 ? kNotSupported : 0;
    values[i].value = is("long") ? 5'000'000'000 : 300'000;
    if (is("double")) std::memcpy(&values[i].value, &power, sizeof power);
  }
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int clock, unsigned* mhz) {
  static int looks = 0;
  return *mhz = is("slowing") && ++looks >= 4 ? 345 : clock == 1 ? 1980 : 3201, answer();
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) { return *milliwatts = 700'000, answer(); }
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) { return *celsius = 45, answer(); }
int nvmlDeviceGetUtilizationRates(void*, unsigned* gpu_and_memory) {
  const bool is_idle = is("slowing") || is("held");
  gpu_and_memory[0] = is_idle || (std::getenv("NL_FAKE_NVML_PROCESSES") != nullptr && processes_on_gpu(nullptr, 1) == 0) ? 0 : 97;
  gpu_and_memory[1] = 40;
  return answer();
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* list) {
  *count = device == &the_gpu ? processes_on_gpu(list, *count) : 0;
  return answer();
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) { return *bits = is_fit() ? 0x2 : 0x4, answer(); }
int nvmlDeviceGetPersistenceMode(void*, int* on) { return *on = is_fit(), answer(); }
int nvmlDeviceGetEccMode(void*, int* now, int* later) {
  return *now = 1, *later = std::getenv("NL_FAKE_NVML_ECC_SWITCH") == nullptr, answer();
}
int nvmlDeviceGetTotalEccErrors(void*, int kind, int since, unsigned long long* count) {
  return *count = kind == 1 && since == 0 && std::getenv("NL_FAKE_NVML_ECC_ERRORS") != nullptr ? 3 : 0, answer();
}
int nvmlDeviceGetMigMode(void*, unsigned* now, unsigned* later) { return *now = *later = 0, answer(); }
int nvmlDeviceGetMaxClockInfo(void*, int, unsigned* mhz) { return *mhz = 1980, answer(); }
int nvmlDeviceGetApplicationsClock(void*, int, unsigned* mhz) { return *mhz = 1830, answer(); }
int nvmlDeviceGetDefaultApplicationsClock(void*, int, unsigned* mhz) { return *mhz = 1830, answer(); }
#endif
}
