// What a launch of an empty kernel takes before CUPTI has recorded anything, while it records, and after, by what was recorded and how it was turned off.
//
//   nvcc -O2 -std=c++20 launch_states.cu -o launch_states -lcupti -lcuda && ./launch_states
//
// Each row is a process of its own: µs a launch, the 20th percentile of 500 blocks of 100, and how much more than before while on and off, three times.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cupti.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int kLaunches = 100, kBlocks = 500, kRow = 16;

CUpti_SubscriberHandle subscriber;
cudaStream_t stream;

__global__ void nothing() {}

void CUPTIAPI requested(uint8_t** buffer, size_t* bytes, size_t* most) {
  *bytes = 4 << 20;
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, *bytes));
  *most = 0;
}
void CUPTIAPI completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t) { std::free(buffer); }
void CUPTIAPI heard(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

void attach() {
  cuptiSubscribe(&subscriber, heard, nullptr);
  cuptiActivityRegisterCallbacks(requested, completed);
}

void record(CUpti_ActivityKind kind, bool on) { on ? cuptiActivityEnable(kind) : cuptiActivityDisable(kind); }

void record_here(CUpti_ActivityKind kind, bool on) {
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);
  on ? cuptiActivityEnableContext(context, kind) : cuptiActivityDisableContext(context, kind);
}

double block_us() {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kLaunches; ++i) nothing<<<1, 32, 0, stream>>>();
  cudaStreamSynchronize(stream);
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / kLaunches;
}

double launch_us(int blocks) {
  std::vector<double> times;
  for (int i = 0; i < blocks; ++i) times.push_back(block_us());
  std::sort(times.begin(), times.end());
  return times[times.size() / 5];
}

struct Way {
  const char* name;
  bool early;  // attached, and on, before there is a context, then off
  void (*set)(bool on);
};

constexpr auto kKernels = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;

const Way kWays[] = {
    {"nothing is recorded", false, [](bool) {}},
    {"kernels", false, [](bool on) { record(kKernels, on); }},
    {"kernels, on once before the first context", true, [](bool on) { record(kKernels, on); }},
    {"copies", false, [](bool on) { record(CUPTI_ACTIVITY_KIND_MEMCPY, on); }},
    {"sets", false, [](bool on) { record(CUPTI_ACTIVITY_KIND_MEMSET, on); }},
    {"waits", false, [](bool on) { record(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, on); }},
    {"graphs", false, [](bool on) { record(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, on); }},
    {"calls", false, [](bool on) { record(CUPTI_ACTIVITY_KIND_RUNTIME, on); }},
    {"kernels of the context", false, [](bool on) { record_here(kKernels, on); }},
    {"kernels, off for the context, too", false,
     [](bool on) {
       record(kKernels, on);
       if (!on) record_here(kKernels, false);
     }},
    {"kernels, off twice", false,
     [](bool on) {
       record(kKernels, on);
       if (!on) record(kKernels, false);
     }},
    {"kernels, from another thread", false, [](bool on) { std::thread([on] { record(kKernels, on); }).join(); }},
    {"kernels, flushed by force", false,
     [](bool on) {
       record(kKernels, on);
       if (!on) cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
     }},
    {"kernels, all kinds off", false,
     [](bool on) {
       record(kKernels, on);
       for (int kind = 1; !on && kind < 70; ++kind) cuptiActivityDisable(static_cast<CUpti_ActivityKind>(kind));
     }},
    {"kernels, all callbacks on and off", false,
     [](bool on) {
       record(kKernels, on);
       for (int domain = 1; !on && domain < CUPTI_CB_DOMAIN_SIZE; ++domain)
         for (const uint32_t heard : {1u, 0u}) cuptiEnableDomain(heard, subscriber, static_cast<CUpti_CallbackDomain>(domain));
     }},
    {"kernels, another subscriber", false,
     [](bool on) {
       record(kKernels, on);
       if (on) return;
       cuptiUnsubscribe(subscriber);
       cuptiSubscribe(&subscriber, heard, nullptr);
     }},
    {"kernels, cuptiFinalize", false,
     [](bool on) {
       if (on) attach();
       record(kKernels, on);
       if (!on) cuptiFinalize();
     }},
};

void measure(const Way& way) {
  if (way.early) {
    attach();
    way.set(true);
  }
  cudaFree(nullptr);
  cudaStreamCreate(&stream);
  launch_us(kBlocks);
  if (way.early) way.set(false);
  else attach();
  const double before = launch_us(kBlocks);
  std::printf("%-42s %5.2f", way.name, before);
  for (int i = 0; i < 3; ++i) {
    way.set(true);
    std::printf("   on %+5.2f", launch_us(kRow) - before);
    way.set(false);
    std::printf(" off %+5.2f", launch_us(kBlocks) - before);
  }
  std::printf("\n");
}

}  // namespace

int main() {
  for (const Way& way : kWays) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      measure(way);
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) std::printf("%-42s ended with status %d\n", way.name, status);
  }
}
