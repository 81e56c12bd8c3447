#pragma once

#include <cstdint>

// A window: so many steps of the program, from the beginning of one to the end of another, in which the GPU's work is recorded. The
// program's threads say when a step begins and ends; all else is done by the recorder's own thread.
namespace nl::collector {

struct WindowPlan {
  std::uint32_t steps = 0;         // 0: as long as most_ns says
  std::int64_t most_ns = 0;        // it ends with the first step that ends later than that after its beginning
  std::uint32_t min_requests = 0;  // it begins with a step of so many at least
  double slow_factor = 0;          // it begins after a step that took more than so many times the median
  std::int64_t slow_ns = 0;        // or more than that
};

enum class WindowPhase : int {
  kNone,
  kWaiting,  // for what the plan asks for
  kMet,      // it came
  kReady,    // opens at the next step that fits
  kOpen,
  kEnding,
};

// By what steps of several processes are the same.
struct StepNumbers {
  std::int64_t step = -1;        // as a mark says; -1: none does
  std::int64_t collective = -1;  // so many collectives were called before it, on its thread; -1: steps call none
};

struct WindowState {
  WindowPhase phase = WindowPhase::kNone;
  StepNumbers next;                    // of the step that would begin next
  std::uint64_t step_collectives = 0;  // from the beginning of a step to that of the next
  std::uint64_t steps_before = 0;
  std::int64_t median_ns = 0;  // of the last steps
  std::int64_t opened_ns = 0, closed_ns = 0;
  StepNumbers first;
  std::uint32_t steps = 0;  // with work, in the window
  std::uint32_t idle_steps = 0;
  std::uint64_t launches = 0;
};

void watch_steps(const char* names, void (*wake)());  // `names` as of watch_stages(); wake() is called whenever the phase has changed
void arm_window(const WindowPlan& plan, bool counts_launches);
// From now on it may open: with the step of that number or a later one, with any where there is none, or at once where the program has no
// steps.
void ready_window(StepNumbers at, bool at_once);
void end_window();  // now
void forget_window();
WindowState window_state();

}  // namespace nl::collector
