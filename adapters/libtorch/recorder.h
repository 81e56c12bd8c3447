#pragma once

#include <ATen/record_function.h>

#include <mutex>

#include "adapters/libtorch/calls.h"

namespace nl::adapters {

// Sizes, types and devices of the tensors among a call's inputs, as numbers that are quickly compared.
class InputFacts {
 public:
  void read(c10::ArrayRef<const c10::IValue> inputs);
  void describe(SessionNode& node) const;
  friend bool operator==(const InputFacts&, const InputFacts&) = default;

 private:
  void add(const at::Tensor& tensor);
  std::vector<std::int64_t> facts_;
};

// Records every operator that LibTorch calls on this thread and on those it forks tasks to, with an NVTX range around each that is named as
// PyTorch's emit_nvtx names it. op_id and the node's index are its place in the iteration, so the text is made once.
class Recorder {
 public:
  // Records until it is destroyed. One at a time in a process.
  class Iteration {
   public:
    explicit Iteration(Recorder& recorder);
    ~Iteration();
    Iteration(const Iteration&) = delete;
    Iteration& operator=(const Iteration&) = delete;

   private:
    at::CallbackHandle callback_;
  };

  Executions executions() const;

  // Only for the callbacks.
  std::uint32_t begin(const at::RecordFunction& function, std::uint32_t parent);
  void end(std::uint32_t call, Ns time_ns);

 private:
  struct Look {
    SessionNode node;
    InputFacts facts;
    std::string range;
  };

  std::uint32_t look_of(const at::RecordFunction& function);
  std::uint32_t new_look(const char* name);

  std::mutex mutex_;  // forked tasks run on other threads
  std::uint32_t iterations_ = 0;
  std::vector<RecordedCall> calls_;
  std::vector<Look> looks_;
  std::vector<std::uint32_t> at_position_;  // looks of the iteration before: mostly the same call comes at the same place again
  std::size_t position_ = 0;
  bool diverged_ = false;  // this iteration is not like the one before: look at each call anew
  InputFacts facts_;       // of the call at hand; kept for its memory
};

}  // namespace nl::adapters
