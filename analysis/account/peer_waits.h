#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/trace/gpu_lanes.h"
#include "model/codes.h"
#include "model/time.h"
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

// When a rank reaches a collective: how long before the last rank, and whether it is the last.
struct Arrival {
  Ns late_peer_ns = 0;
  bool last = false;
};

// Pairs the collectives of the ranks: the n-th of a kind on each. Only where every rank that has the kind has it as often,
// and all ranks are in each collective at one instant: a collective ends for all at the same time, so that of two that
// do not overlap one was paired with a wrong one.
class PeerWaits {
 public:
  PeerWaits() = default;
  PeerWaits(const Trace& trace, const GpuLanes& lanes, const CommunicationKernels& kernels);
  // The arrival at the lane's next collective of that kind, in the order of start. Nothing: the kind could not be paired.
  std::optional<Arrival> next(std::uint32_t lane, Collective kind);

 private:
  struct Row {
    std::vector<Arrival> arrivals;
    std::size_t next = 0;
  };
  std::vector<std::array<Row, kCollectives>> rows_;  // by lane
};

}  // namespace nl::analysis
