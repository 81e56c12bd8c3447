#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string_view>
#include <utility>

#include "model/error.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/config/config.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/run.h"
#include "runs/ledger/bundles.h"
#include "runs/suite/pair_outputs.h"
#include "runs/suite/run_suite.h"
#include "runs/suite/sizes.h"

namespace nl::runs {
namespace fs = std::filesystem;
namespace {

enum class Half { kNone, kBaseline, kOptimised };

struct Affix {
  std::string_view word;
  Half half;
};
constexpr std::array<Affix, 5> kAffixes = {{{"baseline", Half::kBaseline},
                                            {"base", Half::kBaseline},
                                            {"optimized", Half::kOptimised},
                                            {"optimised", Half::kOptimised},
                                            {"opt", Half::kOptimised}}};

struct HalfName {
  Half half = Half::kNone;
  std::string stem;  // "attention" of attention_baseline; "" of baseline itself
};

bool is_separator(char c) { return c == '_' || c == '-' || c == '.'; }

// "attention_baseline", "baseline-attention", "baseline"
HalfName split_name(std::string_view name) {
  for (const Affix& affix : kAffixes) {
    const std::size_t size = affix.word.size();
    if (name == affix.word) return {affix.half, ""};
    if (name.size() < size + 2) continue;
    if (name.starts_with(affix.word) && is_separator(name[size])) return {affix.half, std::string(name.substr(size + 1))};
    if (name.ends_with(affix.word) && is_separator(name[name.size() - size - 1]))
      return {affix.half, std::string(name.substr(0, name.size() - size - 1))};
  }
  return {};
}

std::optional<std::size_t> baseline_of(const Suite& suite, std::size_t optimised, const std::vector<HalfName>& names) {
  for (std::size_t i = 0; i < suite.targets.size(); ++i) {
    const bool named = suite.targets[optimised].baseline == suite.targets[i].name;
    const bool found = suite.targets[optimised].baseline.empty() && names[optimised].half == Half::kOptimised &&
                       names[i].half == Half::kBaseline && names[i].stem == names[optimised].stem;
    if (i != optimised && (named || found)) return i;
  }
  return std::nullopt;
}

const char* runner_of(const Suite& suite, const SuiteTask& task) {
  if (!task.profiled) return "unprofiled";
  return suite.profile == SuiteProfile::kDeep ? "deep" : "light";
}

Config config_of(const Suite& suite, const SuiteTask& task, const SuiteTarget& target, const std::vector<std::string>& sets) {
  std::vector<std::string> all = {setting("workload.working_directory", target.directory), setting("nsys.timeout_s", suite.timeout_s)};
  if (!target.env.empty()) all.push_back(setting("workload.env", target.env));
  all.insert(all.end(), target.sets.begin(), target.sets.end());
  all.insert(all.end(), sets.begin(), sets.end());
  Config config =
      load_config({.runner_file = runner_of(suite, task), .sets = std::move(all), .name = target.name, .command = target.command});
  if (!task.profiled) config.ledger.part_of = kPartOfSuite;
  return config;
}

// With {size} replaced by the size of the work.
std::string sized(std::string text, std::int64_t size) {
  for (std::size_t at = 0; (at = text.find(kSizeGap, at)) != std::string::npos;) {
    const std::string number = std::to_string(size);
    text.replace(at, kSizeGap.size(), number);
    at += number.size();
  }
  return text;
}

// The target as this task runs it.
SuiteTarget target_of(const Suite& suite, const SuiteTask& task) {
  SuiteTarget target = suite.targets[task.target];
  const SizeRange* range = size_range_of(suite, task.target);
  const std::int64_t size = task.size > 0 || range == nullptr ? task.size : range->values.front();
  if (size == 0) return target;
  for (std::string& word : target.command) word = sized(std::move(word), size);
  for (auto& [name, value] : target.env) value = sized(std::move(value), size);
  return target;
}

// Files come into memory, caches are filled, kernels are compiled.
void warm_up(const Suite& suite, const SuiteTask& task, const SuiteTarget& target, const TaskRequest& request) {
  fs::create_directories(request.logs);
  for (int i = 1; i <= request.warmups && Interrupts::signal() == 0; ++i) {
    ProcessSpec spec;
    spec.argv = target.command;
    spec.env = target.env;
    spec.working_directory = target.directory;
    const fs::path log = request.logs / fmt::format("{:03}-{}-{}", task.number, target.name, i);
    spec.stdout_log = log.string() + ".stdout.log";
    spec.stderr_log = log.string() + ".stderr.log";
    spec.timeout_s = suite.timeout_s;
    spec.signal_group = true;
    spec.label = fmt::format("{}: warm-up {} of {}", target.name, i, request.warmups);
    const ProcessResult result = run_process(spec);
    if (result.interrupted) return;
    if (result.exit_status != 0)
      throw Error(ErrorKind::kWorkload, fmt::format("warm-up {} ended with status {}", i, result.exit_status), spec.stderr_log.string());
  }
}

// Of the pass that ran the workload for the bundle's sake; unprofiled runs have no other.
double seconds_of_run(const Run& run) {
  for (const PassRecord& pass : run.provenance.passes)
    if (pass.outcome == PassOutcome::kOk && (pass.kind == PassKind::kCollector || pass.kind == PassKind::kNsys))
      return static_cast<double>(pass.duration_ns) * 1e-9;
  return 0;
}

TaskRecord record_of(const SuiteTask& task, const Run& run, const fs::path& bundle) {
  TaskRecord record{task, TaskOutcome::kOk, run.run_id, bundle, seconds_of_run(run), {}, {}};
  for (const StageEntry& stage : run.stages)
    if (stage.wall.count > 0) record.stage_ms[stage.name] = stage.wall.median_ns * 1e-6;
  record.identity = identity_of(run);
  if (run.status == RunStatus::kInterrupted) record.outcome = TaskOutcome::kInterrupted;
  // A profile that lacks counters is still useful; a timed run that lacks anything is not.
  const bool failed = run.status == RunStatus::kFailed || (run.status != RunStatus::kComplete && !task.profiled) || record.seconds == 0;
  if (record.outcome == TaskOutcome::kOk && failed) record.outcome = TaskOutcome::kFailed;
  if (record.outcome != TaskOutcome::kOk && !run.problems.empty()) record.detail = what_failed(run);
  return record;
}

}  // namespace

TargetPairs find_pairs(const Suite& suite) {
  std::vector<HalfName> names;
  for (const SuiteTarget& target : suite.targets) names.push_back(split_name(target.name));
  TargetPairs result;
  std::vector<bool> paired(suite.targets.size());
  for (std::size_t i = 0; i < suite.targets.size(); ++i) {
    const auto baseline = baseline_of(suite, i, names);
    if (!baseline) continue;
    const bool by_name = suite.targets[i].baseline.empty() && !names[i].stem.empty();
    result.pairs.push_back({by_name ? names[i].stem : suite.targets[i].name, *baseline, i});
    paired[i] = paired[*baseline] = true;
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].half != Half::kNone && !paired[i]) result.orphans.push_back(i);
  return result;
}

namespace {

// Fisher and Yates; std::shuffle differs between standard libraries.
std::vector<std::size_t> drawn_order(std::size_t count, std::mt19937_64& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t left = count; left > 1; --left) std::swap(order[left - 1], order[random() % left]);
  return order;
}

}  // namespace

std::vector<SuiteTask> plan_tasks(const Suite& suite) {
  std::vector<SuiteTask> tasks;
  const std::size_t targets = suite.targets.size();
  const auto add = [&](std::size_t target, int repetition, bool profiled) {
    tasks.push_back({static_cast<int>(tasks.size()) + 1, target, repetition, profiled});
  };
  std::mt19937_64 random(static_cast<std::uint64_t>(suite.seed));
  for (int repetition = 1; repetition <= suite.iterations; ++repetition)
    for (const std::size_t target : drawn_order(targets, random)) add(target, repetition, false);
  for (std::size_t i = 0; suite.profile != SuiteProfile::kNone && i < targets; ++i) add(i, 1, true);
  return tasks;
}

std::string task_name(const Suite& suite, const SuiteTask& task) {
  const std::string& target = suite.targets[task.target].name;
  const std::string size = task.size > 0 ? fmt::format("-n{}", task.size) : "";
  if (task.profiled) return fmt::format("{}{}-{}", target, size, suite.profile == SuiteProfile::kDeep ? "deep" : "light");
  return fmt::format("{}{}-{}", target, size, task.repetition);
}

fs::path task_folder(const fs::path& out, const Suite& suite, const SuiteTask& task) {
  return out / "runs" / fmt::format("{:03}-{}", task.number, task_name(suite, task));
}

TaskRecord run_task(const Suite& suite, const SuiteTask& task, const TaskRequest& request) {
  TaskRecord record{task, TaskOutcome::kFailed, {}, {}, 0, {}, {}};
  try {
    fs::create_directories(request.bundle.parent_path());
    const SuiteTarget target = target_of(suite, task);
    const Config config = config_of(suite, task, target, request.sets);
    warm_up(suite, task, target, request);
    if (Interrupts::signal() == 0) {
      ProcessLauncher launcher;
      const auto began = fs::file_time_type::clock::now();
      const RunResult result =
          run_workload({.config = config, .out = request.bundle, .echo = Echo::kNothing, .record = record_run}, launcher);
      record = record_of(task, result.run, request.bundle);
      if (!task.profiled) keep_outputs(request.bundle, target.directory, output_files(suite, task.target), began);
    }
  } catch (const Error& error) {
    if (error.kind == ErrorKind::kConfig || error.kind == ErrorKind::kOutput) throw;
    record.detail = error.where.empty() ? error.message : error.message + ": " + error.where;
  }
  if (Interrupts::signal() != 0) record.outcome = TaskOutcome::kInterrupted;
  return record;
}

TaskRecord read_task(const SuiteTask& task, const fs::path& bundle) {
  try {
    const fs::path file = run_json_of(bundle);
    return record_of(task, read_run(read_run_text(file), file), bundle);
  } catch (const Error& error) {
    return {task, TaskOutcome::kFailed, {}, {}, 0, {}, error.message};
  }
}

}  // namespace nl::runs
