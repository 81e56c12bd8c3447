#pragma once

#include <map>
#include <optional>
#include <string>

#include "model/run.h"

namespace nl::analysis {

// The busiest part of the memory system, in % of its peak.
std::optional<double> memory_throughput(const std::map<std::string, double>& metrics);
// Of a launch. Our own replays find the caches warm: what they say of the memory system is too little where DRAM, measured
// in place, was busier.
std::optional<double> memory_throughput(const NcuSample& sample);

// Which part that is; nothing where none of those measured is as busy as the whole.
std::optional<MemoryLevel> busiest_memory(const std::map<std::string, double>& metrics);
std::optional<MemoryLevel> busiest_memory(const NcuSample& sample);

std::optional<double> dram_bytes(const NcuSample& sample);  // read and written by the launch

struct NcuBound {
  std::optional<Bound> by;
  std::optional<double> margin;  // points by which it would have to change to be called otherwise
};

// Compute or memory where that side is busy (60 % of its peak or more) and clearly busier than the
// other (5 points), latency where neither is; nothing where both are, or where a side was not measured.
NcuBound classify_bound(std::optional<double> sm_pct, std::optional<double> memory_pct);
std::optional<Bound> bound_by(std::optional<double> sm_pct, std::optional<double> memory_pct);

}  // namespace nl::analysis
