#pragma once

#include <string_view>
#include <vector>

#include "model/stat_table.h"
#include "model/trace.h"

namespace nl::analysis {

// "cuda_gpu_kern_sum", "cuda_api_sum", "cuda_gpu_mem_time_sum", "nvtx_sum", "nvtx_gpu_proj_sum", "nvtx_kern_sum".
const std::vector<std::string_view>& stats_report_names();

// What `nsys stats` 2025.3 computes for that report, row for row.
StatTable make_stats_report(const Trace& trace, std::string_view report);

}  // namespace nl::analysis
