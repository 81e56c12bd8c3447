#pragma once

#include <algorithm>
#include <cstdint>

#include "model/trace.h"

// The processes that GPU work and windows belong to: those of the trace, and one more for what belongs to none that is known. Where
// there is only one, everything is its own.
namespace nl::analysis {

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

}  // namespace nl::analysis
