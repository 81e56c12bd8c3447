#pragma once

#include <optional>
#include <vector>

#include "model/codes.h"
#include "model/trace.h"

namespace nl::analysis {

// Which kernels of a trace communicate with other GPUs, looked up by their shape.
class CommunicationKernels {
 public:
  CommunicationKernels() = default;
  explicit CommunicationKernels(const Trace& trace);
  bool any() const { return any_; }
  // Nothing where it does not communicate.
  std::optional<Collective> of(const Kernel& kernel) const {
    return any_ && kernel.shape < kinds_.size() ? kinds_[kernel.shape] : std::nullopt;
  }

 private:
  std::vector<std::optional<Collective>> kinds_;  // by shape
  bool any_ = false;
};

}  // namespace nl::analysis
