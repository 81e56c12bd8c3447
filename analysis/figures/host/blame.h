#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/figures/host/code_origin.h"
#include "analysis/figures/host/host_work.h"
#include "model/trace.h"

namespace nl::analysis {

// Says whose code samples show (HostBlame).
class BlameTable {
 public:
  explicit BlameTable(const Trace& trace);

  const HostWorks& works() const { return works_; }
  // In garbage collection whatever the stack says.
  HostWork work_of_sample(std::uint32_t sample) const;
  // Nothing of no samples.
  std::optional<HostBlame> of(std::span<const std::uint32_t> samples) const;
  // Of the samples, those in which the host did what neither a CUDA graph nor a faster launch saves: the loop around the model, all that is
  // neither the model nor the framework, and with `own_code` the user's own code. Between short gaps that code launches.
  std::uint64_t not_launching(std::span<const std::uint32_t> samples, bool own_code) const;
  // The frame that a stack is told by: the user's own code where it runs its own, else the line that makes the call (HostWorks).
  std::uint32_t telling_frame(std::uint32_t stack) const;
  // The frame of a whole function: where it begins.
  const HostFrame& function_of(std::uint32_t frame) const { return functions_[function_of_frame_[frame]]; }
  std::uint32_t function_number(std::uint32_t frame) const { return function_of_frame_[frame]; }
  const std::vector<HostFrame>& functions() const { return functions_; }
  bool in_collection(std::uint32_t sample) const { return in_collection_[sample]; }

 private:
  using Stack = std::vector<std::uint32_t>;
  const Stack& stack_of(std::uint32_t sample) const { return trace_.host.stacks[trace_.host.samples[sample].stack]; }
  // The place in the stack of the innermost frame of the user's own code; its size: there is none.
  std::size_t own_place(const Stack& stack) const;
  std::size_t outermost_of(const Stack& stack, std::size_t place) const;
  bool is_own(const Stack& stack) const;  // and nothing that drives the GPU is called from there
  void name_own(std::span<const std::uint32_t> samples, HostBlame& blame) const;
  void name_library(std::span<const std::uint32_t> samples, HostBlame& blame) const;

  const Trace& trace_;
  HostWorks works_;
  std::vector<CodeOrigin> origins_;  // by frame
  std::vector<bool> in_collection_;  // by sample
  std::vector<HostFrame> functions_;
  std::vector<std::uint32_t> function_of_frame_;
};

}  // namespace nl::analysis
