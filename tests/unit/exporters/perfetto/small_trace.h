#pragma once

#include "model/trace.h"

namespace nl::test {

// A thread and a queue to put rows on.
inline Trace small_trace() {
  Trace trace;
  trace.processes = {{100, "python3"}};
  trace.threads = {{0, 101, "main"}, {0, 102, "worker"}};
  trace.queues = {{0, 0, 1, 7}};
  trace.devices.emplace_back().name = "NVIDIA H200";
  trace.duration_ns = 10000;
  KernelShape shape;
  shape.name = trace.strings.intern("void gemm<float>(float*)");
  shape.short_name = trace.strings.intern("gemm");
  shape.grid = {8, 12, 1};
  shape.block = {384, 1, 1};
  shape.registers_per_thread = 168;
  trace.shapes = {shape};
  return trace;
}

inline Kernel kernel_at(Ns start_ns, std::uint64_t duration_ns, std::uint32_t api = kNone) {
  Kernel kernel;
  kernel.start_ns = start_ns;
  kernel.duration_ns = duration_ns & 0xFFFFFFFFFFF;
  kernel.shape = 0;
  kernel.api = api;
  return kernel;
}

inline ApiCall call_at(Trace& trace, Ns start_ns, std::uint64_t duration_ns, std::uint32_t correlation) {
  ApiCall call;
  call.start_ns = start_ns;
  call.duration_ns = duration_ns & 0xFFFFFFFFFFF;
  call.name = trace.strings.intern("cudaLaunchKernel");
  call.correlation = correlation;
  return call;
}

}  // namespace nl::test
