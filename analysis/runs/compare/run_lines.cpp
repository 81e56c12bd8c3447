#include "analysis/runs/compare/run_lines.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/statistics/bootstrap.h"
#include "model/comparison.h"
#include "model/run_metrics.h"

namespace nl::analysis {
namespace {

// Collects the lines of a section. What neither side has gets no line.
class Section {
 public:
  Section(const Sides& sides, const Judge& judge) : sides_(sides), judge_(judge) {}
  void add(CompareLine line, const FigureOfRun& figure) { keep(judge_.measure(std::move(line), values_of(sides_, figure))); }
  // The figures of model/run_metrics that comparisons have: of the run, or those of a stage that stand in one part of the run.
  void add_figures(const std::string& stage = {}, RunPart part = RunPart::kSelf) {
    for (const RunMetricInfo& info : run_metric_table()) {
      const bool fits = stage.empty() ? info.scope == RunMetricScope::kRun : info.scope == RunMetricScope::kStage && info.part == part;
      if (!fits || info.uses.compare.empty()) continue;
      // A line among those of the stages goes by its stage.
      const std::string key(!stage.empty() && part == RunPart::kSelf ? stage : info.uses.compare);
      const auto figure = *from_key<CompareFigure>(info.uses.compare);
      add(line_of(key, stage, figure, measured_unit(info.unit), info.better), [&](const Run& run) -> std::optional<double> {
        const StageEntry* entry = find_stage(run, stage);
        return stage.empty() || entry != nullptr ? info.read({run, entry}) : std::nullopt;
      });
    }
  }
  void keep(LineTest test) {
    if (test.line.a || test.line.b) tests_.push_back(std::move(test));
  }
  // Shown, and never decided.
  void keep_incomparable(CompareLine line, const std::vector<OrderedValue>& values, LineReason why) {
    LineTest test;
    test.line = Judge::glance(std::move(line), values, why);
    keep(std::move(test));
  }
  std::vector<LineTest> take() { return std::move(tests_); }

 private:
  const Sides& sides_;
  const Judge& judge_;
  std::vector<LineTest> tests_;
};

std::vector<double> windows_of(const Run& run, const std::string& stage) {
  const StageEntry* entry = find_stage(run, stage);
  return entry != nullptr ? std::vector<double>(entry->series.wall_ns.begin(), entry->series.wall_ns.end()) : std::vector<double>();
}

// The medians of the unprofiled passes of a run: processes of their own, so that they show how runs differ.
std::vector<double> unprofiled_passes(const Run& run, const std::string& stage) {
  for (const StageSlowdown& each : run.perturbation.stages)
    if (each.stage == stage && each.profiler != PassKind::kNcu) return each.bare_ns;
  return {};
}

std::vector<OrderedValue> wall_values(const Sides& sides, const std::string& name) {
  return values_of(sides, [&](const Run& run) -> std::optional<double> {
    const StageEntry* stage = find_stage(run, name);
    if (stage == nullptr) return std::nullopt;
    const std::vector<double> kept = windows_of(run, name);  // without throttled windows, where there are any
    return stage->series.throttled > 0 && !kept.empty() ? median_of(kept) : stage->wall.median_ns;
  });
}

LineTest wall_line(const Sides& sides, const Judge& judge, const std::string& name) {
  const CompareLine line = line_of(name, name, CompareFigure::kWall);
  if (sides.one_each()) {
    const std::vector<double> a = windows_of(*sides.a[0], name), b = windows_of(*sides.b[0], name);
    if (!a.empty() && !b.empty()) return judge.measure_windows(line, a, b);
  }
  return judge.measure(line, wall_values(sides, name));
}

LineTest unprofiled_line(const Sides& sides, const Judge& judge, const std::string& name) {
  const CompareLine line = line_of(name, name, CompareFigure::kUnprofiledWall);
  if (!sides.one_each())
    return judge.measure(line, values_of(sides, [&](const Run& run) -> std::optional<double> {
                           const std::vector<double> passes = unprofiled_passes(run, name);
                           return passes.empty() ? std::nullopt : std::optional(median_of(passes));
                         }));
  // Passes of one bundle were made in a row, on one machine in one state: they say of their run what windows do.
  return judge.measure_windows(line, unprofiled_passes(*sides.a[0], name), unprofiled_passes(*sides.b[0], name));
}

// Windows of a different number of tokens take different times by nature: decoding of 16 tokens against 32. Steps and figures per token
// stay comparable.
bool same_tokens(const Sides& sides, const std::string& name) {
  std::vector<double> tokens;
  for (const auto* side : {&sides.a, &sides.b})
    for (const Run* run : *side)
      if (const StageEntry* stage = find_stage(*run, name); stage != nullptr && stage->tokens_per_window)
        tokens.push_back(*stage->tokens_per_window);
  const auto [least, most] = std::minmax_element(tokens.begin(), tokens.end());
  return tokens.empty() || *most - *least <= 0.01 * *most;
}

// Stage ranges that end before their work does say when it was launched, not how long it took.
bool runs_on(const Sides& sides, const std::string& name) {
  for (const auto* side : {&sides.a, &sides.b})
    for (const Run* run : *side)
      if (const StageEntry* stage = find_stage(*run, name); stage != nullptr && stage->runs_on()) return true;
  return false;
}

// Where no work of the stage overlaps with other work of it, the union of its intervals is their sum.
bool overlaps(const Sides& sides, const std::string& name) {
  for (const auto* side : {&sides.a, &sides.b})
    for (const Run* run : *side)
      if (const StageEntry* stage = find_stage(*run, name); stage != nullptr && stage->gpu_sum_ns != stage->gpu_busy_ns) return true;
  return false;
}

std::vector<LineTest> stage_lines(const Sides& sides, const Judge& judge) {
  Section section(sides, judge);
  for (const std::string& name : common_stages(sides)) {
    const bool tokens = same_tokens(sides, name), waits = !runs_on(sides, name);
    if (!tokens || !waits)
      section.keep_incomparable(line_of(name, name, CompareFigure::kWall), wall_values(sides, name),
                                tokens ? LineReason::kRunsOn : LineReason::kOtherTokens);
    if (!tokens) continue;
    if (waits) section.keep(wall_line(sides, judge, name));
    if (waits) section.keep(unprofiled_line(sides, judge, name));
    const std::pair<CompareFigure, std::optional<Ns> StageEntry::*> gpu_times[] = {{CompareFigure::kGpuWork, &StageEntry::gpu_sum_ns},
                                                                                   {CompareFigure::kGpuBusy, &StageEntry::gpu_busy_ns}};
    for (const auto& [figure, total_ns] : gpu_times) {
      if (figure == CompareFigure::kGpuBusy && !overlaps(sides, name)) continue;
      section.add(line_of(name, name, figure), [&, total_ns = total_ns](const Run& run) -> std::optional<double> {
        const StageEntry* stage = find_stage(run, name);
        if (stage == nullptr || !(stage->*total_ns)) return std::nullopt;
        return static_cast<double>(*(stage->*total_ns)) / static_cast<double>(stage->wall.count);
      });
    }
    section.add_figures(name);
  }
  return section.take();
}

std::vector<LineTest> headline_lines(const Sides& sides, const Judge& judge) {
  Section section(sides, judge);
  section.add_figures();
  return section.take();
}

std::vector<LineTest> efficiency_lines(const Sides& sides, const Judge& judge) {
  Section section(sides, judge);
  for (const std::string& name : common_stages(sides)) section.add_figures(name, RunPart::kEfficiency);
  return section.take();
}

std::vector<LineTest> energy_lines(const Sides& sides, const Judge& judge) {
  Section section(sides, judge);
  for (const std::string& name : common_stages(sides)) {
    section.add_figures(name, RunPart::kEnergy);
    section.add(line_of("mean_power_w", name, CompareFigure::kPower, MetricUnit::kWatts, Better::kNeither),
                [&](const Run& run) -> std::optional<double> {
                  for (const StageEnergy& each : run.energy.stages)
                    if (each.stage == name) return each.mean_power_w;
                  return std::nullopt;
                });
  }
  return section.take();
}

// In one list, so that all of them are decided together.
void decide_together(const Judge& judge, std::initializer_list<std::vector<LineTest>*> parts) {
  std::vector<LineTest> all;
  for (std::vector<LineTest>* part : parts) std::move(part->begin(), part->end(), std::back_inserter(all));
  judge.decide(all);
  auto next = all.begin();
  for (std::vector<LineTest>* part : parts)
    for (LineTest& test : *part) test = std::move(*next++);
}

// The line that the verdict is about: the window of the main stage, unprofiled where both sides have that.
std::vector<LineTest>::iterator main_line(std::vector<LineTest>& stages, const std::string& main_stage) {
  auto found = stages.end();
  for (auto each = stages.begin(); each != stages.end(); ++each) {
    if (each->line.stage != main_stage) continue;
    if (each->line.figure == CompareFigure::kWall) found = each;
    if (each->line.figure == CompareFigure::kUnprofiledWall && each->line.a && each->line.b) return each;
  }
  return found;
}

}  // namespace

RunLines run_lines(const Sides& sides, const Judge& judge, const std::string& main_stage, const std::map<std::string, double>& kernel_p) {
  RunLines lines;
  lines.headline = headline_lines(sides, judge);
  lines.stages = stage_lines(sides, judge);
  lines.efficiency = efficiency_lines(sides, judge);
  lines.energy = energy_lines(sides, judge);
  std::vector<LineTest> kernels;
  for (const auto& [stage, p_value] : kernel_p) {
    kernels.emplace_back().line = line_of(stage, stage, CompareFigure::kKernelTime);
    kernels.back().line.p_value = p_value;
  }
  // The main line is what was asked for, and is decided alone. The others are many, and are decided together.
  std::vector<LineTest> alone;
  const auto main = main_line(lines.stages, main_stage);
  const auto place = main - lines.stages.begin();
  if (main != lines.stages.end()) {
    alone.push_back(std::move(*main));
    lines.stages.erase(main);
    judge.decide(alone);
    lines.main_wall = alone[0];
  }
  decide_together(judge, {&lines.headline, &lines.stages, &lines.efficiency, &lines.energy, &kernels});
  if (!alone.empty()) lines.stages.insert(lines.stages.begin() + place, std::move(alone[0]));
  for (const LineTest& test : kernels)
    if (judge.significant(test.line)) lines.kernels_changed.push_back(test.line.stage);
  return lines;
}

std::string main_stage_of(const Sides& sides, const std::string& whole_stage) {
  std::vector<std::string> stages = common_stages(sides);
  if (stages.size() > 1) std::erase(stages, whole_stage);
  for (const StageKind kind : {StageKind::kDecodeStep, StageKind::kDecode})
    for (const std::string& name : stages)
      if (stage_kind(name) == kind && same_tokens(sides, name) && !runs_on(sides, name)) return name;
  const auto total = [&](const std::string& name) {
    Ns sum = 0;
    for (const auto* side : {&sides.a, &sides.b})
      for (const Run* run : *side)
        if (const StageEntry* stage = find_stage(*run, name)) sum += stage->wall.total_ns;
    return sum;
  };
  const auto longest =
      std::max_element(stages.begin(), stages.end(), [&](const std::string& a, const std::string& b) { return total(a) < total(b); });
  return longest != stages.end() ? *longest : std::string();
}

std::optional<LineReason> why_not_entered(const RunLines& lines, const std::string& stage) {
  bool undecided = false;
  for (const LineTest& test : lines.stages) {
    if (!stage.empty() && test.line.stage != stage) continue;
    if (is_real(test.line)) return std::nullopt;
    undecided = undecided || (test.line.figure == CompareFigure::kWall && test.line.verdict == CompareVerdict::kUndecidable);
  }
  return undecided ? LineReason::kStageUndecided : LineReason::kStageUnchanged;
}

CompareLine line_of(std::string key, std::string stage, CompareFigure figure, MetricUnit unit, Better better) {
  CompareLine line;
  line.key = std::move(key);
  line.stage = std::move(stage);
  line.figure = figure;
  line.unit = unit;
  line.better = better;
  return line;
}

CompareSection section_of(std::vector<LineTest> tests) {
  CompareSection section;
  for (LineTest& test : tests) section.lines.push_back(std::move(test.line));
  if (section.lines.empty()) section.missing = LineReason::kNotCaptured;
  return section;
}

}  // namespace nl::analysis
