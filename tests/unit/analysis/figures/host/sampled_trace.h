#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/analysis/trace_builder.h"

namespace nl::test {

// A trace with samples of its host. Process 0 is 100, its threads are 1000 and 1001.
struct SampledTrace : TraceBuilder {
  std::uint32_t frame(const std::string& module, const std::string& function, std::uint32_t line, const std::string& source = "") {
    trace.host.frames.push_back({function, "/site/" + module + ".py", module, line, 1, source});
    return static_cast<std::uint32_t>(trace.host.frames.size() - 1);
  }
  std::uint32_t stack(std::vector<std::uint32_t> frames) {
    trace.host.stacks.push_back(std::move(frames));
    return static_cast<std::uint32_t>(trace.host.stacks.size() - 1);
  }
  void sample(Ns at, std::uint32_t stack, std::uint32_t thread = 0) {
    trace.host.sampler = HostSampler::kPython;
    const Thread& where = trace.threads[thread];
    trace.host.samples.push_back({at, trace.processes[where.process].pid, where.tid, stack});
    std::stable_sort(trace.host.samples.begin(), trace.host.samples.end(),
                     [](const HostSample& a, const HostSample& b) { return a.time_ns < b.time_ns; });
  }
  void collection(Ns start, Ns end, std::uint32_t thread = 0, std::uint32_t pid = 100) {
    trace.host.collections.push_back({start, end, pid, trace.threads[thread].tid, 2});
    std::stable_sort(trace.host.collections.begin(), trace.host.collections.end(),
                     [](const GarbageCollection& a, const GarbageCollection& b) { return a.start_ns < b.start_ns; });
  }
  void os_call(Ns start, Ns end, const char* name, std::uint32_t thread = 0) {
    call(start, thread, name, static_cast<std::uint64_t>(end - start));
    trace.os_calls.push_back(trace.api_calls.back());
    trace.api_calls.pop_back();
  }
};

}  // namespace nl::test
