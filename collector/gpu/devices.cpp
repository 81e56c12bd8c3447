#include "collector/gpu/devices.h"

#include <dlfcn.h>

namespace nl::collector {
namespace {

struct Driver {
  int (*count)(int*);
  int (*get)(int*, int);
  int (*name)(char*, int, int);
  int (*memory)(std::size_t*, int);
  int (*uuid)(std::uint8_t*, int);
  int (*attribute)(int*, int, int);
};

// CUdevice_attribute
constexpr int kClockRate = 13, kSmCount = 16, kMemoryClockRate = 36, kMemoryBusWidth = 37, kL2Bytes = 38, kComputeMajor = 75,
              kComputeMinor = 76;

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool find_driver(void* library, Driver& driver) {
  return find(library, "cuDeviceGetCount", driver.count) && find(library, "cuDeviceGet", driver.get) &&
         find(library, "cuDeviceGetName", driver.name) && find(library, "cuDeviceTotalMem_v2", driver.memory) &&
         (find(library, "cuDeviceGetUuid_v2", driver.uuid) || find(library, "cuDeviceGetUuid", driver.uuid)) &&
         find(library, "cuDeviceGetAttribute", driver.attribute);
}

std::uint32_t attribute_of(const Driver& driver, int which, int device) {
  int value = 0;
  return driver.attribute(&value, which, device) == 0 && value > 0 ? static_cast<std::uint32_t>(value) : 0;
}

void describe(const Driver& driver, int device, cupti::DeviceRecord& record) {
  std::size_t bytes = 0;
  if (driver.memory(&bytes, device) == 0) record.memory_bytes = bytes;
  driver.uuid(record.uuid, device);
  record.core_clock = attribute_of(driver, kClockRate, device);
  record.sm_count = attribute_of(driver, kSmCount, device);
  record.l2_bytes = attribute_of(driver, kL2Bytes, device);
  record.compute_major = attribute_of(driver, kComputeMajor, device);
  record.compute_minor = attribute_of(driver, kComputeMinor, device);
  // Two transfers a clock, in kHz times bytes.
  record.memory_bandwidth =
      std::uint64_t{2} * attribute_of(driver, kMemoryClockRate, device) * (attribute_of(driver, kMemoryBusWidth, device) / 8);
}

}  // namespace

void visit_devices(void (*visit)(const cupti::DeviceRecord& device)) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return;
  Driver driver{};
  int count = 0;
  if (find_driver(library, driver) && driver.count(&count) == 0)
    for (int i = 0; i < count; ++i) {
      int device = 0;
      char name[256] = "";
      if (driver.get(&device, i) != 0 || driver.name(name, sizeof name - 1, device) != 0) continue;
      cupti::DeviceRecord record{};
      record.kind = cupti::kDevice;
      record.id = static_cast<std::uint32_t>(i);
      record.name = name;
      describe(driver, device, record);
      visit(record);
    }
  dlclose(library);
}

}  // namespace nl::collector
