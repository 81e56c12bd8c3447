#pragma once

#include <cstdint>

#include "collector/nvtx/recorder.h"

// The steps of the program, as its ranges and marks tell of them: what their names say, and how long they take.
namespace nl::collector {

struct Step {
  std::int64_t index = -1;     // as the program counts them; -1: it does not
  std::uint32_t requests = 0;  // in its batch; 0: not known
};

// "step index=41 requests=7:prefill:512,8:decode:1", of the domain LLM, belongs to the next step of the thread.
bool is_step_mark(EventText text);
Step step_of_mark(const char* text, std::uint32_t length);

// A call of NCCL in which all processes take part, by the range that NCCL marks it with. They call the same ones in the same order, so
// that the number of them tells which steps belong together.
bool is_collective(EventText text);

// What the name of a step's range says: vLLM's "execute_context_2(512)_generation_6(6)", SGLang's "step[DECODE bs=8 toks=8]".
std::uint32_t requests_of_name(const char* text, std::uint32_t length);

// The durations of the last steps.
class StepTimes {
 public:
  void add(std::int64_t duration_ns);
  std::uint64_t count() const { return count_; }
  std::int64_t median_ns() const;  // 0: none yet

 private:
  static constexpr std::uint32_t kMost = 128;
  std::int64_t durations_[kMost] = {};
  std::uint64_t count_ = 0;
};

}  // namespace nl::collector
