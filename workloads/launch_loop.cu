// nl-launch-loop: thousands of launches of a kernel that does next to nothing, the worst case for a tracer. Prints
// one line of JSON: what a launch cost, and how long a kernel of known length took by CUDA's own events, to hold a
// tracer's times against.
//
//   nl-launch-loop [LAUNCHES] [LAUNCHES_BETWEEN_WAITS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

namespace {

__global__ void tick(int* counter) {
  if (threadIdx.x == 0) ++*counter;
}

__global__ void spin(long long nanoseconds) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - start < static_cast<unsigned long long>(nanoseconds));
}

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "nl-launch-loop: %s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double spin_by_events_us() {
  cudaEvent_t before, after;
  check(cudaEventCreate(&before), "event");
  check(cudaEventCreate(&after), "event");
  check(cudaEventRecord(before), "record");
  spin<<<1, 1>>>(5'000'000);
  check(cudaEventRecord(after), "record");
  check(cudaEventSynchronize(after), "wait");
  float ms = 0;
  check(cudaEventElapsedTime(&ms, before, after), "elapsed");
  return ms * 1000.0;
}

}  // namespace

int main(int argc, char** argv) {
  long launches = argc > 1 ? std::atol(argv[1]) : 200'000;
  long between = argc > 2 ? std::atol(argv[2]) : 1000;
  if (launches < 1 || between < 1) return 2;
  int* counter = nullptr;
  check(cudaMalloc(&counter, sizeof *counter), "memory");
  check(cudaMemset(counter, 0, sizeof *counter), "memory");
  for (int i = 0; i < 1000; ++i) tick<<<1, 32>>>(counter);
  check(cudaDeviceSynchronize(), "warm up");
  double start = seconds();
  for (long done = 0; done < launches; done += between) {
    for (long i = 0, some = std::min(between, launches - done); i < some; ++i) tick<<<1, 32>>>(counter);
    check(cudaDeviceSynchronize(), "launches");
  }
  double taken = seconds() - start;
  int count = 0;
  check(cudaMemcpy(&count, counter, sizeof count, cudaMemcpyDeviceToHost), "copy");
  double event_us = spin_by_events_us();
  std::printf("{\"launches\": %ld, \"us_per_launch\": %.4f, \"counted\": %d, \"spin_event_us\": %.3f}\n", launches,
              taken / static_cast<double>(launches) * 1e6, count, event_us);
  return count == launches + 1000 ? 0 : 1;
}
