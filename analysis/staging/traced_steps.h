#pragma once

#include <cstdint>

#include "analysis/staging/iterations.h"
#include "model/trace.h"

// A capture that traced only some of the steps (capture.duty).
namespace nl::analysis {

// Leaves out of the trace the ranges that were not traced from their beginning to their end, those of warm-up iterations, and those that
// begin while the GPU may still run work that was launched before. All windows of the stages are kept in trace.duty with their walls, by
// which everything else goes. A trace without spans, or one that this was done to, stays as it is. By duty, and
// without a step that began in a pause: all was traced, and the trace is as if nothing else had been asked for.
enum class PausedBy : std::uint8_t { kDuty, kWindow };  // between steps, or before and after a window of a recorder
void keep_traced_steps(Trace& trace, const WarmupRule& warmup, PausedBy by = PausedBy::kWindow);

// True where that was done: what is left are single steps, no iterations.
inline bool has_traced_steps(const Trace& trace) { return trace.duty && !trace.duty->windows.empty(); }

// All ranges that were recorded, also of steps that were not traced: those who ask only what the program did, and when.
void each_range(const Trace& trace, auto visit) {
  for (const Range& range : trace.ranges) visit(range);
  if (!trace.duty) return;
  for (const Range& range : trace.duty->left_out) visit(range);
}

// Whether the GPU's work was recorded all through a time of the process.
bool is_traced(const Trace& trace, std::uint32_t process, Ns start_ns, Ns end_ns);

// Rows that are needed for an interval, and for leaving out the steps that are always traced because they come first.
inline constexpr std::size_t kEnoughRows = 5;

}  // namespace nl::analysis
