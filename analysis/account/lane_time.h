#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/account/peer_waits.h"
#include "analysis/trace/covered_time.h"
#include "model/codes.h"
#include "model/trace.h"

namespace nl::analysis {

// One piece of work of one lane.
struct LaneWork {
  Ns start_ns = 0, end_ns = 0;
  std::uint32_t api = kNone;
  std::optional<Collective> communication = {};  // it talks to other GPUs
  bool kernel = false;
  bool graph = false;       // a CUDA graph as a whole: computing
  std::uint64_t bytes = 0;  // of peer copies
  std::optional<Arrival> arrival = {};
  bool computes() const { return !communication && (kernel || graph); }
};

// Communication of one kind: what Communication has, summed up.
struct CommunicationSum {
  std::uint64_t count = 0, bytes = 0, paired = 0, last = 0;
  Ns sum_ns = 0, time_ns = 0, exposed_ns = 0, late_peer_ns = 0;
  void count_in(const LaneWork& work) {
    ++count;
    sum_ns += work.end_ns - work.start_ns;
    bytes += work.bytes;
    paired += work.arrival.has_value();
    last += work.arrival && work.arrival->last;
    if (work.arrival) late_peer_ns += work.arrival->late_peer_ns;
  }
};
using CommunicationSums = std::array<CommunicationSum, kCollectives>;

// How long a lane has done what, of work that arrives in the order of its start.
class LaneTime {
 public:
  void add(const LaneWork& work) {
    busy_.add(work.start_ns, work.end_ns);
    if (work.communication) add_communication(work);
    else if (work.computes()) add_compute(work);
  }
  Ns busy_until_ns() const { return busy_.until_ns(); }

  // The state at a time that is not before the latest start.
  struct Mark {
    Ns busy_ns = 0, compute_ns = 0;
    struct Kind {
      Ns alone_ns = 0, with_compute_ns = 0;
    };
    std::vector<Kind> kinds;  // those that the lane had had by then
  };
  Mark at(Ns time_ns) const;

  struct Span {
    Ns busy_ns = 0, compute_ns = 0, communication_ns = 0, exposed_communication_ns = 0;
  };
  // What happened since the mark; the times of the kinds go into `kinds`.
  Span since(const Mark& mark, Ns time_ns, CommunicationSums& kinds) const;

 private:
  // Of one kind, or of all together: by itself, and with all computing. Their difference is what is exposed.
  struct Kind {
    std::optional<Collective> which;
    CoveredTime alone, with_compute;
  };
  Kind& kind(std::optional<Collective> which);
  void add_compute(const LaneWork& work) {
    compute_.add(work.start_ns, work.end_ns);
    for (Kind& each : kinds_) each.with_compute.add(work.start_ns, work.end_ns);
  }
  void add_communication(const LaneWork& work);

  CoveredTime busy_, compute_;
  std::vector<Kind> kinds_;  // the first: all of them together
};

}  // namespace nl::analysis
