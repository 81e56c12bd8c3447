#include "collector/gpu/contexts.h"

#include "collector/lock.h"

namespace nl::collector {
namespace {

struct Contexts {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  GpuContext list[kMaxContexts] = {};  // in the order of their making
  std::size_t count = 0;
};

constinit Contexts known;

}  // namespace

bool context_created(const CuptiLibrary& library, void* context, std::uint32_t& device) {
  if (library.profiler.cuptiGetDeviceId == nullptr || library.profiler.cuptiGetDeviceId(context, &device) != cupti::kSuccess) return false;
  Lock lock(known.mutex);
  if (known.count < kMaxContexts) known.list[known.count++] = {context, device};
  return true;
}

void context_destroyed(void* context) {
  Lock lock(known.mutex);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < known.count; ++i)
    if (known.list[i].handle != context) known.list[kept++] = known.list[i];
  known.count = kept;
}

std::size_t device_contexts(GpuContext (&contexts)[kMaxContexts]) {
  std::size_t count = 0;
  Lock lock(known.mutex);
  for (std::size_t i = 0; i < known.count; ++i) {
    bool new_device = true;
    for (std::size_t j = 0; j < count; ++j) new_device = new_device && contexts[j].device != known.list[i].device;
    if (new_device) contexts[count++] = known.list[i];
  }
  return count;
}

bool have_several_devices() {
  GpuContext contexts[kMaxContexts];
  return device_contexts(contexts) > 1;
}

}  // namespace nl::collector
