#pragma once

#include <cstdint>

// Tracing one step in so many. In the others CUPTI records nothing, and a launch costs next to nothing.
namespace nl::collector {

// Chooses one of each `every` steps of a kind, at random, so that nothing that repeats is always met or always missed.
class StepChooser {
 public:
  static constexpr unsigned kMostKinds = 64;

  void start(std::uint32_t every, std::uint64_t seed) { every_ = every, seed_ = seed; }
  // Whether the next step of this kind is chosen. A kind beyond the most never is.
  bool next(const void* kind);

 private:
  struct Kind {
    const void* key = nullptr;
    std::uint64_t steps = 0;
  };

  std::uint32_t every_ = 1;
  std::uint64_t seed_ = 0;
  Kind kinds_[kMostKinds] = {};
};

// As NL_STAGE_DUTY ("1/10") and NL_STAGE_DUTY_STEPS (names as of watch_stages()) say. Called once tracing has started: it stops until the
// first chosen step. False: all is traced, because nothing else is asked for.
bool trace_chosen_steps();

}  // namespace nl::collector
