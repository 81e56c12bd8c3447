#pragma once

#include <string>
#include <vector>

#include "model/counters.h"
#include "model/run.h"
#include "model/trace.h"

namespace nl::analysis {

struct NcuMatch {
  std::size_t matched = 0;
  std::vector<std::string> unmatched_launches;  // ncu profiled it, nsys never timed it: name and shape
};

// Joins ncu's launches to the kernels by name, grid and block, and stores them with their proof.
// `ncu` with mangled names joins on mangled_name; else on the name, else on the normalised name.
// Of our own counters (CUPTI) DRAM % is derived from the bytes and the duration.
NcuMatch match_ncu(const NcuReport& ncu, const Trace& trace, std::vector<KernelEntry>& kernels, Meter measured_by = Meter::kNcu);

// Run::kernels from ncu's report alone, where there is no trace: the launches that it profiled, with the times that they took
// under it.
std::vector<KernelEntry> ncu_kernels(const NcuReport& ncu);

}  // namespace nl::analysis
