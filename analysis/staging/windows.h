#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/staging/stage_table.h"
#include "analysis/trace/processes.h"
#include "model/trace.h"

namespace nl::analysis {

// One execution of a stage. A range inside another of the same stage on its thread is the same phase marked
// twice ("LLM@decode_all" around LLM:decode) and no window of its own; start/end ranges of one name are requests
// that overlap, and count each. Ranges that were never closed are no windows: nobody knows how long they took.
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

// By thread, start, and longest first. A clock that stepped back makes a window of no length.
std::vector<Window> find_windows(const Trace& trace, const StageTable& table);

bool earlier_on_thread(const Window& a, const Window& b);

}  // namespace nl::analysis
