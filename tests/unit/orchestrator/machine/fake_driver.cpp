// A CUDA driver that does nothing: what the loop of a calibration calls. A copy takes ten times as long as a launch. FAKE_DRIVER_NO_GPU: there
// is none. FAKE_DRIVER_OLD: it compiles for no target later than sm_52.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

void spend_ns(long ns) {
  timespec start{}, now{};
  clock_gettime(CLOCK_MONOTONIC, &start);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - start.tv_sec) * 1'000'000'000 + now.tv_nsec - start.tv_nsec < ns);
}

int something;

}  // namespace

extern "C" {
int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGet(int* device, int) { return *device = 0, std::getenv("FAKE_DRIVER_NO_GPU") != nullptr ? 100 : 0; }
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = &something, 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuModuleLoadData(void** module, const void* text) {
  const auto* ptx = static_cast<const char*>(text);
  const bool old = std::getenv("FAKE_DRIVER_OLD") != nullptr;
  return *module = &something,
         std::strstr(ptx, ".entry nl_stage_nothing()") == nullptr || (old && std::strstr(ptx, "sm_52") == nullptr) ? 218 : 0;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  return *function = &something, std::strcmp(name, "nl_stage_nothing") == 0 ? 0 : 500;
}
int cuStreamCreate(void** stream, unsigned) { return *stream = &something, 0; }
int cuStreamSynchronize(void*) { return 0; }
int cuDeviceGetName(char* name, int length, int) { return std::strncpy(name, "NVIDIA Stand-in", static_cast<std::size_t>(length)), 0; }
int cuDeviceGetUuid(std::uint8_t* uuid, int) {
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<std::uint8_t>(i);
  return 0;
}
int cuEventCreate(void** event, unsigned) { return *event = &something, 0; }
int cuEventRecord(void*, void*) { return 0; }
int cuEventElapsedTime(float* ms, void*, void*) { return *ms = 2, 0; }
int cuMemFree_v2(std::uint64_t) { return 0; }
int cuMemAllocHost_v2(void** memory, std::size_t) { return *memory = &something, 0; }
int cuMemFreeHost(void*) { return 0; }
int cuMemcpyHtoDAsync_v2(std::uint64_t, const void*, std::size_t, void*) { return 0; }
int cuMemcpyDtoHAsync_v2(void*, std::uint64_t, std::size_t, void*) { return 0; }
int cuMemAlloc_v2(std::uint64_t* memory, std::size_t) { return *memory = 4096, 0; }
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**) {
  return spend_ns(200), 0;
}
int cuMemcpyDtoDAsync_v2(std::uint64_t, std::uint64_t, std::size_t, void*) { return spend_ns(2000), 0; }
}
