#pragma once

#include <cstdint>
#include <vector>

#include "model/stage.h"
#include "model/trace.h"

namespace nl::analysis {

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
