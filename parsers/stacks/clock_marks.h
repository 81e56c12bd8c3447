#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/trace.h"

namespace nl::parsers {

// CLOCK_MONOTONIC of one process as times of the trace. The two clocks drift by some microseconds a second, and a mark may come
// late: each time has the median offset of the marks around it.
class ClockMarks {
 public:
  void add(Ns monotonic_ns, Ns trace_ns) { marks_.emplace_back(monotonic_ns, trace_ns - monotonic_ns); }
  void finish();
  Ns first_ns() const { return marks_.front().first; }
  Ns trace_time(Ns monotonic_ns) const;

 private:
  std::vector<std::pair<Ns, Ns>> marks_;  // the clock, and what the trace's is ahead of it
};

// Those of each process, taken out of the trace.
std::map<std::uint32_t, ClockMarks> take_clock_marks(Trace& trace);

}  // namespace nl::parsers
