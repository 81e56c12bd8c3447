#pragma once

#include <cstdint>
#include <vector>

#include "model/cuda_calls.h"
#include "model/stage.h"
#include "model/trace.h"

namespace nl::analysis {

// Looks at each distinct name once.
class ApiKinds {
 public:
  explicit ApiKinds(const Trace& trace) : trace_(trace) {}
  const CudaCall& of(const ApiCall& call) {
    const std::uint32_t id = call.name.value;
    if (id >= place_.size()) place_.resize(id + 1, 0);
    if (place_[id] == 0) add(id);
    return kinds_[place_[id] - 1U];
  }

 private:
  void add(std::uint32_t id) {
    kinds_.push_back(cuda_call(trace_.strings[StringId{id}]));
    place_[id] = static_cast<std::uint32_t>(kinds_.size());
  }
  const Trace& trace_;
  std::vector<std::uint32_t> place_;  // by string id, counted from 1
  std::vector<CudaCall> kinds_;
};

// The calls of each thread in the order of their start: as the trace has them, unless its importer left them
// in another order.
class CallsByThread {
 public:
  explicit CallsByThread(const Trace& trace) : CallsByThread(trace, trace.api_calls) {}
  CallsByThread(const Trace& trace, const std::vector<ApiCall>& calls);
  std::size_t first(std::uint32_t thread) const { return first_[thread]; }
  std::size_t last(std::uint32_t thread) const { return first_[thread + 1]; }
  std::size_t threads() const { return first_.size() - 1; }
  std::vector<std::size_t> firsts() const { return {first_.begin(), first_.end() - 1}; }  // by thread
  const ApiCall& operator[](std::size_t at) const { return calls_[order_.empty() ? at : order_[at]]; }

 private:
  const std::vector<ApiCall>& calls_;
  std::vector<std::uint32_t> order_;
  std::vector<std::size_t> first_;
};

// Where in each thread's calls several lanes are, each of which asks in the order of time.
class CallCursors {
 public:
  CallCursors(const CallsByThread& calls, std::size_t lanes) : calls_(calls), at_(lanes, calls.firsts()) {}
  const CallsByThread& calls() const { return calls_; }
  // No call of the thread before it ends after `time_ns`, which must not be before that of the lane's question before.
  std::size_t first_ending_after(std::size_t lane, std::uint32_t thread, Ns time_ns) {
    std::size_t& at = at_[lane][thread];
    while (at < calls_.last(thread) && calls_[at].end_ns() <= time_ns) ++at;
    return at;
  }

 private:
  const CallsByThread& calls_;
  std::vector<std::vector<std::size_t>> at_;  // by lane and thread
};

// How long a thread was in calls of each name.
class CallTimes {
 public:
  void add(StringId name, Ns time_ns, std::uint64_t count = 1);
  void add(const CallTimes& more);
  std::vector<WaitCall> longest(const Trace& trace) const;  // first; the rest are short

 private:
  struct Call {
    StringId name;
    std::uint64_t count = 0;
    Ns time_ns = 0;
  };
  std::vector<Call> calls_;
};

}  // namespace nl::analysis
