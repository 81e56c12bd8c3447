#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nl::orchestrator::sampling {

// By the name of the program or library.
bool is_python(std::string_view file);

struct SamplingRequest {
  int hertz = 0;                       // of the processor time of each thread; 0: nothing is sampled
  std::vector<std::string> only_with;  // processes that have mapped a file whose name begins so; empty: all
};

// Times are CLOCK_MONOTONIC. Only names and numbers: what was on the stacks themselves is not kept.
struct SampledStacks {
  int error = 0;  // why nothing was sampled, or not all: the error of perf_event_open; 0: it was, or it was not asked for
  std::uint64_t samples = 0, lost = 0;
  std::vector<std::pair<std::uint32_t, std::string>> files;  // of each process: its number, and the text of stacks-<pid>.txt
};

// Samples the native stacks of all that the calling thread starts while this object lives, except of Python's processes: their own sampler
// sees more. See docs/marks.md.
class StackSampler {
 public:
  explicit StackSampler(const SamplingRequest& request);
  ~StackSampler();
  StackSampler(const StackSampler&) = delete;
  StackSampler& operator=(const StackSampler&) = delete;

  // Ends it. To be called once.
  SampledStacks finish();

 private:
  class Work;
  SamplingRequest request_;
  int error_ = 0;
  std::unique_ptr<Work> work_;  // null: nothing is sampled
};

}  // namespace nl::orchestrator::sampling
