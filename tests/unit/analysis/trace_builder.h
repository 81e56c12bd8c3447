#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"

// A trace that a test writes row by row. Process 0 has the threads 0 and 1; its queues are 0 on GPU 0 and 1 on GPU 1.
struct TraceBuilder {
  nl::Trace trace;

  TraceBuilder() {
    trace.has_kernel_data = trace.has_api_data = trace.has_range_data = trace.has_mem_data = true;
    trace.processes.resize(1);
    trace.processes[0].pid = 100;
    thread(0);
    thread(0);
    queue(0, 0, 7);
    queue(0, 1, 7);
  }

  std::uint32_t process() {
    trace.processes.emplace_back().pid = static_cast<std::uint32_t>(100 + trace.processes.size());
    return static_cast<std::uint32_t>(trace.processes.size() - 1);
  }
  std::uint32_t thread(std::uint32_t process) {
    nl::Thread thread;
    thread.process = process;
    thread.tid = static_cast<std::uint32_t>(1000 + trace.threads.size());
    trace.threads.push_back(thread);
    return static_cast<std::uint32_t>(trace.threads.size() - 1);
  }
  std::uint32_t queue(std::uint32_t process, std::int32_t device, std::uint32_t stream) {
    trace.queues.push_back({process, device, 1, stream});
    return static_cast<std::uint32_t>(trace.queues.size() - 1);
  }
  nl::Range& range(const char* domain, const char* name, nl::Ns start, nl::Ns end, std::uint32_t thread = 0,
                   nl::RangeStyle style = nl::RangeStyle::kPushPop, bool open = false) {
    nl::Range range;
    range.start_ns = start;
    range.end_ns = end;
    range.domain = trace.strings.intern(domain);
    range.name = trace.strings.intern(name);
    range.thread = thread;
    range.style = style;
    range.open = open;
    trace.ranges.push_back(range);
    return trace.ranges.back();
  }
  nl::Range& stage(const std::string& name, nl::Ns start, nl::Ns end, std::uint32_t thread = 0) {
    return range("LLM", name.c_str(), start, end, thread);
  }
  std::uint32_t call(nl::Ns at, std::uint32_t thread = 0, const char* name = "cudaLaunchKernel", std::uint64_t duration = 2) {
    nl::ApiCall call;
    call.start_ns = at;
    call.duration_ns = duration;
    call.thread = thread;
    call.name = trace.strings.intern(name);
    trace.api_calls.push_back(call);
    return static_cast<std::uint32_t>(trace.api_calls.size() - 1);
  }
  void wait(nl::Ns start, nl::Ns end, std::uint32_t thread = 0, const char* name = "cudaStreamSynchronize") {
    call(start, thread, name, static_cast<std::uint64_t>(end - start));
  }
  nl::Kernel& kernel(const char* name, nl::Ns start, std::uint64_t duration, std::uint32_t api, std::uint32_t queue = 0) {
    std::uint32_t shape = 0;
    const auto id = trace.strings.intern(name);
    while (shape < trace.shapes.size() && trace.shapes[shape].name != id) ++shape;
    if (shape == trace.shapes.size()) trace.shapes.push_back({id, id, id, {}, {}, 0, 0, 0});
    nl::Kernel kernel;
    kernel.start_ns = start;
    kernel.duration_ns = duration;
    kernel.shape = shape;
    kernel.api = api;
    kernel.queue = queue;
    trace.kernels.push_back(kernel);
    return trace.kernels.back();
  }
  nl::MemOp& copy(nl::MemOpKind kind, nl::Ns start, nl::Ns end, std::uint32_t api, std::uint32_t queue = 0) {
    nl::MemOp op;
    op.start_ns = start;
    op.end_ns = end;
    op.kind = kind;
    op.api = api;
    op.queue = queue;
    op.bytes = 64;
    trace.mem_ops.push_back(op);
    return trace.mem_ops.back();
  }
  void graph(nl::Ns start, nl::Ns end, std::uint32_t api, std::uint32_t queue = 0) { trace.graph_runs.push_back({start, end, queue, api}); }
  void mark(const char* domain, const char* text, nl::Ns at, std::uint32_t thread = 0) {
    trace.marks.push_back({at, trace.strings.intern(text), trace.strings.intern(domain), thread});
  }
  // A launch that takes two nanoseconds, and its kernel.
  void launch(nl::Ns at, nl::Ns start, std::uint64_t duration, std::uint32_t thread = 0, std::uint32_t queue = 0) {
    kernel("k", start, duration, call(at, thread), queue);
  }

  nl::Run run(const nl::analysis::SummaryOptions& options = {}) const {
    nl::Run run;
    nl::analysis::summarise(trace, options, run);
    return run;
  }
  // Every window counts, the first ones too.
  nl::Run run_all() const {
    nl::analysis::SummaryOptions options;
    options.warmup.mode = nl::analysis::WarmupRule::Mode::kNone;
    return run(options);
  }
};

inline const nl::StageEntry& stage(const nl::Run& run, std::string_view name) {
  for (const auto& each : run.stages)
    if (each.name == name) return each;
  FAIL("no stage " << name);
  throw 0;
}
