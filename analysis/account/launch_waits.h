#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/trace/api_kind.h"
#include "analysis/trace/call_times.h"
#include "model/codes.h"
#include "model/stage.h"
#include "model/trace.h"

namespace nl::analysis {

// What LaunchWaits has, summed up for one target of one lane.
struct LaunchWaitSum {
  struct Late {
    std::uint64_t count = 0;
    Ns starved_ns = 0, latency_ns = 0, longest_ns = 0, longest_at_ns = 0;
  };
  std::array<std::array<Late, kCallKinds>, kCallKinds> late = {};  // by the call before, and the launch
  CallTimes calls;
  Ns outside_calls_ns = 0;

  void add(const LaunchWaitSum& more);
  LaunchWaits told(const Trace& trace) const;
};

// What threads did while the GPU waited for their next launch. Each lane asks in the order of time.
class LaunchWaitTime {
 public:
  LaunchWaitTime(const Trace& trace, const CallsByThread& calls, std::size_t lanes);

  struct Gap {
    Ns start_ns = 0;
    const ApiCall* launch = nullptr;  // ended it
    Ns starved_ns = 0;                // until the launch, without the calls of `waiting_thread` that wait
    Ns latency_ns = 0;                // after that
    std::uint32_t waiting_thread = kNone;
  };
  void add(std::size_t lane, const Gap& gap, LaunchWaitSum& sum);

 private:
  CallKind kind_before(const ApiCall& launch, std::size_t at);
  Ns time_in_calls(std::size_t work, std::size_t other, const Gap& gap, LaunchWaitSum& sum);

  CallsByThread other_calls_;
  CallCursors work_, other_;
  ApiKinds kinds_;
};

}  // namespace nl::analysis
