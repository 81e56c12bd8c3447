#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/analysis/figures/host/sampled_trace.h"

namespace nl::test {

// A program that is written as it runs: one thread launches kernels, waits for them and works, while its stack is sampled.
struct SteppingProgram : SampledTrace {
  Ns now = 1'000'000, gpu_free = 0;
  Ns period = 97'000, next_sample = 1'000'000;

  // A launch takes the host `host_ns`; the kernel starts 4 µs after its call at the earliest.
  void work(const char* name, Ns host_ns, Ns gpu_ns, std::uint32_t stack) {
    const std::uint32_t api = call(now, 0, "cudaLaunchKernel", static_cast<std::uint64_t>(std::min<Ns>(host_ns, 3'000)));
    const Ns start = std::max(now + 4'000, gpu_free);
    kernel(name, start, static_cast<std::uint64_t>(gpu_ns), api);
    gpu_free = start + gpu_ns;
    run_host(host_ns, stack);
  }
  void work(const char* name, int times, Ns host_ns, Ns gpu_ns, std::uint32_t stack) {
    for (int i = 0; i < times; ++i) work(name, host_ns, gpu_ns, stack);
  }
  // The program's own time, without a CUDA call.
  void run_host(Ns host_ns, std::uint32_t stack) {
    for (; next_sample < now + host_ns; next_sample += period) put_sample(next_sample, stack);
    now += host_ns;
  }
  void wait_for_gpu(std::uint32_t stack) {
    const Ns end = std::max(now, gpu_free) + 2'000;
    wait(now, end);
    run_host(end - now, stack);
  }
  // Runs one step, as a window of the stage.
  template <class Step>
  void step(Step body, const char* name = "decode_step") {
    const Ns start = now;
    body();
    stage(name, start, now);
  }

 private:
  void put_sample(Ns at, std::uint32_t stack) {
    trace.host.sampler = HostSampler::kPython;
    trace.host.samples.push_back({at, trace.processes[0].pid, trace.threads[0].tid, stack});
  }
};

}  // namespace nl::test
