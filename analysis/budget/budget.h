#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "analysis/attribution/api_kind.h"
#include "analysis/attribution/covered_time.h"
#include "model/stage.h"
#include "model/trace.h"

namespace nl::analysis {

// A stretch of time whose nanoseconds are to be told: a window of a stage, or of a phase.
struct BudgetSpan {
  Ns start_ns = 0, end_ns = 0;
  Ns launch_end_ns = 0;          // a launch from then on is not its own: the end of the window
  std::uint32_t process = 0;     // see process_slot()
  std::uint32_t thread = kNone;  // whose waiting counts as blocked
  std::uint32_t target = 0;      // which sum it goes into
  bool window = false;           // of a stage: what it launched itself is told apart
};

// The sum over the spans of one target.
struct BudgetSum {
  Budget budget;
  Ns own_gpu_ns = 0;      // windows: GPU time of work they launched
  Ns silent_wall_ns = 0;  // windows: the wall of those in which the GPU did nothing
  Ns longest_gap_ns = 0, longest_gap_at_ns = 0;
  std::vector<Ns> device_busy_ns;  // by number of the device
};

// When a thread was inside calls that wait for the GPU. Asked in the order of time.
class WaitingTime {
 public:
  explicit WaitingTime(const Trace& trace);
  // `start_ns` must not be before that of the question before, for the same thread.
  Ns within(std::uint32_t thread, Ns start_ns, Ns end_ns);

 private:
  CallsByThread calls_;
  ApiKinds kinds_;
  std::vector<std::size_t> at_;  // by thread: no call before it ends after the last question's start
};

// Puts every nanosecond of every span into one bin (model/stage.h), in one pass over the GPU's work in the order
// of its start. Between two pieces of work of a process its GPUs are idle; what the next work is, and when the call
// that launched it began, says why:
//   its call is not in the capture            residual
//   before the GPU went idle                  queue_wait
//   else, once that call has begun            launch_latency: what passes now is the driver's and the hardware's
//   else, while the span's thread waits       sync_blocked
//   else, before the span's end               launch_starved
//   else, or there is no next work            other_host
class BudgetSweep {
 public:
  BudgetSweep(const Trace& trace, std::vector<BudgetSpan> spans, std::uint32_t targets, std::uint32_t devices);

  // In the order of start. `device`: its number.
  void add(std::uint32_t process, Ns start_ns, Ns end_ns, std::uint32_t api, std::uint32_t device, bool compute);
  // Once, after all work.
  std::vector<BudgetSum> finish();
  Ns busy_ns() const;  // of all processes

 private:
  struct OpenSpan {
    BudgetSpan span;
    Ns compute_before_ns = 0, busy_before_ns = 0;
    std::vector<Ns> device_before_ns;
    CoveredTime own;
  };
  struct Process {
    std::vector<BudgetSpan> spans;  // by start
    std::size_t next = 0;
    std::vector<OpenSpan> open;                        // by start
    Ns first_end_ns = std::numeric_limits<Ns>::max();  // of the open ones
    CoveredTime compute, busy;
    std::vector<CoveredTime> devices;
  };
  struct Gap {
    Ns start_ns = 0, end_ns = 0;
    bool residual = false, queued = false;
    std::optional<Ns> launch_ns;  // of the work after it
  };

  Gap gap_before(const Process& process, Ns start_ns, std::uint32_t api) const;
  void open_until(Process& process, Ns time_ns);
  void close_until(Process& process, Ns time_ns);
  void close(const Process& process, const OpenSpan& open);
  void charge(Process& process, const Gap& gap);
  void charge(const BudgetSpan& span, const Gap& gap);
  void claim(Process& process, Ns start_ns, Ns end_ns, std::uint32_t api);

  const Trace& trace_;
  WaitingTime waiting_;
  std::vector<Process> processes_;
  std::vector<BudgetSum> sums_;
};

}  // namespace nl::analysis
