#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/trace/api_kind.h"
#include "analysis/trace/covered_time.h"
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
  // True where the latest call of the launching thread before the launch waited for the GPU. The lane asks in the order of `start_ns`.
  bool follows_wait(std::size_t lane, const ApiCall& launch, Ns start_ns);

 private:
  const ApiCall* call_before(const ApiCall& launch, std::size_t at);
  CallKind kind_before(const ApiCall& launch, std::size_t at);
  Ns time_in_calls(std::size_t work, std::size_t other, const Gap& gap, LaunchWaitSum& sum);

  CallsByThread other_calls_;
  CallCursors work_, other_;
  ApiKinds kinds_;
};

// What the host did during the waits for launches of one target. Where several GPUs wait at a time, it counts once for each.
struct HostHits {
  std::vector<std::uint32_t> samples;      // indices into HostSamples::samples
  std::vector<std::uint32_t> collections;  // indices into HostSamples::collections, each once
  Ns collection_ns = 0;
  CallTimes os_calls;
};

// The samples of each thread of the trace, by time; of threads that the trace does not list, nothing.
std::vector<std::vector<std::uint32_t>> samples_by_thread(const Trace& trace);

// Joins waits for launches to what was seen of the launching threads. Samples and waits are both in the order of time: each
// lane keeps its place.
class HostWatch {
 public:
  static bool worthwhile(const Trace& trace) {
    return !trace.host.samples.empty() || !trace.host.collections.empty() || !trace.os_calls.empty();
  }
  HostWatch(const Trace& trace, std::size_t lanes, std::uint32_t targets);

  // A wait of a lane for a launch of `thread`, in parts, none of which begins before `start_ns`; that must not be before the
  // previous wait of the lane.
  void add(std::size_t lane, std::uint32_t target, std::uint32_t thread, Ns start_ns, const Spans& parts);
  std::vector<HostHits> take();
  // Whose samples tell what a launch waited for: those of its thread. Where that thread was not sampled, as the threads on which JAX
  // copies its inputs, those of the thread that has the stage.
  std::uint32_t watched(std::uint32_t launching, std::uint32_t staged) const;
  // Adds the samples of a thread in that time to `samples`.
  void find(std::uint32_t thread, Ns start_ns, Ns end_ns, std::vector<std::uint32_t>& samples) const;

 private:
  void add_samples(std::size_t lane, std::uint32_t thread, Ns start_ns, const Spans& parts, HostHits& hits);
  void add_collections(std::size_t lane, std::uint32_t thread, Ns start_ns, const Spans& parts, HostHits& hits);
  void add_os_calls(std::size_t lane, std::uint32_t thread, Ns start_ns, const Spans& parts, HostHits& hits);

  const Trace& trace_;
  std::vector<std::vector<std::uint32_t>> samples_;      // by thread
  std::vector<std::vector<std::uint32_t>> collections_;  // by process
  CallsByThread os_calls_;
  std::vector<std::vector<std::size_t>> next_sample_, next_collection_;  // by lane
  CallCursors next_os_call_;
  std::vector<HostHits> hits_;
};

}  // namespace nl::analysis
