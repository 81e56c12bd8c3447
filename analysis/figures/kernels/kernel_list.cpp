#include "analysis/figures/kernels/kernel_list.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analysis/figures/kernels/innermost_stage.h"
#include "analysis/statistics/time_summary.h"
#include "analysis/trace/gpu_order.h"
#include "analysis/trace/kernel_class.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

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

std::vector<StageSplit> splits_of(const StageTable& table, const std::vector<StageTime>& times) {
  std::vector<StageSplit> splits;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i].calls > 0) splits.push_back({i < table.stages().size() ? table.stages()[i] : "none", times[i].total_ns, times[i].calls});
  return splits;
}

// By kernel group and innermost stage, the last one: in none. Empty where no stage lies inside another: the outermost is the innermost.
std::vector<std::vector<StageTime>> innermost_times(const StagedTrace& staged, const GpuSweep& sweep) {
  if (!has_nested_stages(staged)) return {};
  const std::size_t none = staged.table.stages().size();
  std::vector<std::vector<StageTime>> times(sweep.kernels.size(), std::vector<StageTime>(none + 1));
  InnermostStage innermost(staged);
  for (const Kernel& kernel : staged.trace.kernels) {
    const std::uint32_t stage = innermost.of(kernel.api);
    StageTime& time = times[sweep.group_of(kernel)][stage == kNone ? none : stage];
    time.total_ns += static_cast<Ns>(kernel.duration_ns);
    ++time.calls;
  }
  return times;
}

KernelEntry kernel_entry(const Trace& trace, const StageTable& table, const GpuSweep& sweep, const KernelGroup& group) {
  const KernelShape& shape = trace.shapes[group.shape];
  KernelEntry entry;
  entry.name = trace.strings[shape.name];
  entry.mangled_name = trace.strings[shape.mangled_name];
  entry.short_name = trace.strings[shape.short_name];
  if (entry.short_name.empty()) entry.short_name = kernel_function(entry.name);
  entry.kind = classify_kernel(entry.name);
  entry.device = group.device;
  if (const Ns all_ns = sweep.computing_ns_of(group.device); all_ns > 0)
    entry.gpu_share = static_cast<double>(group.total_ns) / static_cast<double>(all_ns);
  entry.graph_calls = group.graph_calls;
  entry.ncu_note = Remark{Code::kNotChosen};
  entry.stages = entry.innermost = splits_of(table, group.stages);
  for (std::size_t i = 0; i < group.measured.size(); ++i)
    if (group.measured[i].calls > 0) entry.measured.push_back({table.stages()[i], group.measured[i].total_ns, group.measured[i].calls});
  entry.measured_ns = group.in_windows.total_ns;
  entry.measured_calls = group.in_windows.calls;
  return entry;
}

// The top-N names by that time; a name counts once however many devices run it.
void select_kernels(const GpuSweep& sweep, const std::vector<std::uint32_t>& order, std::size_t top_n, Ns KernelGroup::* rank,
                    std::vector<KernelEntry>& kernels) {
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
      kernels[i].selected = true;
      kernels[i].ncu_note = Remark{Code::kNotMeasured};
    }
  }
}

Remark missing_kernels(const ImportStats& stats) {
  if (stats.source_format != SourceFormat::kCollector) return {Code::kNoKernelsCaptured};
  if (stats.rows_read.count("counter sets") > 0 || find_first(stats.notes, kCounterTroubles)) return {Code::kCounterPass};
  const Remark* trouble = find_first(stats.notes, {Code::kNotRecorded});
  return trouble != nullptr ? *trouble : Remark{Code::kRangesOnly};
}

bool of_generation(std::string_view stage) { return stage_kind(stage) == StageKind::kPrefill || is_decode(stage); }

// A program that does not generate has no such stages and lacks none: all its kernels count.
bool lacks_stages(const StagedTrace& staged, const KernelChoice& choice) {
  const std::vector<std::string>& stages = staged.table.stages();
  if (!choice.stage_ids(staged.table).empty() || stages.empty()) return true;
  const auto generating = [](const std::vector<std::string>& names) { return std::any_of(names.begin(), names.end(), of_generation); };
  return generating(stages) || !std::all_of(choice.stages.begin(), choice.stages.end(), of_generation);
}

Remark fallback_remark(const StagedTrace& staged, const KernelChoice& choice) {
  const Code code = choice.stage_ids(staged.table).empty() ? Code::kNoStages
                    : !staged.trace.graph_runs.empty()     ? Code::kGraphsWithoutKernels
                                                           : Code::kNoKernelInStages;
  return {code, {fmt::format("{}", fmt::join(choice.stages, ", "))}};
}

}  // namespace

std::vector<std::uint32_t> KernelChoice::stage_ids(const StageTable& table) const {
  std::vector<std::uint32_t> ids;
  for (const auto& name : stages)
    if (const auto id = table.find(name); id != kNone) ids.push_back(id);
  // A program that generates nothing has units of its own.
  if (ids.empty())
    for (const StageKind unit : {StageKind::kTrainStep, StageKind::kBatch, StageKind::kDenoiseStep, StageKind::kStep})
      if (const auto id = table.find(unit); id != kNone) ids.push_back(id);
  return ids;
}

KernelList list_kernels(const StagedTrace& staged, const GpuSweep& sweep, const KernelChoice& choice) {
  const Trace& trace = staged.trace;
  if (!trace.has_kernel_data) return {std::nullopt, missing_kernels(trace.stats), std::nullopt};
  std::vector<std::uint32_t> order(sweep.kernels.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto place = [&](std::uint32_t i) {
    const KernelGroup& group = sweep.kernels[i];
    return std::tuple(-group.total_ns, std::string_view(trace.strings[group.name]), group.device);
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
  GroupedDurations durations(trace, sweep);
  const auto innermost = innermost_times(staged, sweep);
  std::vector<KernelEntry> kernels;
  kernels.reserve(order.size());
  for (const std::uint32_t i : order) {
    kernels.push_back(kernel_entry(trace, staged.table, sweep, sweep.kernels[i]));
    kernels.back().time = durations.summary(i);
    if (!innermost.empty()) kernels.back().innermost = splits_of(staged.table, innermost[i]);
  }
  const auto any = [&](Ns KernelGroup::* time) {
    return std::any_of(sweep.kernels.begin(), sweep.kernels.end(), [&](const auto& k) { return k.*time > 0; });
  };
  const bool any_chosen = any(&KernelGroup::chosen_ns);
  KernelList list;
  if (!any_chosen && !order.empty() && lacks_stages(staged, choice)) list.fallback = fallback_remark(staged, choice);
  // What runs only in warm-up is not worth a counter pass.
  const auto rank = any(&KernelGroup::chosen_measured_ns) ? &KernelGroup::chosen_measured_ns
                    : any_chosen                          ? &KernelGroup::chosen_ns
                                                          : &KernelGroup::total_ns;
  select_kernels(sweep, order, choice.top_n, rank, kernels);
  list.kernels = std::move(kernels);
  return list;
}

std::optional<std::vector<KernelEntry>> list_kernels(const StagedTrace& staged, const KernelChoice& choice) {
  GpuSweeper sweeper(staged.trace, staged.table, staged.plan, staged.windows, choice.stage_ids(staged.table));
  visit_gpu_work(staged.trace, [&](const auto& work) { sweeper.add(work); });
  return list_kernels(staged, sweeper.result(), choice).kernels;
}

}  // namespace nl::analysis
