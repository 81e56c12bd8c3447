#pragma once

#include <cstdint>

// Tracing one step in so many. In the others CUPTI records nothing, and a launch costs next to nothing.
namespace nl::collector {

// Chooses a row of steps of each so many rows of a kind, at random, so that nothing that repeats is always met or always missed. Rows, because
// turning tracing on and off takes about 0.2 ms.
class StepChooser {
 public:
  static constexpr unsigned kMostKinds = 64;

  void start(std::uint32_t every, std::uint32_t row, std::uint64_t seed) { every_ = every, row_ = row, seed_ = seed; }
  // Whether the next step of this kind is chosen, and whether the one after it is. A kind beyond the most never is.
  struct Choice {
    bool now = false, goes_on = false;
  };
  Choice next(const void* kind);

 private:
  struct Kind {
    const void* key = nullptr;
    std::uint64_t steps = 0;
  };
  bool chosen(unsigned kind, std::uint64_t step) const;

  std::uint32_t every_ = 1, row_ = 1;
  std::uint64_t seed_ = 0;
  Kind kinds_[kMostKinds] = {};
};

// As NL_STAGE_DUTY ("1/10") and NL_STAGE_DUTY_STEPS (names as of watch_stages()) say. Called once tracing has started: it stops until the
// first chosen step. False: all is traced, because nothing else is asked for.
bool trace_chosen_steps();

}  // namespace nl::collector
