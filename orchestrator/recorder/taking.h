#pragma once

#include "orchestrator/recorder/process_link.h"
#include "orchestrator/recorder/window.h"

// One process of a window that is being taken: what it was told, and what it said.
namespace nl::orchestrator {

struct Taking {
  enum class State { kAsked, kArmed, kMet, kTold, kOpen, kClosed, kGone };

  ProcessLink link;
  WindowProcess process;
  State state = State::kAsked;
  std::int64_t next_step = -1, next_collective = -1;  // of the step that would begin next; -1: it has no such number
  std::int64_t step_collectives = 0;
  Ns median_ns = 0;
  bool answers = true;  // false: it was asked how far it is, and has not said so yet

  bool over() const { return state == State::kClosed || state == State::kGone; }
  bool leads() const { return !over() && process.has_steps; }
  // Error(kUsage) where another window is open in it.
  void hear(const RecorderLine& line);
  void lose();  // it has ended
};

// Where several processes open: at a step that none of them has reached, as far as is known.
struct OpenAt {
  std::int64_t step = -1, collective = -1;  // -1: not by that number
};
OpenAt step_ahead(const std::vector<Taking>& all);

// Whether the first steps of the processes turned out to be the same one.
WindowOpening opening_of(const std::vector<WindowProcess>& processes, OpenAt told);

}  // namespace nl::orchestrator
