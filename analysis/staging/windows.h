#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/staging/stage_table.h"
#include "analysis/trace/gpu_lanes.h"
#include "model/stage.h"
#include "model/trace.h"

namespace nl::analysis {

// One execution of a stage. A range inside another of the same stage on its thread is the same phase marked
// twice ("LLM@decode_all" around LLM:decode), so it adds no window; start/end ranges of one name are requests
// that overlap, and count each. Ranges that were never closed do not count: how long they took is not known.
struct Window {
  Ns start_ns = 0;
  Ns end_ns = 0;                // not before the start
  std::uint32_t stage = kNone;  // of the StageTable
  std::uint32_t thread = kNone;
  std::uint32_t process = 0;        // see process_slot()
  std::uint32_t iteration = kNone;  // of the IterationPlan; none: before the first of its thread
  bool warmup = false;
  bool derived = false;                // decode as the span of an iteration's steps
  std::optional<std::int64_t> tokens;  // of all sequences, where its range says so
  Ns wall_ns() const { return end_ns - start_ns; }
};

// Sorted by thread, then start, longest first. Where a clock stepped back, the window has no length.
std::vector<Window> find_windows(const Trace& trace, const StageTable& table);

bool earlier_on_thread(const Window& a, const Window& b);

// By window: whether it is measured and takes more than kSlowWindow times the median of its stage's measured windows. None is slow
// where a stage has less than kEnoughWindows: one slow window of three is not an exception.
inline constexpr double kSlowWindow = 1.5;
inline constexpr std::size_t kEnoughWindows = 8;
std::vector<bool> slow_windows(const std::vector<Window>& windows, std::size_t stages);

// The slow windows of each stage, without their budget. Nothing where there are none.
std::vector<std::optional<SlowWindows>> told_slow_windows(const Trace& trace, const std::vector<Window>& windows,
                                                          const std::vector<bool>& slow, std::size_t stages);

// A stretch of time that a budget divides into bins: a window of a stage, or of a phase.
struct BudgetSpan {
  Ns start_ns = 0, end_ns = 0;
  Ns launch_end_ns = 0;          // a launch from then on is not its own: the end of the window
  std::uint32_t process = 0;     // see process_slot()
  std::uint32_t thread = kNone;  // whose waiting counts as blocked
  std::uint32_t target = 0;      // which sum it goes into
  bool window = false;           // of a stage: work that it launched itself is counted separately
};

}  // namespace nl::analysis
