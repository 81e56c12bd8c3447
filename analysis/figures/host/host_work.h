#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/host_code.h"

namespace nl::analysis {

// What kind of code a frame is, by module, function and source; nothing where only its caller shows it (contextlib, numpy).
std::optional<HostWork> work_of(const HostFrame& frame);

// What kind of code stacks run.
class HostWorks {
 public:
  explicit HostWorks(const std::vector<HostFrame>& frames);
  bool knows(std::uint32_t frame) const { return works_[frame].has_value(); }
  HostWork of_frame(std::uint32_t frame) const { return works_[frame].value_or(HostWork::kOther); }
  // The innermost frame whose kind is known decides. PyTorch called by a module counts as the overhead of modules; called by a
  // tokenizer, a sampler, a wait or an optimizer it counts as theirs. All that a data loader runs is loading data.
  HostWork of_stack(const std::vector<std::uint32_t>& stack) const;
  // The line that makes a call: the innermost that is not PyTorch's own. Of native code, the innermost function that the user wrote.
  std::uint32_t calling_frame(const std::vector<std::uint32_t>& stack) const;

 private:
  bool serves_data_loader(HostWork work, const std::vector<std::uint32_t>& stack) const;

  std::vector<std::optional<HostWork>> works_;  // by frame
  std::vector<bool> caller_;                    // a line of Python outside of PyTorch, or a native function of the user
};

}  // namespace nl::analysis
