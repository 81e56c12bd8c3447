#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/ncu.h"
#include "model/time.h"

// What a pass for the GPU's counters left behind, measured through CUPTI. Metrics have the names that ncu gives them.
namespace nl {

// One window of a stage, or several together.
struct WindowCounters {
  std::string domain, name;  // of its range
  std::int32_t device = 0;
  std::uint64_t first = 0;  // the number of the (first) window among its like, from 0
  std::uint64_t windows = 1;
  Ns start_ns = 0, end_ns = 0;            // of the counter pass, not of the trace
  std::map<std::string, double> metrics;  // sums over the windows; percentages and averages as the GPU gives them
};

struct CounterReport {  // what a counter pass left behind
  std::vector<WindowCounters> windows;
  NcuReport kernels;          // one launch each, under its mangled name
  std::vector<Remark> notes;  // what went wrong
  DamagedRows rows_damaged;
};

}  // namespace nl
