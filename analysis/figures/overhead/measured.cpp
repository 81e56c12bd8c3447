#include "analysis/figures/overhead/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/figures/energy/energy.h"
#include "analysis/figures/overhead/launch_steps.h"
#include "analysis/figures/overhead/sampled_steps.h"
#include "analysis/figures/stages/stage_entries.h"
#include "analysis/staging/traced_steps.h"
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

// A 95 % interval of more than 100 percentage points is too wide to be useful.
constexpr double kWidestRange = 1.0;

// Rounded first, so that nothing reads "-0.0 %".
std::string percent(double ratio) { return fmt::format("{:.1f} %", std::round(1000 * ratio) / 10 + 0.0); }

std::string change_words(const StageSlowdown& row) {
  const double change = *row.slowdown;
  return fmt::format("{} ran {} {} under {}", row.stage, percent(std::abs(change)), change < 0 ? "faster" : "slower",
                     profiler_words(row.profiler));
}

void judge(StageSlowdown& row, double limit) {
  if (!row.low || !row.high) {
    row.verdict = SlowdownVerdict::kUndecidable;
    row.summary = change_words(row) + "; too few passes for a range";
    return;
  }
  const bool over = *row.low > limit, under = *row.high < limit;
  row.verdict = over ? SlowdownVerdict::kOverLimit : under ? SlowdownVerdict::kUnderLimit : SlowdownVerdict::kUndecidable;
  if (!over && !under && *row.high - *row.low > kWidestRange) {
    row.summary = fmt::format("{} under {}: the passes vary too much to measure a slowdown", row.stage, profiler_words(row.profiler));
    return;
  }
  const std::string span = fmt::format("95 %: {} to {}", percent(*row.low), percent(*row.high));
  if (*row.low <= 0 && *row.high >= 0)
    row.summary = fmt::format("{} under {}: no measurable slowdown ({})", row.stage, profiler_words(row.profiler), span);
  else row.summary = fmt::format("{} ({})", change_words(row), span);
  if (!over && !under) row.summary += fmt::format("; more than {} is neither shown nor excluded", limit_text(limit));
}

bool all_positive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

// Times are compared by their ratios, so by their logarithms: the geometric mean over the passes, and an
// interval that is symmetric in ratios. A row that has a note already cannot be.
void compare(StageSlowdown& row, bool single_will_do, const OverheadRule& rule) {
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
  auto interval = difference_interval(bare, profiled, rule.confidence());
  if (!interval && single_will_do && profiled.size() == 1) interval = difference_95(bare, profiled[0]);
  if (interval) {
    row.low = std::exp(interval->low) - 1;
    row.high = std::exp(interval->high) - 1;
  }
  judge(row, rule.limit);
}

StageSlowdown compare_stage(const std::vector<PassTimes>& passes, PassKind profiler, const std::string& stage, const OverheadRule& rule) {
  StageSlowdown row;
  row.profiler = profiler;
  row.stage = stage;
  std::uint64_t least = UINT64_MAX, most = 0;  // windows of a pass
  for (const PassTimes& pass : passes) {
    if (pass.profiled() && pass.profiler != profiler) continue;
    for (const PassStage& time : pass.stages) {
      if (time.stage != stage) continue;
      (pass.profiled() ? row.profiled_ns : row.bare_ns).push_back(time.median_ns);
      least = std::min(least, time.windows);
      most = std::max(most, time.windows);
    }
  }
  const bool same_work = static_cast<double>(most) <= kSameWork * static_cast<double>(least);
  if (!row.bare_ns.empty() && !row.profiled_ns.empty() && !same_work)
    row.note = fmt::format("the passes differ in work: {} to {} windows", least, most);
  compare(row, false, rule);
  return row;
}

StageSlowdown compare_whole(const std::vector<PassTimes>& passes, PassKind profiler, bool stages_known, const OverheadRule& rule) {
  StageSlowdown row;
  row.profiler = profiler;
  row.stage = kWholeRun;
  for (const PassTimes& pass : passes)
    if (!pass.profiled() || pass.profiler == profiler)
      (pass.profiled() ? row.profiled_ns : row.bare_ns).push_back(static_cast<double>(pass.duration_ns));
  compare(row, true, rule);
  // Why it is this number and no other.
  if (row.note.empty())
    row.note = fmt::format("{}; whole passes are compared, start and end included",
                           stages_known ? fmt::format("{} blocks the timing of stages", key_of(profiler)) : "no stage is marked");
  return row;
}

// Passes beside the capture. Where nothing but launches was recorded, the stages are those of the trace.
std::vector<PassTimes> with_stages(const std::vector<PassTimes>& passes, const StagedTrace& staged, std::vector<std::string>& notes) {
  std::vector<PassTimes> out;
  std::size_t by_launches = 0;
  for (const PassTimes& pass : passes) {
    if (pass.launches.empty()) {
      out.push_back(pass);
      continue;
    }
    LaunchSteps found = steps_by_launches(staged, pass.launches);
    by_launches += !found.stages.empty();
    if (!found.trouble.empty()) add_once(notes, "an unprofiled pass tells no time of a step: " + found.trouble);
    out.push_back({pass.profiler, std::move(found.stages), pass.duration_ns});
  }
  if (by_launches > 0)
    notes.push_back(
        fmt::format("no range marks the steps: their unprofiled times are of {} pass{} that recorded when each launch was made and "
                    "nothing else",
                    by_launches, by_launches == 1 ? "" : "es"));
  return out;
}

Ns duration_of(const Evidence& evidence, PassKind kind) {
  Ns duration_ns = 0;
  for (const PassRecord& record : evidence.passes)
    if (record.kind == kind && record.outcome == PassOutcome::kOk) duration_ns = record.duration_ns;
  return duration_ns;
}

bool ran_graph(const Trace& trace, std::int32_t device) {
  return std::any_of(trace.graph_runs.begin(), trace.graph_runs.end(),
                     [&](const GraphRun& run) { return run.queue < trace.queues.size() && trace.queues[run.queue].device == device; });
}

// The meters' numbers of the GPUs that ran kernels, or graphs of them; all where that is not known.
std::set<std::int32_t> used_devices(const Trace& trace, const std::optional<std::vector<KernelEntry>>& kernels,
                                    const std::vector<std::string>& uuids) {
  std::set<std::int32_t> used;
  if (!kernels) return used;
  for (const Device& device : trace.devices) {
    const bool busy =
        std::any_of(kernels->begin(), kernels->end(), [&](const KernelEntry& kernel) { return kernel.device == device.id; }) ||
        ran_graph(trace, device.id);
    // NVML: "GPU-03332c53-ff42-…", nsys: the same without its beginning.
    for (std::size_t i = 0; busy && !device.uuid.empty() && i < uuids.size(); ++i)
      if (uuids[i].ends_with(device.uuid)) used.insert(static_cast<std::int32_t>(i));
  }
  return used;
}

void keep_used(SampledPass& pass, const std::set<std::int32_t>& used) {
  if (!used.empty()) std::erase_if(pass.samples, [&](const PowerSample& sample) { return !used.contains(sample.device); });
}

void add_tokens(SampledPass& pass, const std::vector<StageEntry>& stages) {
  for (StageWindows& stage : pass.stages)
    for (const StageEntry& entry : stages)
      if (entry.name == stage.stage) stage.tokens_per_window = entry.tokens_per_window;
}

// Where only some of the steps were traced: of all.
PassTimes times_of_all_steps(PassKind profiler, const Trace& trace, Ns duration_ns) {
  PassTimes pass{profiler, {}, duration_ns};
  std::map<StringId, std::pair<std::vector<Ns>, std::uint64_t>> stages;
  for (const SampledWindow& window : trace.duty->windows) {
    auto& [walls, count] = stages[window.stage];
    ++count;
    if (!window.warmup) walls.push_back(window.wall_ns);
  }
  for (auto& [stage, times] : stages)
    if (!times.first.empty()) pass.stages.push_back({trace.strings[stage], summarise_times(times.first).median_ns, times.second});
  return pass;
}

// Where only some of the steps were traced: traced steps against untraced ones of the same process tell more than passes. What passes tell of
// these stages is of all steps then.
void put_turns_first(const Trace& trace, const OverheadRule& rule, Perturbation& result) {
  std::vector<StageSlowdown> turns = slowdown_by_turns(trace, rule);
  for (StageSlowdown& row : turns) {
    judge(row, rule.limit);
    if (row.verdict == SlowdownVerdict::kOverLimit) add_once(result.notes, row.summary);
    const auto passes = std::find_if(result.stages.begin(), result.stages.end(),
                                     [&](const StageSlowdown& each) { return each.stage == row.stage && each.profiler == row.profiler; });
    if (passes == result.stages.end()) continue;
    std::erase(result.notes, passes->summary);
    result.notes.push_back("all steps, traced or not, against unprofiled passes: " + passes->summary);
    result.stages.erase(passes);
  }
  result.stages.insert(result.stages.begin(), turns.begin(), turns.end());
}

}  // namespace

std::string profiler_words(PassKind profiler) { return (profiler == PassKind::kCollector ? "the " : "") + std::string(key_of(profiler)); }

PassTimes pass_times(PassKind profiler, const StagedTrace& staged, Ns duration_ns) {
  if (has_traced_steps(staged.trace)) return times_of_all_steps(profiler, staged.trace, duration_ns);
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

Perturbation compare_passes(const std::vector<PassTimes>& passes, const OverheadRule& rule) {
  Perturbation result;
  result.limit = rule.limit;
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
    if (!timed) result.stages.push_back(compare_whole(passes, profiler, !stages.empty(), rule));
    for (const std::string& stage : stages)
      if (timed) result.stages.push_back(compare_stage(passes, profiler, stage, rule));
  }
  for (const StageSlowdown& row : result.stages)
    if (row.verdict == SlowdownVerdict::kOverLimit && row.stage != kWholeRun) result.notes.push_back(row.summary);
  return result;
}

Perturbation measured_overhead(const Evidence& evidence, const StagedTrace& staged, const OverheadRule& rule) {
  const Repeats& repeats = evidence.repeats;
  std::vector<PassTimes> passes = repeats.before;
  const bool traced = evidence.tracer != Tracer::kCupti || evidence.trace.has_kernel_data;
  const bool compared =
      !passes.empty() || std::any_of(repeats.after.begin(), repeats.after.end(), [](const auto& pass) { return !pass.profiled(); });
  if (!compared || !traced) {
    Perturbation none;
    none.limit = rule.limit;
    none.note = !compared ? evidence.overhead_note : "overhead not measured: no GPU work was recorded";
    none.notes = repeats.notes;
    none.calibration = evidence.calibration;
    put_turns_first(evidence.trace, rule, none);
    if (!none.stages.empty()) none.note.clear();
    return none;
  }
  const PassKind tracer = tracing_pass(evidence.tracer);
  if (evidence.captured_any) passes.push_back(pass_times(tracer, staged, duration_of(evidence, tracer)));
  std::vector<std::string> notes;
  for (PassTimes& pass : with_stages(repeats.after, staged, notes)) passes.push_back(std::move(pass));
  if (const Ns ncu_ns = duration_of(evidence, PassKind::kNcu); ncu_ns > 0) passes.push_back({PassKind::kNcu, {}, ncu_ns});
  Perturbation result = compare_passes(passes, rule);
  result.decision = decision_of(result, repeats.end, rule);
  put_turns_first(evidence.trace, rule, result);
  result.notes.insert(result.notes.end(), notes.begin(), notes.end());
  result.notes.insert(result.notes.end(), repeats.notes.begin(), repeats.notes.end());
  result.calibration = evidence.calibration;
  return result;
}

Perturbation overhead_by_turns(const Trace& trace, const OverheadRule& rule) {
  Perturbation result;
  result.limit = rule.limit;
  put_turns_first(trace, rule, result);
  return result;
}

Perturbation overhead_so_far(const Repeats& repeats, PassTimes capture, const StagedTrace& staged, const OverheadRule& rule) {
  std::vector<PassTimes> passes = repeats.before;
  std::vector<std::string> notes;  // for the reports, which come later
  passes.push_back(std::move(capture));
  for (PassTimes& pass : with_stages(repeats.after, staged, notes)) passes.push_back(std::move(pass));
  Perturbation result = compare_passes(passes, rule);
  result.decision = decision_of(result, repeats.end, rule);
  return result;
}

std::vector<StageEntry> without_throttled(const Evidence& evidence, const StagedTrace& staged,
                                          const std::optional<std::vector<KernelEntry>>& kernels, std::vector<StageEntry> stages) {
  if (!evidence.meter_uuids || evidence.power.empty()) return stages;
  SampledPass traced{evidence.power, stage_windows(staged)};
  keep_used(traced, used_devices(evidence.trace, kernels, *evidence.meter_uuids));
  leave_out_throttled(traced, stages);
  return stages;
}

Energy measured_energy(const Evidence& evidence, const StagedTrace& staged, const std::optional<std::vector<KernelEntry>>& kernels,
                       const std::vector<StageEntry>& stages) {
  Energy energy;
  energy.note = evidence.power_note;
  if (!evidence.meter_uuids) return energy;
  std::vector<SampledPass> passes = evidence.repeats.unprofiled_power;
  std::string name(key_of(PassKind::kUnprofiled));
  // Unprofiled where there is such a pass: tracing costs energy too.
  if (passes.empty()) {
    name = key_of(tracing_pass(evidence.tracer));
    passes.push_back({evidence.power, stage_windows(staged)});
  }
  const auto used = used_devices(evidence.trace, kernels, *evidence.meter_uuids);
  for (SampledPass& pass : passes) {
    keep_used(pass, used);
    add_tokens(pass, stages);
  }
  energy = measure_energy(name, passes);
  if (used.empty() && evidence.meter_uuids->size() > 1 && energy.note.empty())
    energy.note = fmt::format("which GPUs the workload used is not known: the joules are those of all {}", evidence.meter_uuids->size());
  return energy;
}

}  // namespace nl::analysis
