#include "analysis/runs/compare/parts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/statistics/bootstrap.h"
#include "model/stage.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

// Gathers the lines of one section. Those inside a stage that changed are tested together; all others have their medians, and why.
class LineTable {
 public:
  LineTable(const Sides& sides, const Judge& judge) : sides_(sides), judge_(judge) {}

  void add(CompareLine line, const std::optional<LineReason>& why_not, const FigureOfRun& figure) {
    std::vector<OrderedValue> values = values_of(sides_, figure);
    if (std::all_of(values.begin(), values.end(), [](const OrderedValue& each) { return each.value == 0; })) return;
    if (why_not) seen_.push_back(Judge::glance(std::move(line), values, *why_not));
    else tested_.push_back(judge_.measure(std::move(line), std::move(values)));
  }

  // Decides what is tested, and keeps the lines with the largest difference.
  CompareSection take() {
    judge_.decide(tested_);
    CompareSection section = section_of(std::move(tested_));
    std::vector<CompareLine>& lines = section.lines;
    lines.insert(lines.end(), seen_.begin(), seen_.end());
    if (!lines.empty()) section.missing.reset();
    const auto rank = [](const CompareLine& line) {
      return std::tuple(-std::abs(difference_of(line)), std::string_view(line.stage), std::string_view(line.kernel),
                        std::string_view(line.key), line.figure);
    };
    std::sort(lines.begin(), lines.end(), [&](const CompareLine& a, const CompareLine& b) { return rank(a) < rank(b); });
    if (lines.size() > kMostLines) lines.resize(kMostLines);
    return section;
  }

 private:
  static constexpr std::size_t kMostLines = 200;
  const Sides& sides_;
  const Judge& judge_;
  std::vector<LineTest> tested_;
  std::vector<CompareLine> seen_;
};

template <class Names>
std::set<std::string> names_of(const Sides& sides, Names names) {
  std::set<std::string> all;
  for (const auto* side : {&sides.a, &sides.b})
    for (const Run* run : *side) names(*run, all);
  return all;
}

double in_window(const Run& run, const std::string& stage, Ns total_ns) {
  const StageEntry* entry = find_stage(run, stage);
  return entry != nullptr ? static_cast<double>(total_ns) / static_cast<double>(entry->wall.count) : 0;
}

// The same source on both sides, if there is one: Kineto's operators are not those of NVTX ranges.
const OperatorTable* operators_of(const Run& run, const std::string& source) {
  const auto found =
      std::find_if(run.operators.begin(), run.operators.end(), [&](const OperatorTable& table) { return table.source == source; });
  return found != run.operators.end() ? &*found : nullptr;
}

std::string common_source(const Sides& sides) {
  std::string first;  // by name: the same from either side
  for (const OperatorTable& table : sides.a[0]->operators)
    if (operators_of(*sides.b[0], table.source) != nullptr && (first.empty() || table.source < first)) first = table.source;
  return first;
}

// Of one call of an operator or layer: captures differ in how many steps they hold.
template <class Entry>
std::optional<double> time_of_call(const std::vector<Entry>& entries, const std::string& name, bool gpu) {
  for (const Entry& entry : entries) {
    if (entry.name != name || entry.calls == 0) continue;
    if (gpu && !entry.cuda_self_ns) return std::nullopt;
    if constexpr (requires { entry.host_time_known; })
      if (!gpu && !entry.host_time_known) return std::nullopt;
    return static_cast<double>(gpu ? *entry.cuda_self_ns : entry.self_ns) / static_cast<double>(entry.calls);
  }
  return 0;
}

// `entries` of a run: null where it has none.
template <class Entries>
CompareSection call_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines, Entries entries) {
  LineTable table(sides, judge);
  const auto names = names_of(sides, [&](const Run& run, std::set<std::string>& all) {
    if (const auto* list = entries(run))
      for (const auto& entry : *list) all.insert(entry.name);
  });
  for (const std::string& name : names)
    for (const bool gpu : {true, false})
      table.add(line_of(name, "", gpu ? CompareFigure::kGpuTime : CompareFigure::kHostTime), why_not_entered(run_lines),
                [&](const Run& run) -> std::optional<double> {
                  const auto* list = entries(run);
                  return list != nullptr ? time_of_call(*list, name, gpu) : std::nullopt;
                });
  return table.take();
}

std::optional<double> host_wait(const Run& run, const std::string& stage, HostWork kind) {
  const StageEntry* entry = find_stage(run, stage);
  if (entry == nullptr || !entry->host_code) return std::nullopt;
  for (const HostWorkTime& each : entry->host_code->kinds)
    if (each.kind == kind) return each.time_ns ? std::optional(in_window(run, stage, *each.time_ns)) : std::nullopt;
  return 0;
}

std::optional<double> line_wait(const Run& run, const std::string& stage, const std::string& place) {
  const StageEntry* entry = find_stage(run, stage);
  if (entry == nullptr || !entry->host_code) return std::nullopt;
  double sum = 0;
  for (const HostLine& each : entry->host_code->lines)
    if (each.time_ns && place_text(each.frame) == place) sum += in_window(run, stage, *each.time_ns);
  return sum;
}

CompareLine counter_line(const MetricInfo& metric, const std::string& stage) {
  // More bytes or a busier pipe are good or bad by what else happens.
  return line_of(std::string(metric.key), stage, CompareFigure::kCounter, metric.unit, Better::kNeither);
}

// Lines of stages: `values` finds those of a stage, or null.
template <class Values>
void add_stage_counters(LineTable& table, const Sides& sides, const RunLines& run_lines, MetricPlace place, Values values) {
  for (const std::string& name : common_stages(sides))
    for (const MetricInfo& metric : metrics_of(place))
      table.add(counter_line(metric, name), why_not_entered(run_lines, name), [&](const Run& run) -> std::optional<double> {
        const StageEntry* stage = find_stage(run, name);
        const MetricValues* counted = stage != nullptr ? values(*stage) : nullptr;
        return counted != nullptr ? (*counted)[metric.metric] : std::nullopt;
      });
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
  return {{}, why_not_captured(in_a, in_b), {}};
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

CompareSection budget_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines) {
  LineTable table(sides, judge);
  for (const std::string& stage : common_stages(sides))
    for (const BudgetBinKey& bin : kBudgetBinKeys)
      table.add(
          line_of(bin.key, stage, CompareFigure::kBin), why_not_entered(run_lines, stage), [&](const Run& run) -> std::optional<double> {
            const StageEntry* entry = find_stage(run, stage);
            return entry != nullptr && entry->budget ? std::optional(in_window(run, stage, (*entry->budget).*bin.time_ns)) : std::nullopt;
          });
  return table.take();
}

CompareSection operator_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines) {
  const std::string source = common_source(sides);
  return call_lines(sides, judge, run_lines, [&](const Run& run) {
    const OperatorTable* operators = operators_of(run, source);
    return operators != nullptr ? &operators->entries : nullptr;
  });
}

CompareSection layer_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines) {
  return call_lines(sides, judge, run_lines, [](const Run& run) { return run.layers.empty() ? nullptr : &run.layers; });
}

CompareSection host_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines) {
  LineTable table(sides, judge);
  for (const std::string& stage : common_stages(sides)) {
    const auto why_not = why_not_entered(run_lines, stage);
    for (std::size_t i = 0; i < kHostWorks; ++i) {
      const auto kind = static_cast<HostWork>(i);
      table.add(line_of(std::string(key_of(kind)), stage, CompareFigure::kHostWait), why_not,
                [&](const Run& run) { return host_wait(run, stage, kind); });
    }
    const auto places = names_of(sides, [&](const Run& run, std::set<std::string>& all) {
      const StageEntry* entry = find_stage(run, stage);
      if (entry == nullptr || !entry->host_code) return;
      for (std::size_t i = 0; i < std::min<std::size_t>(20, entry->host_code->lines.size()); ++i)
        all.insert(place_text(entry->host_code->lines[i].frame));
    });
    for (const std::string& place : places)
      table.add(line_of(place, stage, CompareFigure::kHostWait), why_not, [&](const Run& run) { return line_wait(run, stage, place); });
  }
  return table.take();
}

CompareSection api_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines) {
  LineTable table(sides, judge);
  const auto names = names_of(sides, [](const Run& run, std::set<std::string>& all) {
    for (const ApiEntry& entry : run.api) all.insert(entry.name);
  });
  for (const std::string& name : names)
    table.add(line_of(name, "", CompareFigure::kApiTime), why_not_entered(run_lines), [&](const Run& run) -> std::optional<double> {
      if (run.api.empty()) return std::nullopt;
      for (const ApiEntry& entry : run.api)
        if (entry.name == name) return entry.time.mean_ns;
      return 0;
    });
  return table.take();
}

CompareSection sampled_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines) {
  LineTable table(sides, judge);
  add_stage_counters(table, sides, run_lines, MetricPlace::kSampled,
                     [](const StageEntry& stage) { return stage.sampling ? &stage.sampling->values : nullptr; });
  return take_common(sides, table, any_sampled);
}

CompareSection counted_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines) {
  LineTable table(sides, judge);
  add_stage_counters(table, sides, run_lines, MetricPlace::kStage,
                     [](const StageEntry& stage) { return stage.counters ? &stage.counters->values : nullptr; });
  const std::set<std::string> a = counted_kernels(sides.a), b = counted_kernels(sides.b);
  const auto add = [&](const std::string& name, const std::optional<LineReason>& why_not) {
    for (const MetricInfo& metric : metrics_of(MetricPlace::kLaunch)) {
      CompareLine line = counter_line(metric, "");
      line.kernel = name;
      table.add(std::move(line), why_not, [&](const Run& run) { return kernel_counter(run, name, metric.metric); });
    }
  };
  bool common = false;
  for (const std::string& name : a)
    if (b.contains(name)) add(name, why_not_entered(run_lines)), common = true;
  if (common || a.empty() || b.empty()) return take_common(sides, table, any_counted);
  // What each side has is shown all the same: the reader sees why nothing is beside it.
  for (const auto* side : {&a, &b})
    for (const std::string& name : *side) add(name, LineReason::kNoCommonKernel);
  CompareSection section = table.take();
  if (!section.lines.empty()) section.note = LineReason::kNoCommonKernel;
  return section;
}

}  // namespace nl::analysis
