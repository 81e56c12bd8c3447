#include "orchestrator/stat_tables.h"

#include <algorithm>
#include <optional>

#include "analysis/nsys_stats/range_work.h"
#include "analysis/nsys_stats/reports.h"
#include "model/parallel.h"
#include "parsers/nsys/sqlite.h"

namespace nl::orchestrator {
namespace {

constexpr std::string_view kKernelSum = "cuda_gpu_kern_sum", kCallSum = "cuda_api_sum", kMemorySum = "cuda_gpu_mem_time_sum",
                           kRangeSum = "nvtx_sum", kProjection = "nvtx_gpu_proj_sum";

struct Wanted {
  explicit Wanted(const std::vector<std::string>& reports) {
    const auto has = [&](std::string_view report) { return std::find(reports.begin(), reports.end(), report) != reports.end(); };
    range_work = std::any_of(reports.begin(), reports.end(), [](const std::string& report) { return analysis::needs_range_work(report); });
    calls = range_work || has(kCallSum);
    kernel_sum = has(kKernelSum);
    kernels = range_work || kernel_sum;
    mem_ops = has(kMemorySum) || has(kProjection);
    ranges = range_work || has(kRangeSum);
  }
  bool range_work, calls, kernel_sum, kernels, mem_ops, ranges;
};

}  // namespace

// Calls before kernels, so that each kernel finds the ranges around its call; of a table that has been read only sums are kept.
StatTables read_stat_tables(const std::filesystem::path& export_file, const std::vector<std::string>& reports) {
  const Wanted wanted(reports);
  parsers::NsysSums sums(export_file, {.mem_ops = wanted.mem_ops, .ranges = wanted.ranges});
  Trace& trace = sums.trace();
  std::optional<analysis::RangeWork> work;
  if (wanted.range_work) work.emplace(trace, sums.call_parts(), std::max<std::size_t>(sums.kernel_parts(), 1));

  StatTables made;
  made.tables.resize(reports.size());
  const auto make = [&](std::size_t i, const std::vector<ApiStat>& kernels) {
    made.tables[i] = analysis::make_stats_report({trace, kernels, work ? &*work : nullptr}, reports[i]);
  };
  if (wanted.calls)
    sums.read_calls(work ? [&](std::size_t part, std::span<const CallRow> rows) { work->add_calls(part, rows); } : TakeCalls());
  for (std::size_t i = 0; i < reports.size(); ++i)
    if (reports[i] == kCallSum) make(i, {});
  trace.api_stats.clear();
  std::vector<ApiStat> kernels;
  if (wanted.kernels)
    kernels =
        sums.read_kernels(work ? [&](std::size_t part, std::span<const LaunchedRow> rows) { work->add_kernels(part, rows); } : TakeWork());
  if (work) work->add_mem_ops(sums.mem_ops());
  if (work) work->finish();
  if (work && wanted.kernel_sum) kernels = work->kernels_by_name();
  sums.finish();
  each_in_parallel(reports.size(), [&](std::size_t i) {
    if (reports[i] != kCallSum) make(i, kernels);
  });
  made.damaged = trace.stats.rows_damaged;
  return made;
}

}  // namespace nl::orchestrator
