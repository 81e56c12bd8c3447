#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/trace.h"

namespace nl::analysis {

// The processes that GPU work and windows belong to: those of the trace, and one more for what belongs to no known process. Where
// there is only one, everything belongs to it.
inline std::uint32_t process_slots(const Trace& trace) {
  const auto known = static_cast<std::uint32_t>(trace.processes.size());
  return known <= 1 ? 1 : known + 1;
}

inline std::uint32_t process_slot(const Trace& trace, std::uint32_t process) { return std::min(process, process_slots(trace) - 1); }

inline std::uint32_t process_slot_of_thread(const Trace& trace, std::uint32_t thread) {
  return process_slot(trace, thread < trace.threads.size() ? trace.threads[thread].process : kNone);
}

inline std::uint32_t process_slot_of_queue(const Trace& trace, std::uint64_t queue) {
  return process_slot(trace, queue < trace.queues.size() ? trace.queues[static_cast<std::size_t>(queue)].process : kNone);
}

inline constexpr std::int32_t kNoDevice = std::numeric_limits<std::int32_t>::min();  // of a process without GPU work

// One GPU as one process uses it. A rank of a distributed run has one; a process that drives several GPUs has several.
struct GpuLane {
  std::uint32_t process = 0;  // see process_slot()
  std::uint32_t pid = 0;
  std::int32_t device = 0;
};

// Every lane with work, by process and GPU.
class GpuLanes {
 public:
  GpuLanes() = default;
  explicit GpuLanes(const Trace& trace);

  std::uint32_t size() const { return static_cast<std::uint32_t>(lanes_.size()); }
  const GpuLane& operator[](std::uint32_t lane) const { return lanes_[lane]; }
  auto begin() const { return lanes_.begin(); }
  auto end() const { return lanes_.end(); }
  // The lane of work in that queue; work in an unknown queue has a lane, too.
  std::uint32_t of_queue(std::uint64_t queue) const {
    return queue < of_queue_.size() ? of_queue_[static_cast<std::size_t>(queue)] : unknown_;
  }
  std::vector<std::int32_t> devices() const;  // of all lanes, each once, in order

 private:
  std::vector<GpuLane> lanes_;
  std::vector<std::uint32_t> of_queue_;  // kNone: it has no work
  std::uint32_t unknown_ = kNone;
};

}  // namespace nl::analysis
