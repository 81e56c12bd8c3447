#pragma once

#include <string>

#include "model/trace.h"

// A trace written by hand: ranges, calls and the work they launch.
namespace nl::test {

struct SmallTrace {
  Trace trace;

  explicit SmallTrace(std::size_t threads = 1) {
    trace.processes.push_back({1, "program"});
    for (std::uint32_t i = 0; i < threads; ++i) trace.threads.push_back({0, i + 1, {}});
    trace.queues.push_back({});
    trace.has_range_data = trace.has_kernel_data = trace.has_mem_data = trace.has_api_data = true;
  }

  Range& range(const std::string& domain, const std::string& name, Ns start, Ns end, std::uint32_t thread = 0) {
    Range range;
    range.domain = trace.strings.intern(domain);
    range.name = trace.strings.intern(name);
    range.start_ns = start;
    range.end_ns = end;
    range.thread = thread;
    trace.ranges.push_back(range);
    return trace.ranges.back();
  }

  // Calls must come in the order of thread and start, as importers leave them.
  std::uint32_t call(Ns start, Ns end, std::uint32_t thread = 0) {
    ApiCall call;
    call.start_ns = start;
    call.duration_ns = static_cast<std::uint64_t>(end - start) & kMaxPackedDurationNs;
    call.thread = thread & 0xFFFFF;
    trace.api_calls.push_back(call);
    return static_cast<std::uint32_t>(trace.api_calls.size() - 1);
  }

  void kernel(std::uint32_t api, Ns duration, const std::string& name = "k") {
    KernelShape shape;
    shape.name = trace.strings.intern(name);
    trace.shapes.push_back(shape);
    Kernel kernel;
    kernel.duration_ns = static_cast<std::uint64_t>(duration) & kMaxPackedDurationNs;
    kernel.shape = static_cast<std::uint32_t>(trace.shapes.size() - 1);
    kernel.api = api;
    trace.kernels.push_back(kernel);
  }

  void copy(std::uint32_t api, Ns duration, const std::string& label) {
    MemOp op;
    op.end_ns = duration;
    op.queue = 0;
    op.api = api;
    op.label = trace.strings.intern(label).value;
    trace.mem_ops.push_back(op);
  }
};

}  // namespace nl::test
