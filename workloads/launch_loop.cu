// nl-launch-loop: thousands of launches of a kernel that does next to nothing, the worst case for a tracer. Prints
// one line of JSON: what a launch cost, how long a kernel of known length took by CUDA's own events, and when the
// host saw kernels begin and let them end, to hold a tracer's times against.
//
//   nl-launch-loop [LAUNCHES] [LAUNCHES_BETWEEN_WAITS] [--busy] [--fork] [--outlive] [--abandon] [--leave] [--turns [--graph NODES]]
//
// --busy     in the end, 300 ms of nothing, 300 ms of a kernel on all of the GPU, and nothing again
// --fork     halfway, a child without exec that ends through exit(), as a careless program's does
// --outlive  main ends at once (pthread_exit), a thread does the work and ends the program
// --abandon  main returns while a thread still launches
// --leave    nothing but a kernel of three seconds, for which main does not wait
// --turns    nothing but the launches, once more for each line on standard input
// --graph    of CUDA graphs of so many such kernels: what a launch costs the host, without the waits
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include "workloads/turns.h"

namespace {

constexpr long kWarmUp = 1000;
constexpr int kHolds = 20;

struct Options {
  long launches = 200'000, between = 1000, nodes = 0;
  bool busy = false, fork = false, outlive = false, abandon = false, leave = false, turns = false;
};

__device__ unsigned long long global_ns() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__global__ void tick(int* counter) {
  if (threadIdx.x == 0) ++*counter;
}

__global__ void spin(long long nanoseconds) {
  const unsigned long long start = global_ns();
  while (global_ns() - start < static_cast<unsigned long long>(nanoseconds)) {
  }
}

// Says that it runs, and runs until it is told to end. It gives up by itself, because under a profiler that waits for
// each launch the host cannot tell it.
__global__ void hold(volatile int* begun, volatile int* end) {
  *begun = 1;
  __threadfence_system();
  const unsigned long long start = global_ns();
  while (*end == 0 && global_ns() - start < 200'000'000ull) {
  }
}

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "nl-launch-loop: %s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

long long monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000ll + now.tv_nsec;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// What a launch of each block cost, in microseconds.
template <typename Launch>
std::vector<double> time_blocks(long launches, long between, bool with_wait, Launch launch) {
  std::vector<double> costs;
  for (long done = 0; done < launches; done += between) {
    const long some = std::min(between, launches - done);
    const long long start = monotonic_ns();
    for (long i = 0; i < some; ++i) launch();
    const long long launched = monotonic_ns();
    check(cudaDeviceSynchronize(), "launches");
    const long long end = with_wait ? monotonic_ns() : launched;
    costs.push_back(static_cast<double>(end - start) / 1000.0 / static_cast<double>(some));
  }
  return costs;
}

std::vector<double> launch_blocks(long launches, long between, int* counter) {
  return time_blocks(launches, between, true, [&] { tick<<<1, 32>>>(counter); });
}

cudaGraphExec_t graph_of_ticks(long nodes, int* counter) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  check(cudaStreamCreate(&stream), "stream");
  tick<<<1, 32, 0, stream>>>(counter);  // loads it
  check(cudaStreamSynchronize(stream), "tick");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (long i = 0; i < nodes; ++i) tick<<<1, 32, 0, stream>>>(counter);
  check(cudaStreamEndCapture(stream, &graph), "capture");
  check(cudaGraphInstantiateWithFlags(&ready, graph, 0), "graph");
  check(cudaGraphDestroy(graph), "graph");
  check(cudaStreamDestroy(stream), "stream");
  return ready;
}

double spin_by_events_us() {
  // A kernel's first launch loads it, which would lie between the events.
  spin<<<1, 1>>>(1000);
  check(cudaDeviceSynchronize(), "spin");
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

struct Holds {
  std::vector<long long> seen_ns, release_ns;
};

// A tracer's kernel must begin before it was seen to, and end after it was let go, each by a few microseconds.
Holds hold_kernels() {
  int* host = nullptr;
  int* device = nullptr;
  check(cudaHostAlloc(reinterpret_cast<void**>(&host), 64 * 2, cudaHostAllocMapped), "pinned memory");
  check(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device), host, 0), "pinned memory");
  volatile int* begun = host;
  volatile int* end = host + 16;  // a cache line of its own
  Holds holds;
  for (int round = 0; round < kHolds; ++round) {
    *begun = *end = 0;
    hold<<<1, 1>>>(device, device + 16);
    check(cudaGetLastError(), "hold");
    const long long launched = monotonic_ns();
    while (*begun == 0 && monotonic_ns() - launched < 1'000'000'000) {
    }
    holds.seen_ns.push_back(monotonic_ns());
    while (monotonic_ns() - holds.seen_ns.back() < 100'000) {
    }
    holds.release_ns.push_back(monotonic_ns());
    *end = 1;
    check(cudaDeviceSynchronize(), "hold");
  }
  check(cudaFreeHost(host), "pinned memory");
  return holds;
}

void keep_busy() {
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), "device");
  usleep(300'000);
  spin<<<multiprocessors, 1024>>>(300'000'000);
  check(cudaDeviceSynchronize(), "busy");
  usleep(300'000);
}

// The status of a child that used nothing of CUDA and went through every exit handler it inherited; -1 where it hung.
int forked_child() {
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  int status = 0;
  for (int tenths = 0; tenths < 100; ++tenths) {
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    usleep(100'000);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return -1;
}

std::string array(const std::vector<long long>& values) {
  std::string text;
  for (long long value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

int take_turns(const Options& options) {
  int* counter = nullptr;
  check(cudaMalloc(&counter, sizeof *counter), "memory");
  check(cudaMemset(counter, 0, sizeof *counter), "memory");
  const cudaGraphExec_t graph = options.nodes > 0 ? graph_of_ticks(options.nodes, counter) : nullptr;
  auto launch_graph = [&] { check(cudaGraphLaunch(graph, nullptr), "graph"); };
  while (nl::next_turn()) {
    const std::vector<double> costs = graph != nullptr ? time_blocks(options.launches, options.between, false, launch_graph)
                                                       : launch_blocks(options.launches, options.between, counter);
    std::printf("{\"us_per_launch_median\": %.4f}\n", median(costs));
    std::fflush(stdout);
  }
  return 0;
}

int run(const Options& options) {
  int* counter = nullptr;
  check(cudaMalloc(&counter, sizeof *counter), "memory");
  check(cudaMemset(counter, 0, sizeof *counter), "memory");
  launch_blocks(kWarmUp, kWarmUp, counter);
  const long first = options.fork ? options.launches / 2 : options.launches;
  const long long start = monotonic_ns();
  std::vector<double> costs = launch_blocks(first, options.between, counter);
  int child = 0;
  if (options.fork) {
    child = forked_child();
    for (double cost : launch_blocks(options.launches - first, options.between, counter)) costs.push_back(cost);
  }
  const double taken_us = static_cast<double>(monotonic_ns() - start) / 1000.0;
  int count = 0;
  check(cudaMemcpy(&count, counter, sizeof count, cudaMemcpyDeviceToHost), "copy");
  const double event_us = spin_by_events_us();
  const Holds holds = hold_kernels();
  if (options.busy) keep_busy();
  std::printf(
      "{\"launches\": %ld, \"us_per_launch\": %.4f, \"us_per_launch_median\": %.4f, \"counted\": %d, "
      "\"spin_event_us\": %.3f, \"child_status\": %d, \"hold_seen_ns\": %s, \"hold_release_ns\": %s}\n",
      options.launches, taken_us / static_cast<double>(options.launches), median(costs), count, event_us, child,
      array(holds.seen_ns).c_str(), array(holds.release_ns).c_str());
  std::fflush(stdout);
  return count == options.launches + kWarmUp && child == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  int position = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--busy") == 0) options.busy = true;
    else if (std::strcmp(argv[i], "--fork") == 0) options.fork = true;
    else if (std::strcmp(argv[i], "--outlive") == 0) options.outlive = true;
    else if (std::strcmp(argv[i], "--abandon") == 0) options.abandon = true;
    else if (std::strcmp(argv[i], "--leave") == 0) options.leave = true;
    else if (std::strcmp(argv[i], "--turns") == 0) options.turns = true;
    else if (std::strcmp(argv[i], "--graph") == 0 && i + 1 < argc) options.nodes = std::atol(argv[++i]);
    else (position++ == 0 ? options.launches : options.between) = std::atol(argv[i]);
  }
  if (options.launches < 2 || options.between < 1 || position > 2 || options.nodes < 0 || (options.nodes > 0 && !options.turns)) return 2;
  if (options.turns) return take_turns(options);
  if (options.leave) {
    spin<<<1, 1>>>(3'000'000'000);
    check(cudaGetLastError(), "launch");
    return 0;
  }
  if (options.abandon) {
    std::thread([options] { run(options); }).detach();
    usleep(1'500'000);
    return 0;
  }
  if (!options.outlive) return run(options);
  std::thread([options] { std::exit(run(options)); }).detach();
  pthread_exit(nullptr);
}
