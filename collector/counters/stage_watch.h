#pragma once

#include <cstdint>

#include "collector/nvtx/recorder.h"

// Which of the program's ranges are stages that counters are wanted for.
namespace nl::collector {

// Is called on the thread of the range. It is not called for stages inside another stage of the same thread: only the
// outermost counts. Both ends have the same token: the number of a started range, or the thread's with kPushedStage for a pushed one.
inline constexpr std::uint64_t kPushedStage = std::uint64_t{1} << 63;
struct StageListener {
  void (*opened)(EventText text, std::uint64_t token);
  void (*closed)(std::uint64_t token);
  void (*begins)(EventText text) = nullptr;  // of every range, whatever it is
};

// `list`: "LLM@prefill\nLLM@decode_all", domain and name; a range of the default domain with that literal name is
// the same. In a line, * stands for any text: "execute_context_0(0)_generation_*", "*@execute_*". It is not copied. nullptr: no range is a stage.
// The listener may be nullptr. False: the list names no stage.
bool watch_stages(const char* list, const StageListener* listener);

// Which line of the list names the range, counted from 0 without the empty ones, the first where several do. -1: none.
int stage_line(EventText text);
inline constexpr int kMaxStageLines = 64;

// Whether a stage is open on this thread, or was started (not pushed) on any; always where none were named.
bool in_stage();

}  // namespace nl::collector
