// The few functions of the CUDA driver that describe its GPUs: one H200.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

thread_local int stream_capture_mode = 0;  // CU_STREAM_CAPTURE_MODE_GLOBAL

}  // namespace

extern "C" {
int cuThreadExchangeStreamCaptureMode(int* mode) { return std::swap(*mode, stream_capture_mode), 0; }
int cuStreamIsCapturing(void*, int* status) { return *status = std::getenv("FAKE_CUDA_CAPTURES") != nullptr, 0; }
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int) { return *device = 0, 0; }
int cuDeviceGetName(char* name, int bytes, int) { return std::strncpy(name, "NVIDIA Driver H200", static_cast<std::size_t>(bytes)), 0; }
int cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = 150'109'880'320, 0; }
int cuDeviceGetUuid_v2(unsigned char* uuid, int) { return std::memset(uuid, 0xAB, 16), 0; }
int cuDeviceGetAttribute(int* value, int which, int) {
  switch (which) {
    case 13: return *value = 1'980'000, 0;
    case 16: return *value = 132, 0;
    case 36: return *value = 3'133'000, 0;
    case 37: return *value = 6144, 0;
    case 38: return *value = 62'914'560, 0;
    case 75: return *value = 9, 0;
    case 76: return *value = 3, 0;
    default: return 1;
  }
}
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
}
