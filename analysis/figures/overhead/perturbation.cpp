#include "analysis/figures/overhead/perturbation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/statistics/confidence.h"
#include "analysis/statistics/time_summary.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

constexpr const char* kWholeRun = "whole run";
constexpr double kSameWork = 1.1;  // how far the numbers of windows may lie apart

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::vector<double> logs(const std::vector<double>& values) {
  std::vector<double> out;
  for (const double value : values) out.push_back(std::log(value));
  return out;
}

// A 95 % interval of more than 100 percentage points tells nobody anything.
constexpr double kWidestRange = 1.0;

// Rounded first, so that nothing reads "-0.0 %".
std::string percent(double ratio) { return fmt::format("{:.1f} %", std::round(1000 * ratio) / 10 + 0.0); }

std::string change_words(const StageSlowdown& row) {
  const double change = *row.slowdown;
  return fmt::format("{} ran {} {} under {}", row.stage, percent(std::abs(change)), change < 0 ? "faster" : "slower",
                     profiler_words(row.profiler));
}

void judge(StageSlowdown& row) {
  if (!row.low || !row.high) {
    row.verdict = SlowdownVerdict::kUndecidable;
    row.summary = change_words(row) + "; too few passes for a range";
    return;
  }
  const bool over = *row.low > kSlowdownLimit, under = *row.high < kSlowdownLimit;
  row.verdict = over ? SlowdownVerdict::kOverTenPercent : under ? SlowdownVerdict::kUnderTenPercent : SlowdownVerdict::kUndecidable;
  if (!over && !under && *row.high - *row.low > kWidestRange) {
    row.summary = fmt::format("{} under {}: the passes vary too much to measure a slowdown", row.stage, profiler_words(row.profiler));
    return;
  }
  const std::string span = fmt::format("95 %: {} to {}", percent(*row.low), percent(*row.high));
  if (*row.low <= 0 && *row.high >= 0)
    row.summary = fmt::format("{} under {}: no measurable slowdown ({})", row.stage, profiler_words(row.profiler), span);
  else row.summary = fmt::format("{} ({})", change_words(row), span);
  if (!over && !under) row.summary += "; more than 10 % is neither shown nor excluded";
}

bool all_positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

// Times are compared by their ratios, so by their logarithms: the geometric mean over the passes, and an
// interval that is symmetric in ratios. A row that has a note already cannot be.
void compare(StageSlowdown& row, bool single_will_do) {
  if (row.bare_ns.empty() || row.profiled_ns.empty())
    row.note = fmt::format("no {} pass has it", key_of(row.bare_ns.empty() ? PassKind::kUnprofiled : row.profiler));
  else if (row.note.empty() && (!all_positive(row.bare_ns) || !all_positive(row.profiled_ns)))
    row.note = "it takes no time in at least one pass";
  if (!row.note.empty()) {
    row.verdict = SlowdownVerdict::kUndecidable;
    row.summary = fmt::format("{} under {}: not compared, {}", row.stage, profiler_words(row.profiler), row.note);
    return;
  }
  const std::vector<double> bare = logs(row.bare_ns), profiled = logs(row.profiled_ns);
  row.slowdown = std::exp(mean(profiled) - mean(bare)) - 1;
  auto interval = difference_95(bare, profiled);
  if (!interval && single_will_do && profiled.size() == 1) interval = difference_95(bare, profiled[0]);
  if (interval) {
    row.low = std::exp(interval->low) - 1;
    row.high = std::exp(interval->high) - 1;
  }
  judge(row);
}

struct WindowCounts {  // least and most of any pass
  std::uint64_t least = UINT64_MAX, most = 0;
  void add(std::uint64_t windows) {
    least = std::min(least, windows);
    most = std::max(most, windows);
  }
};

StageSlowdown compare_stage(const std::vector<PassTimes>& passes, PassKind profiler, const std::string& stage) {
  StageSlowdown row;
  row.profiler = profiler;
  row.stage = stage;
  WindowCounts windows;
  for (const PassTimes& pass : passes) {
    if (pass.profiled() && pass.profiler != profiler) continue;
    for (const PassStage& time : pass.stages) {
      if (time.stage != stage) continue;
      (pass.profiled() ? row.profiled_ns : row.bare_ns).push_back(time.median_ns);
      windows.add(time.windows);
    }
  }
  const bool same_work = static_cast<double>(windows.most) <= kSameWork * static_cast<double>(windows.least);
  if (!row.bare_ns.empty() && !row.profiled_ns.empty() && !same_work)
    row.note = fmt::format("the passes differ in work: {} to {} windows", windows.least, windows.most);
  compare(row, false);
  return row;
}

StageSlowdown compare_whole(const std::vector<PassTimes>& passes, PassKind profiler, bool stages_known) {
  StageSlowdown row;
  row.profiler = profiler;
  row.stage = kWholeRun;
  for (const PassTimes& pass : passes)
    if (!pass.profiled() || pass.profiler == profiler)
      (pass.profiled() ? row.profiled_ns : row.bare_ns).push_back(static_cast<double>(pass.duration_ns));
  compare(row, true);
  // Why it is this number and no other.
  if (row.note.empty())
    row.note = fmt::format("{}; whole passes are compared, start and end included",
                           stages_known ? fmt::format("{} blocks the timing of stages", key_of(profiler)) : "no stage is marked");
  return row;
}

}  // namespace

std::string profiler_words(PassKind profiler) { return (profiler == PassKind::kCollector ? "the " : "") + std::string(key_of(profiler)); }

PassTimes pass_times(PassKind profiler, const StagedTrace& staged, Ns duration_ns) {
  const StageTable& table = staged.table;
  std::vector<std::vector<Ns>> walls(table.stages().size());
  std::vector<std::uint64_t> counts(table.stages().size(), 0);
  for (const Window& window : staged.windows) {
    if (window.stage == kNone) continue;
    ++counts[window.stage];
    if (!window.warmup) walls[window.stage].push_back(window.wall_ns());
  }
  PassTimes pass{profiler, {}, duration_ns};
  for (std::size_t i = 0; i < walls.size(); ++i)
    if (!walls[i].empty()) pass.stages.push_back({table.stages()[i], summarise_times(walls[i]).median_ns, counts[i]});
  return pass;
}

Perturbation compare_passes(const std::vector<PassTimes>& passes) {
  Perturbation result;
  std::vector<PassKind> profilers;
  std::vector<std::string> stages;
  bool bare = false;
  for (const PassTimes& pass : passes) {
    result.order += (result.order.empty() ? "" : " ") + std::string(key_of(pass.profiler));
    bare = bare || !pass.profiled();
    if (pass.profiled()) add_once(profilers, pass.profiler);
    for (const PassStage& time : pass.stages) add_once(stages, time.stage);
  }
  if (!bare || profilers.empty()) {
    result.note = bare ? "no profiled pass to compare with" : "no unprofiled pass to compare with";
    return result;
  }
  for (const PassKind profiler : profilers) {
    const bool timed =
        std::any_of(passes.begin(), passes.end(), [&](const PassTimes& pass) { return pass.profiler == profiler && !pass.stages.empty(); });
    if (!timed) result.stages.push_back(compare_whole(passes, profiler, !stages.empty()));
    for (const std::string& stage : stages)
      if (timed) result.stages.push_back(compare_stage(passes, profiler, stage));
  }
  for (const StageSlowdown& row : result.stages)
    if (row.verdict == SlowdownVerdict::kOverTenPercent && row.stage != kWholeRun) result.notes.push_back(row.summary);
  return result;
}

}  // namespace nl::analysis
