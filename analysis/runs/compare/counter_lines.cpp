#include "analysis/runs/compare/counter_lines.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/runs/compare/line_table.h"
#include "analysis/statistics/bootstrap.h"

namespace nl::analysis {
namespace {

CompareLine counter_line(const MetricInfo& metric, std::string stage) {
  CompareLine line;
  line.key = metric.key;
  line.stage = std::move(stage);
  line.figure = CompareFigure::kCounter;
  line.unit = metric.unit;
  line.better = Better::kNeither;  // more bytes or a busier pipe are good or bad by what else happens
  return line;
}

// Why there are no lines: whether one side lacks them, or both.
LineReason why_missing(bool in_a, bool in_b) {
  if (in_a == in_b) return LineReason::kNotCaptured;
  return in_a ? LineReason::kNotCapturedB : LineReason::kNotCapturedA;
}

template <class Has>
bool any_run(const std::vector<const Run*>& runs, Has has) {
  return std::any_of(runs.begin(), runs.end(), [&](const Run* run) { return has(*run); });
}

// Lines of one side alone say nothing about a change: then there are none, and the reason.
template <class Has>
CompareSection take_common(const Sides& sides, LineTable& table, Has has) {
  const bool in_a = any_run(sides.a, has), in_b = any_run(sides.b, has);
  CompareSection section = table.take();
  if (in_a && in_b && !section.lines.empty()) return section;
  return {{}, why_missing(in_a, in_b)};
}

bool any_sampled(const Run& run) {
  return std::any_of(run.stages.begin(), run.stages.end(), [](const StageEntry& stage) { return stage.sampling.has_value(); });
}

bool any_counted(const Run& run) {
  const bool stages = std::any_of(run.stages.begin(), run.stages.end(),
                                  [](const StageEntry& stage) { return stage.counters && stage.counters->windows > 0; });
  return stages || (run.kernels &&
                    std::any_of(run.kernels->begin(), run.kernels->end(), [](const KernelEntry& kernel) { return !kernel.ncu.empty(); }));
}

std::set<std::string> counted_kernels(const std::vector<const Run*>& runs) {
  std::set<std::string> names;
  for (const Run* run : runs)
    for (const KernelEntry& kernel : run->kernels.value_or(std::vector<KernelEntry>()))
      if (!kernel.ncu.empty()) names.insert(kernel.name);
  return names;
}

// Over the launches of the kernel that were measured.
std::optional<double> kernel_counter(const Run& run, const std::string& name, Metric metric) {
  std::vector<double> values;
  if (run.kernels)
    for (const KernelEntry& kernel : *run.kernels)
      for (const NcuSample& sample : kernel.ncu)
        if (kernel.name == name && sample.values[metric]) values.push_back(*sample.values[metric]);
  return values.empty() ? std::nullopt : std::optional(median_of(std::move(values)));
}

}  // namespace

CompareSection sampled_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines) {
  LineTable table(sides, judge);
  for (const std::string& name : common_stages(sides))
    for (const MetricInfo& metric : metrics_of(MetricPlace::kSampled))
      table.add(counter_line(metric, name), why_not_entered(run_lines, name), [&](const Run& run) -> std::optional<double> {
        const StageEntry* stage = find_stage(run, name);
        return stage != nullptr && stage->sampling ? stage->sampling->values[metric.metric] : std::nullopt;
      });
  return take_common(sides, table, any_sampled);
}

CompareSection counted_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines) {
  LineTable table(sides, judge);
  for (const std::string& name : common_stages(sides))
    for (const MetricInfo& metric : metrics_of(MetricPlace::kStage))
      table.add(counter_line(metric, name), why_not_entered(run_lines, name), [&](const Run& run) -> std::optional<double> {
        const StageEntry* stage = find_stage(run, name);
        return stage != nullptr && stage->counters ? stage->counters->values[metric.metric] : std::nullopt;
      });
  const std::set<std::string> a = counted_kernels(sides.a), b = counted_kernels(sides.b);
  for (const std::string& name : a)
    for (const MetricInfo& metric : metrics_of(MetricPlace::kLaunch)) {
      if (!b.contains(name)) continue;
      CompareLine line = counter_line(metric, "");
      line.key = name + ": " + line.key;
      table.add(std::move(line), why_not_entered(run_lines), [&](const Run& run) { return kernel_counter(run, name, metric.metric); });
    }
  return take_common(sides, table, any_counted);
}

}  // namespace nl::analysis
