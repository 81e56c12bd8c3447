#include "analysis/summarise.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analysis/account/gpu_mean.h"
#include "analysis/account/gpu_pass.h"
#include "analysis/figures/counters/sampling.h"
#include "analysis/figures/host/host_code.h"
#include "analysis/figures/stages/stage_entries.h"
#include "analysis/figures/stages/timeline.h"
#include "analysis/staging/phases.h"
#include "analysis/staging/stage_table.h"
#include "analysis/statistics/time_summary.h"
#include "analysis/trace/clock_fit.h"
#include "analysis/trace/gpu_order.h"
#include "analysis/trace/kernel_class.h"
#include "analysis/trace/work_origin.h"
#include "model/cuda_calls.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

// PyTorch's operator ranges carry a running number, so that every call has a name of its own.
constexpr std::size_t kMaxRangeNames = 2000;

std::vector<std::uint32_t> chosen_stages(const StageTable& table, const std::vector<std::string>& names) {
  std::vector<std::uint32_t> ids;
  for (const auto& name : names)
    if (const auto id = table.find(name); id != kNone) ids.push_back(id);
  return ids;
}

void fill_ranges(const Trace& trace, const StageTable& table, const GpuSweep& sweep, Run& run) {
  const auto walls = table.group_walls(trace);
  std::vector<std::uint32_t> order;  // of the workload's own ranges: stages that were found are none
  for (std::uint32_t i = 0; i < walls.size(); ++i)
    if (trace.strings[table.groups()[i].domain] != kStageDomain) order.push_back(i);
  const auto rank = [&](std::uint32_t i) {
    const auto& group = table.groups()[i];
    return std::tuple(-walls[i].total_ns, std::string_view(trace.strings[group.domain]), std::string_view(trace.strings[group.name]),
                      group.style);
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
  if (order.size() > kMaxRangeNames) {
    run.import_stats.notes.push_back({Code::kRangesNotListed, {std::to_string(order.size()), std::to_string(kMaxRangeNames)}});
    order.resize(kMaxRangeNames);
  }
  run.ranges.clear();
  for (const std::uint32_t i : order) {
    const auto& group = table.groups()[i];
    RangeEntry entry{trace.strings[group.domain], trace.strings[group.name], group.style, walls[i], {}, {}};
    if (trace.has_kernel_data || trace.has_mem_data) entry.gpu_busy_ns = sweep.by_group[i].busy_ns();
    if (trace.has_kernel_data) entry.kernel_calls = sweep.by_group[i].kernels;
    run.ranges.push_back(std::move(entry));
  }
}

// Each group's durations, without a copy of them all: the kernels are sorted by group, as indices.
class GroupedDurations {
 public:
  GroupedDurations(const Trace& trace, const GpuSweep& sweep) : trace_(trace), first_(sweep.kernels.size() + 1) {
    for (std::size_t i = 0; i < sweep.kernels.size(); ++i) first_[i + 1] = first_[i] + static_cast<std::uint32_t>(sweep.kernels[i].calls);
    order_.resize(trace.kernels.size());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (std::uint32_t i = 0; i < trace.kernels.size(); ++i) order_[next[sweep.group_of(trace.kernels[i])]++] = i;
  }
  TimeSummary summary(std::size_t group) {
    values_.clear();
    for (std::uint32_t i = first_[group]; i < first_[group + 1]; ++i)
      values_.push_back(static_cast<Ns>(trace_.kernels[order_[i]].duration_ns));
    return summarise_times(values_);
  }

 private:
  const Trace& trace_;
  std::vector<std::uint32_t> first_, order_;
  std::vector<Ns> values_;
};

KernelEntry kernel_entry(const Trace& trace, const StageTable& table, const GpuSweep& sweep, const KernelGroup& group) {
  const KernelShape& shape = trace.shapes[group.shape];
  KernelEntry entry;
  entry.name = trace.strings[shape.name];
  entry.mangled_name = trace.strings[shape.mangled_name];
  entry.short_name = trace.strings[shape.short_name];
  entry.kind = classify_kernel(entry.name);
  entry.device = group.device;
  if (const Ns all_ns = sweep.computing_ns_of(group.device); all_ns > 0)
    entry.gpu_share = static_cast<double>(group.total_ns) / static_cast<double>(all_ns);
  entry.graph_calls = group.graph_calls;
  entry.ncu_note = Remark{Code::kNotChosen};
  for (std::size_t i = 0; i < group.stages.size(); ++i) {
    if (group.stages[i].calls == 0) continue;
    const std::string stage = i < table.stages().size() ? table.stages()[i] : "none";
    entry.stages.push_back({stage, group.stages[i].total_ns, group.stages[i].calls});
  }
  for (std::size_t i = 0; i < group.measured.size(); ++i)
    if (group.measured[i].calls > 0) entry.measured.push_back({table.stages()[i], group.measured[i].total_ns, group.measured[i].calls});
  entry.measured_ns = group.in_windows.total_ns;
  entry.measured_calls = group.in_windows.calls;
  return entry;
}

// The top-N names by that time; a name counts once however many devices run it.
void select_kernels(const GpuSweep& sweep, const std::vector<std::uint32_t>& order, std::size_t top_n, Ns KernelGroup::* rank, Run& run) {
  std::unordered_map<std::uint32_t, Ns> time_of_name;
  for (const auto& group : sweep.kernels) time_of_name[group.name.value] += group.*rank;
  std::vector<std::pair<Ns, std::uint32_t>> names;  // and the first place in `order`, so that ties are stable
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    const auto found = time_of_name.find(sweep.kernels[order[i]].name.value);
    if (found == time_of_name.end()) continue;
    if (found->second > 0) names.emplace_back(-found->second, i);
    time_of_name.erase(found);
  }
  std::sort(names.begin(), names.end());
  if (names.size() > top_n) names.resize(top_n);
  for (const auto& [time, place] : names) {
    const StringId name = sweep.kernels[order[place]].name;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (sweep.kernels[order[i]].name != name) continue;
      (*run.kernels)[i].selected = true;
      (*run.kernels)[i].ncu_note = Remark{Code::kNotMeasured};
    }
  }
}

Remark missing_kernels(const ImportStats& stats) {
  if (stats.source_format != SourceFormat::kCollector) return {Code::kNoKernelsCaptured};
  if (stats.rows_read.count("counter sets") > 0 || find_first(stats.notes, kCounterTroubles)) return {Code::kCounterPass};
  const Remark* trouble = find_first(stats.notes, {Code::kNotRecorded});
  return trouble != nullptr ? *trouble : Remark{Code::kRangesOnly};
}

void note_missing_kernels(const Trace& trace, Run& run) {
  run.kernels.reset();
  if (!run.kernels_note) run.kernels_note = missing_kernels(trace.stats);
}

void note_fallback(const SummaryOptions& options, bool have_ranges, bool whole_graphs, Run& run) {
  const Code code = !have_ranges ? Code::kNoStages : whole_graphs ? Code::kGraphsWithoutKernels : Code::kNoKernelInStages;
  run.problems.push_back(problem_of(Remark{code, {fmt::format("{}", fmt::join(options.stages, ", "))}}));
}

void fill_kernels(const Trace& trace, const StageTable& table, const GpuSweep& sweep, const SummaryOptions& options,
                  bool have_chosen_ranges, Run& run) {
  if (!trace.has_kernel_data) return note_missing_kernels(trace, run);
  std::vector<std::uint32_t> order(sweep.kernels.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto place = [&](std::uint32_t i) {
    const KernelGroup& group = sweep.kernels[i];
    return std::tuple(-group.total_ns, std::string_view(trace.strings[group.name]), group.device);
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
  GroupedDurations durations(trace, sweep);
  run.kernels.emplace();
  run.kernels->reserve(order.size());
  for (const std::uint32_t i : order) {
    run.kernels->push_back(kernel_entry(trace, table, sweep, sweep.kernels[i]));
    run.kernels->back().time = durations.summary(i);
  }
  const auto any = [&](Ns KernelGroup::* time) {
    return std::any_of(sweep.kernels.begin(), sweep.kernels.end(), [&](const auto& k) { return k.*time > 0; });
  };
  const bool any_chosen = any(&KernelGroup::chosen_ns);
  if (!any_chosen && !order.empty()) note_fallback(options, have_chosen_ranges, !trace.graph_runs.empty(), run);
  // What runs only in warm-up is not worth a counter pass.
  const auto rank = any(&KernelGroup::chosen_measured_ns) ? &KernelGroup::chosen_measured_ns
                    : any_chosen                          ? &KernelGroup::chosen_ns
                                                          : &KernelGroup::total_ns;
  select_kernels(sweep, order, options.top_n_kernels, rank, run);
}

void fill_api(const Trace& trace, Run& run) {
  run.api.clear();
  std::map<std::string_view, std::vector<const Durations*>> functions;  // cudaGraphLaunch_v10000 is cudaGraphLaunch
  for (const ApiStat& stat : trace.api_stats)
    if (stat.durations.count() > 0) functions[without_api_version(trace.strings[stat.name])].push_back(&stat.durations);
  for (const auto& [name, parts] : functions) {
    Durations together;
    for (std::size_t i = 0; i < parts.size() && parts.size() > 1; ++i) together.append(Durations(*parts[i]));
    run.api.push_back({std::string(name), summarise_times(parts.size() > 1 ? together : *parts.front())});
  }
  std::sort(run.api.begin(), run.api.end(), [](const ApiEntry& a, const ApiEntry& b) {
    return std::tuple(-a.time.total_ns, std::string_view(a.name)) < std::tuple(-b.time.total_ns, std::string_view(b.name));
  });
}

// A GPU that is there and did nothing is none of those that the mean is over.
Ns mean_busy_ns(const GpuSweep& sweep) {
  Ns sum = 0, gpus = 0;
  for (const BusyTime& device : sweep.by_device) {
    sum += device.busy_ns();
    gpus += device.busy_ns() > 0;
  }
  return gpus > 0 ? sum / gpus : 0;
}

void fill_devices(const GpuPass& pass, Run& run) {
  run.communication.clear();
  for (std::uint32_t i = 0; i < pass.sweep.lanes.size(); ++i) {
    const GpuLane& lane = pass.sweep.lanes[i];
    const LaneTotal& total = pass.budgets.totals[i];
    run.coverage.devices.push_back(
        {lane.device, lane.pid, total.busy_ns, pass.sweep.lane_kernel_ns[i], total.communication_ns, total.overlapped_communication_ns});
    for (Communication& each : communication_of(lane, total.communication)) run.communication.push_back(each);
  }
  sort_by_gpu(run.coverage.devices);
  sort_by_gpu(run.communication);
}

void fill_coverage(const Trace& trace, const GpuPass& pass, Run& run) {
  const GpuSweep& sweep = pass.sweep;
  run.coverage = {};
  if (trace.has_kernel_data || trace.has_mem_data) {
    run.coverage.gpu_busy_ns = mean_busy_ns(sweep);
    fill_devices(pass, run);
  }
  if (!trace.has_kernel_data) return;
  run.coverage.kernel_sum_ns = sweep.kernel_ns;
  const auto share = [](Ns part, Ns whole) -> std::optional<double> {
    if (whole <= 0) return std::nullopt;
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  run.coverage.in_stage_share = share(sweep.in_stage_ns, sweep.kernel_ns);
  run.coverage.unlinked_share = share(sweep.unlinked_ns, sweep.kernel_ns);
  run.coverage.graph_only_share = share(sweep.graph_run_ns, sweep.kernel_ns + sweep.graph_run_ns);
  run.coverage.graph_unjoined_share = graph_unjoined_share(trace);
}

// Every GPU that ran something, also one that the capture's own table lacks.
void list_gpus(const Trace& trace, Run& run) {
  if (run.hardware.gpus.empty()) run.hardware.gpus = trace.devices;
  for (const std::int32_t id : GpuLanes(trace).devices()) {
    const bool known = std::any_of(run.hardware.gpus.begin(), run.hardware.gpus.end(), [&](const Device& gpu) { return gpu.id == id; });
    if (!known) run.hardware.gpus.emplace_back().id = id;
  }
}

void note_backward_ranges(const Trace& trace, Run& run) {
  const auto backward = std::count_if(trace.ranges.begin(), trace.ranges.end(),
                                      [](const Range& range) { return !range.open && range.end_ns < range.start_ns; });
  if (backward > 0) run.import_stats.notes.push_back({Code::kBackwardRanges, {std::to_string(backward)}});
}

}  // namespace

void list_kernels(const Trace& trace, const SummaryOptions& options, Run& run) {
  const StageTable table(trace);
  const auto chosen = chosen_stages(table, options.stages);
  std::vector<Window> windows = find_windows(trace, table);
  const IterationPlan plan = plan_iterations(trace, table, options.warmup, windows);
  GpuSweeper sweeper(trace, table, plan, windows, chosen);
  visit_gpu_work(trace, [&](const auto& work) { sweeper.add(work); });
  fill_kernels(trace, table, sweeper.result(), options, !chosen.empty(), run);
}

void summarise(const Trace& trace, const SummaryOptions& options, Run& run) {
  run.import_stats = trace.stats;
  list_gpus(trace, run);
  note_backward_ranges(trace, run);
  const StageTable table(trace);
  const auto chosen = chosen_stages(table, options.stages);
  std::vector<Window> windows = find_windows(trace, table);
  const IterationPlan plan = plan_iterations(trace, table, options.warmup, windows);
  const PhasePartition partition(table, plan, windows);
  const GpuPass pass = pass_over_gpu_work(trace, table, chosen, plan, windows, partition);
  run.stages = stage_entries(trace, table, windows, pass);
  fill_host_code(trace, windows, pass.budgets.host, run);
  run.latency = derive_latency(trace, table, plan, windows, options.tokens, run.stages);
  std::erase_if(run.stages, [](const StageEntry& stage) { return stage.ranges.empty() && !stage.derived; });
  run.phases = phase_figures(trace, table, windows, partition, pass);
  run.iterations = list_iterations(trace, table, plan, windows);
  run.timeline = draw_timeline(trace, plan);
  fill_kernels(trace, table, pass.sweep, options, !chosen.empty(), run);
  fill_api(trace, run);
  fill_ranges(trace, table, pass.sweep, run);
  fill_coverage(trace, pass, run);
  fill_sampling(trace, table, windows, run);
  fill_stalls(trace, run);
  fill_clock(trace, run);
}

}  // namespace nl::analysis
