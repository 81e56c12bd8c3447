#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "analysis/account/gap_sums.h"
#include "analysis/account/launch_waits.h"
#include "analysis/account/peer_waits.h"
#include "analysis/staging/windows.h"
#include "analysis/trace/api_kind.h"
#include "analysis/trace/covered_time.h"
#include "analysis/trace/gpu_lanes.h"
#include "model/codes.h"
#include "model/stage.h"
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
  std::uint32_t name = kNone;  // as GapSum has it
  bool computes() const { return !communication && (kernel || graph); }
};

// Communication of one kind: what Communication has, summed up.
struct CommunicationSum {
  std::uint64_t count = 0, bytes = 0, paired = 0, last = 0;
  Ns sum_ns = 0, time_ns = 0, exposed_ns = 0, late_peer_ns = 0, behind_ns = 0;
  void count_in(const LaneWork& work) {
    ++count;
    sum_ns += work.end_ns - work.start_ns;
    bytes += work.bytes;
    paired += work.arrival.has_value();
    last += work.arrival && work.arrival->last;
    if (work.arrival) late_peer_ns += work.arrival->late_peer_ns;
    if (work.arrival) behind_ns += work.arrival->behind_ns;
  }
};
using CommunicationSums = std::array<CommunicationSum, kCollectives>;

// How long a lane has computed, copied and communicated. Work must arrive in the order of its start.
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
  // The time of one kind (or of all kinds), alone and in union with all computing. The union less the computing is exposed.
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

// The sum over the spans of one target, as one lane sees them.
struct BudgetSum {
  Budget budget;
  std::uint64_t windows = 0;
  Ns own_gpu_ns = 0;     // windows: GPU time of work they launched
  Ns kernel_sum_ns = 0;  // windows: kernels that start in them
  Ns overlapped_communication_ns = 0;
  Ns longest_gap_ns = 0, longest_gap_at_ns = 0;
  CommunicationSums communication = {};  // counts: of windows
  LaunchWaitSum launch_waits;            // of windows
};

// What a lane did in the whole capture.
struct LaneTotal {
  Ns busy_ns = 0, communication_ns = 0, overlapped_communication_ns = 0;
  CommunicationSums communication = {};
};

struct BudgetSums {
  std::vector<GpuLane> lanes;                // those of GpuLanes, and one for each process that has spans and no GPU work
  std::vector<std::vector<BudgetSum>> sums;  // by lane and target
  std::vector<LaneTotal> totals;             // by lane
  std::vector<Ns> silent_wall_ns;            // by target: windows in which no GPU of the process did anything
  std::vector<HostHits> host;                // by target: of windows; empty: the host was not sampled
  std::vector<std::vector<GapTable>> gaps;   // by lane and target: of windows
};

// When a thread was inside calls that wait for the GPU. Each lane asks in the order of time.
class WaitingTime {
 public:
  WaitingTime(const Trace& trace, const CallsByThread& calls, std::size_t lanes);
  // `start_ns` must not be before that of the question before, for the same lane and thread.
  Ns within(std::size_t lane, std::uint32_t thread, Ns start_ns, Ns end_ns);
  // The rest of that time, in `parts`.
  void rest(std::size_t lane, std::uint32_t thread, Ns start_ns, Ns end_ns, Spans& parts);

 private:
  template <class Visit>
  void each_wait(std::size_t lane, std::uint32_t thread, Ns start_ns, Ns end_ns, Visit visit);

  CallCursors calls_;
  ApiKinds kinds_;
};

// Is called for every stretch of a span in which its GPU is idle, with the reason. Each idle nanosecond comes exactly once.
class IdleListener {
 public:
  virtual ~IdleListener() = default;
  // `span`: its place in the order of start, spans that start together as they were given.
  virtual void idle(std::uint32_t lane, std::uint32_t span, BudgetBin bin, Ns start_ns, Ns end_ns) = 0;
};

// Puts every nanosecond of every span into one bin (model/stage.h), for each lane of its process by itself, in one pass over
// the GPUs' work in the order of its start. Between two pieces of work of a lane its GPU is idle; what the next work is,
// and when the call that launched it began, says why:
//   its call is not in the capture            residual
//   before the GPU went idle                  queue_wait
//   else, once that call has begun            launch_latency: what passes now is the driver's and the hardware's
//   else, while the span's thread waits       sync_blocked
//   else, before the span's end               launch_starved
//   else, or there is no next work            other_host
class BudgetSweep {
 public:
  // staged: see staged_threads()
  BudgetSweep(const Trace& trace, const GpuLanes& lanes, std::vector<BudgetSpan> spans, std::uint32_t targets, std::vector<bool> staged,
              IdleListener* listener = nullptr);

  const std::vector<GpuLane>& lanes() const { return sums_.lanes; }
  // In the order of start.
  void add(std::uint32_t lane, LaneWork work);
  // Once, after all work.
  BudgetSums finish();

 private:
  struct OpenSpan {
    std::uint32_t span = 0;
    LaneTime::Mark before;
    CoveredTime own;
    std::uint32_t works = 0;  // pieces of work that started in it
  };
  struct Lane {
    std::uint32_t number = 0;
    const std::vector<std::uint32_t>* spans = nullptr;  // of its process, by start
    std::size_t next = 0;
    std::vector<OpenSpan> open;                        // by start
    Ns first_end_ns = std::numeric_limits<Ns>::max();  // of the open ones
    LaneTime time;
    std::uint32_t last_name = kNone;  // of the work that ends last
  };
  struct Gap {
    Ns start_ns = 0, end_ns = 0;
    bool residual = false, queued = false;
    const ApiCall* launch = nullptr;              // of the work after it; null: there is none, or its call is not in the capture
    std::uint32_t before = kNone, after = kNone;  // names of the work around it
    // Work cannot start before its launch. Where two clocks say that it did, the start counts as its launch.
    Ns launch_ns() const { return std::min(launch->start_ns, end_ns); }
  };

  void add_lane(const GpuLane& lane);
  Gap gap_before(const Lane& lane, const LaneWork& work) const;
  void open_until(Lane& lane, Ns time_ns);
  void close_until(Lane& lane, Ns time_ns);
  void close(const Lane& lane, const OpenSpan& open);
  void charge(Lane& lane, const Gap& gap);
  void charge(const Lane& lane, const OpenSpan& open, const Gap& gap);
  void note(const Lane& lane, const OpenSpan& open, const Gap& gap, Ns start_ns, Ns end_ns, const Budget& before);
  void charge_host(const Lane& lane, const BudgetSpan& span, const Gap& gap, Ns start_ns, Ns end_ns);
  void tell(const Lane& lane, const BudgetSpan& span, BudgetBin bin, Ns start_ns, Ns end_ns);
  void tell_host(const Lane& lane, const BudgetSpan& span, bool launches_on, Ns start_ns, Ns end_ns);
  void count(Lane& lane, const LaneWork& work);
  BudgetSum& sum_of(const Lane& lane, const BudgetSpan& span) { return sums_.sums[lane.number][span.target]; }

  const Trace& trace_;
  std::vector<BudgetSpan> spans_;  // by start
  std::vector<bool> busy_;         // by span: some lane did something in it
  std::vector<std::vector<std::uint32_t>> spans_of_process_;
  std::vector<bool> staged_;
  std::vector<Lane> lanes_;
  std::uint32_t targets_ = 0;
  BudgetSums sums_;
  CallsByThread calls_;
  WaitingTime waiting_;
  LaunchWaitTime launch_waits_;
  std::optional<HostWatch> host_;  // empty: the host was not sampled
  Spans parts_;                    // of the wait at hand
  IdleListener* listener_ = nullptr;
};

}  // namespace nl::analysis
