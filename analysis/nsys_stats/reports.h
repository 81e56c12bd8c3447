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

// The reports that join ranges to GPU work, and what those about ranges share.
StatTable range_projection_sum(const Trace& trace);
StatTable range_kernel_sum(const Trace& trace);
std::string_view style_name(RangeStyle style);                  // "PushPop", "StartEnd"
std::string range_tag(const Trace& trace, const Range& range);  // "LLM:prefill", ":name" in the default domain
// The latest start or end of any range, which is where nsys ends those that were never closed.
Ns last_range_time(const Trace& trace);

}  // namespace nl::analysis
