#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/stat_table.h"
#include "model/trace.h"

namespace nl::analysis {

// "cuda_gpu_kern_sum", "cuda_api_sum", "cuda_gpu_mem_time_sum", "nvtx_sum", "nvtx_gpu_proj_sum", "nvtx_kern_sum".
const std::vector<std::string_view>& stats_report_names();

// What `nsys stats` 2025.3 computes for that report, row for row.
StatTable make_stats_report(const Trace& trace, std::string_view report);

class RangeWork;
// Of a capture that was summed up while it was read: the trace has none of its calls and kernels.
struct StatSums {
  const Trace& trace;
  const std::vector<ApiStat>& kernels;  // by name
  const RangeWork* work = nullptr;      // where a report asks for it
};
StatTable make_stats_report(const StatSums& sums, std::string_view report);
// Whether the report joins ranges to GPU work.
bool needs_range_work(std::string_view report);

// These reports, and what those about ranges share.
StatTable range_projection_sum(const Trace& trace, const RangeWork& work);
StatTable range_kernel_sum(const Trace& trace, const RangeWork& work);
std::string_view style_name(RangeStyle style);                  // "PushPop", "StartEnd"
std::string range_tag(const Trace& trace, const Range& range);  // "LLM:prefill", ":name" in the default domain
// The latest start or end of any range, which is where nsys ends those that were never closed.
Ns last_range_time(const Trace& trace);

}  // namespace nl::analysis
