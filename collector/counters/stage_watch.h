#pragma once

#include <cstdint>

#include "collector/nvtx/recorder.h"

// Which of the program's ranges are stages that counters are wanted for.
namespace nl::collector {

// Told on the thread of the range. A thread's stages inside another of its stages are not told of: the outermost
// counts. The token is the same for both ends: a start's number, or of a pushed one the thread's with kPushedStage.
inline constexpr std::uint64_t kPushedStage = std::uint64_t{1} << 63;
struct StageListener {
  void (*opened)(EventText text, std::uint64_t token);
  void (*closed)(std::uint64_t token);
};

// `list`: "LLM@prefill\nLLM@decode_all", domain and name; a range of the default domain with that literal name is
// the same. It is not copied. nullptr: no range is one. The listener may be nullptr. False: none is named.
bool watch_stages(const char* list, const StageListener* listener);

// Whether a stage is open on this thread, or was started (not pushed) on any; always where none were named.
bool in_stage();

}  // namespace nl::collector
