#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/staging/traced_steps.h"
#include "tests/unit/analysis/trace_builder.h"

// A program whose steps follow each other, of which spans were traced. Each step has one launch and one kernel, where it was traced.
struct DutyRun : TraceBuilder {
  static constexpr nl::Ns kStepNs = 1'000'000, kBetweenNs = 50'000;

  DutyRun() { trace.duty.emplace(); }

  void span(nl::Ns start, nl::Ns end, nl::Ns last_begin = -1, std::uint32_t process = 0) {
    trace.duty->spans.push_back({start, end, last_begin < 0 ? end : last_begin, process});
  }

  // Rows of steps, traced or not, beginning where the last one ended. `late_ns`: how long its first kernel waits behind unseen work.
  void steps(const char* name, int count, bool traced, nl::Ns wall_ns = kStepNs, nl::Ns late_ns = 0) {
    const nl::Ns from = now_ns;
    for (int i = 0; i < count; ++i, late_ns = 0) {
      stage(name, now_ns, now_ns + wall_ns);
      if (traced) launch(now_ns + 1000, now_ns + 5000 + late_ns, static_cast<std::uint64_t>(wall_ns / 2));
      now_ns += wall_ns + kBetweenNs;
    }
    if (traced) span(from - 1, now_ns - kBetweenNs + 1);
  }

  std::vector<nl::Ns> starts(const char* name) const {
    std::vector<nl::Ns> out;
    for (const nl::Range& range : trace.ranges)
      if (trace.strings[range.name] == name) out.push_back(range.start_ns);
    return out;
  }
  int windows(nl::WindowTracing tracing) const {
    int count = 0;
    for (const nl::SampledWindow& window : trace.duty->windows) count += window.tracing == tracing;
    return count;
  }

  nl::Ns now_ns = 1'000'000;
};

inline const nl::analysis::WarmupRule kKeepWarmup{.mode = nl::analysis::WarmupRule::Mode::kNone};
