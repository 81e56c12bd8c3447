#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/trace/communication_kernels.h"
#include "analysis/trace/gpu_lanes.h"
#include "model/codes.h"
#include "model/time.h"
#include "model/trace.h"

namespace nl::analysis {

// When a rank reaches a collective: how long before the last rank, and whether it is the last.
struct Arrival {
  Ns late_peer_ns = 0;
  bool last = false;
  Ns behind_ns = 0;  // of the last: after the last but one
};

// By kernel, of the collectives that Trace::collectives numbers. A rank is the last where it comes later than the last but one by more than their
// clocks may be off.
std::unordered_map<std::uint32_t, Arrival> numbered_arrivals(const Trace& trace);

// Pairs the collectives of the ranks: by their numbers where they have some. Of a kind that has none, the n-th on each rank: only where every rank
// that has the kind has it as often, and all ranks are in each collective at one instant. A collective ends for all at the same time, so that of two
// that do not overlap one was paired with a wrong one.
class PeerWaits {
 public:
  PeerWaits() = default;
  PeerWaits(const Trace& trace, const GpuLanes& lanes, const CommunicationKernels& kernels);
  // The arrival at a collective of the lane; to be asked in the order of start. Nothing: it could not be paired.
  std::optional<Arrival> next(const Kernel& kernel, std::uint32_t lane, Collective kind);

 private:
  struct Row {
    std::vector<Arrival> arrivals;
    std::size_t next = 0;
  };
  std::vector<std::array<Row, kCollectives>> rows_;  // by lane
  const Kernel* first_kernel_ = nullptr;             // of the trace; nullptr: there are no ranks
  std::unordered_map<std::uint32_t, Arrival> numbered_;
};

}  // namespace nl::analysis
