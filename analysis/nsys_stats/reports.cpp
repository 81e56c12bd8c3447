#include "analysis/nsys_stats/reports.h"

#include <functional>

#include <fmt/format.h>

#include "analysis/nsys_stats/rows.h"
#include "model/error.h"

namespace nl::analysis {
namespace {

bool kernels(const Trace& trace) { return trace.has_kernel_data; }
bool api(const Trace& trace) { return trace.has_api_data; }
bool ranges(const Trace& trace) { return trace.has_range_data; }
bool mem_ops(const Trace& trace) { return trace.has_mem_data; }
bool gpu_work(const Trace& trace) { return trace.has_kernel_data || trace.has_mem_data; }

struct Need {
  bool (*there)(const Trace&);
  const char* otherwise;
};

constexpr Need kKernels{kernels, "the capture has no CUDA kernel data; capture with nsys profile --trace=cuda on a machine with a GPU"};
constexpr Need kApi{api, "the capture has no CUDA API calls; capture with nsys profile --trace=cuda"};
constexpr Need kRanges{ranges, "the capture has no NVTX ranges; capture with nsys profile --trace=nvtx a program that marks them"};
constexpr Need kMemOps{mem_ops, "the capture has no copies to, from or on a GPU; capture with nsys profile --trace=cuda"};
constexpr Need kGpuWork{gpu_work, "the capture has no GPU work; capture with nsys profile --trace=cuda on a machine with a GPU"};

struct Report {
  std::string_view name, title;
  std::vector<Need> needs;
  StatTable (*make)(const Trace&);
};

const std::vector<Report>& reports() {
  static const std::vector<Report> all = {
      {"cuda_gpu_kern_sum", "CUDA GPU Kernel Summary", {kKernels}, kernel_sum},
      {"cuda_api_sum", "CUDA API Summary", {kApi}, api_sum},
      {"cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)", {kMemOps}, mem_time_sum},
      {"nvtx_sum", "NVTX Range Summary", {kRanges}, range_sum},
      {"nvtx_gpu_proj_sum", "NVTX GPU Projection Summary", {kRanges, kApi, kGpuWork}, range_projection_sum},
      {"nvtx_kern_sum", "NVTX Range Kernel Summary", {kRanges, kKernels, kApi}, range_kernel_sum},
  };
  return all;
}

}  // namespace

const std::vector<std::string_view>& stats_report_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Report& report : reports()) all.push_back(report.name);
    return all;
  }();
  return names;
}

StatTable make_stats_report(const Trace& trace, std::string_view name) {
  for (const Report& report : reports()) {
    if (report.name != name) continue;
    StatTable table;
    for (const Need& need : report.needs)
      if (table.missing.empty() && !need.there(trace)) table.missing = need.otherwise;
    if (table.missing.empty()) table = report.make(trace);
    if (table.missing.empty() && table.rows.empty()) table.missing = "the capture covers this, but nothing happened";
    table.report = report.name;
    table.title = report.title;
    return table;
  }
  throw Error(ErrorKind::kUsage, fmt::format("unknown report {}", name), {},
              fmt::format("the reports are {}", fmt::join(stats_report_names(), ", ")));
}

}  // namespace nl::analysis
