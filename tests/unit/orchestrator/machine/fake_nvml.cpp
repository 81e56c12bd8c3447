// A libnvidia-ml.so.1 with one H200 at 300 W, whose counter moves every 20 ms; NL_FAKE_NVML=old: it does not
// know the instantaneous power.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kNotSupported = 3;
int the_gpu = 0;

bool old() {
  const char* kind = std::getenv("NL_FAKE_NVML");
  return kind != nullptr && std::strcmp(kind, "old") == 0;
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
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 1, 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned, void** device) { return *device = &the_gpu, 0; }
int nvmlDeviceGetName(void*, char* text, unsigned size) { return std::snprintf(text, size, "NVIDIA H200"), 0; }
int nvmlDeviceGetUUID(void*, char* text, unsigned size) {
  return std::snprintf(text, size, "GPU-de114a54-90c1-a1a5-0e99-1bb3d2af386b"), 0;  // that of the probe's captures
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) { return std::snprintf(text, size, "580.82.07"), 0; }
const char* nvmlErrorString(int) { return "Not Supported"; }
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const unsigned long long ticks = static_cast<unsigned long long>(now.tv_sec) * 50 + now.tv_nsec / 20'000'000;
  return *millijoules = ticks * 6000, 0;  // 300 W · 20 ms
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) { return *milliwatts = 250'000, 0; }
int nvmlDeviceGetFieldValues(void*, int count, FieldValue* values) {
  for (int i = 0; i < count; ++i) {
    values[i].type = 1;
    values[i].result = old() || values[i].field != 186 ? kNotSupported : 0;
    values[i].value = 300'000;
  }
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int clock, unsigned* mhz) { return *mhz = clock == 1 ? 1980 : 3201, 0; }
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) { return *celsius = 45, 0; }
int nvmlDeviceGetUtilizationRates(void*, unsigned* gpu_and_memory) {
  gpu_and_memory[0] = 97;
  gpu_and_memory[1] = 40;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) { return *bits = 0x4, 0; }
}
