#include "runs/trial/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <span>

#include "analysis/runs/compare/compare.h"
#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/process/interrupts.h"
#include "runs/compare/compare.h"
#include "runs/ledger/bundles.h"

namespace nl::runs {
namespace fs = std::filesystem;
namespace {

constexpr int kFirstLook = 5;                     // fewer runs a side decide nothing
constexpr double kProfiledTakes = 4;              // times an unprofiled run: it is traced, exported and analysed
constexpr const char* kWholeCommand = "command";  // the stage that stands for the whole process

Config config_of(const TrialRequest& request, const TrialSide& side, const std::string& runner, const std::string& name) {
  std::vector<std::string> sets = request.sets;
  if (!side.working_directory.empty()) sets.push_back(setting("workload.working_directory", side.working_directory));
  if (!side.env.empty()) sets.push_back(setting("workload.env", side.env));
  sets.insert(sets.end(), side.sets.begin(), side.sets.end());
  Config config =
      load_config({.runner_file = runner, .model_file = request.model, .sets = std::move(sets), .name = name, .command = side.command});
  config.ledger.part_of = request.part_of;
  return config;
}

Ns process_time(const Run& run) {
  for (const PassRecord& pass : run.provenance.passes)
    if (pass.outcome == PassOutcome::kOk && pass.kind == PassKind::kCollector) return pass.duration_ns;
  return 0;
}

// What marks nothing is timed as a whole, and the whole of what marks something is worth a line.
void add_whole_command(Run& run) {
  const Ns time_ns = process_time(run);
  if (time_ns <= 0) return;
  StageEntry& stage = run.stages.emplace_back();
  stage.name = kWholeCommand;
  const auto value = static_cast<double>(time_ns);
  stage.wall = {1, time_ns, value, value, time_ns, time_ns, time_ns, 0};
}

bool marks_stages(const Run& run) {
  return std::any_of(run.stages.begin(), run.stages.end(),
                     [](const StageEntry& stage) { return stage.name != kWholeCommand && stage.wall.count > 0; });
}

// What the command printed about its failure, else what nl-stage wrote of it.
fs::path log_of(const fs::path& bundle) {
  std::error_code ignored;
  for (const char* name : {"collector.stderr.log", "nsys.stderr.log", "collector.stdout.log"})
    if (const fs::path log = bundle / "logs" / name; fs::exists(log, ignored) && fs::file_size(log, ignored) > 0) return log;
  return fs::exists(bundle / "logs", ignored) ? bundle / "logs" : bundle / "run.json";
}

class Trial {
 public:
  Trial(const TrialRequest& request, Launcher& launcher) : request_(request), launcher_(launcher) {}

  TrialResult run() {
    result_.folder = fs::absolute(request_.out);
    result_.seed = seed_;
    result_.end = measure();
    drop_half_rounds();
    result_.comparison = analysis::compare(a_.runs, b_.runs, options(looks_.size()));
    if (result_.end != TrialEnd::kFailed && result_.end != TrialEnd::kInterrupted && !request_.profile.empty()) add_cause();
    result_.outputs = compare_outputs(a_.outputs, b_.outputs, {request_.tolerance});
    if (request_.predicted) check_prediction(*request_.predicted);
    result_.interrupt_signal = Interrupts::signal();
    return std::move(result_);
  }

 private:
  struct Side {
    const TrialSide& what;
    const char* letter;
    const char* title() const { return *letter == 'a' ? "A" : "B"; }
    std::vector<Run> runs = {};
    std::vector<RoundOutput> outputs = {};
  };

  TrialEnd measure() {
    for (int number = 1 - request_.warmup; number <= request_.rounds; ++number) {
      if (!fits_another_round()) return TrialEnd::kBudget;
      if (!run_round(number)) return Interrupts::signal() != 0 ? TrialEnd::kInterrupted : TrialEnd::kFailed;
      if (std::find(looks_.begin(), looks_.end(), number) != looks_.end() && decided()) return TrialEnd::kDecided;
    }
    return TrialEnd::kRounds;
  }

  bool run_round(int number) {
    const bool a_first = number > 0 ? a_first_[static_cast<std::size_t>(number - 1)] : number % 2 == 0;
    TrialRound round{std::max(number, 0), 0, 0, a_first};
    for (Side* side : {a_first ? &a_ : &b_, a_first ? &b_ : &a_}) {
      const double seconds = run_side(*side, number);
      if (seconds < 0) return false;
      (side == &a_ ? round.a_s : round.b_s) = seconds;
    }
    round_s_ = round.a_s + round.b_s;
    result_.rounds.push_back(round);
    say(round_text(round, request_.rounds));
    return true;
  }

  // A round that only one side ended does not count: the sides must have been measured equally often.
  void drop_half_rounds() {
    const std::size_t whole = std::min(a_.runs.size(), b_.runs.size());
    for (Side* side : {&a_, &b_}) {
      side->runs.resize(whole);
      side->outputs.resize(whole);
    }
  }

  void fail(const Side& side, const std::string& when, const std::string& why, const fs::path& bundle) {
    if (!result_.trouble.empty()) return;
    result_.trouble = fmt::format("side {} failed in {}: {}", side.title(), when, why);
    result_.log = log_of(bundle);
  }

  double run_side(Side& side, int number) {
    const int warmup = number + request_.warmup;  // the first is 1
    const std::string name = number > 0 ? fmt::format("{}-{:02}", side.letter, number) : fmt::format("{}-warmup-{}", side.letter, warmup);
    const fs::path bundle = result_.folder / "rounds" / name;
    fs::create_directories(bundle.parent_path());
    const auto began = fs::file_time_type::clock::now();
    RunResult result = run_workload(
        {.config = config_of(request_, side.what, "unprofiled", name), .out = bundle, .echo = Echo::kNothing, .record = record_run},
        launcher_);
    const Ns time_ns = process_time(result.run);
    const std::string when = number > 0 ? fmt::format("round {}", number) : fmt::format("warm-up {}", warmup);
    if (result.failure || time_ns <= 0) {
      fail(side, when, what_failed(result.run), bundle);
      return -1;
    }
    if (number > 0 && !side.runs.empty() && marks_stages(result.run) != marks_stages(side.runs.front())) {
      fail(side, when,
           marks_stages(result.run) ? "it marked stages, and in round 1 it did not" : "it marked no stage, and in round 1 it did", bundle);
      return -1;
    }
    if (number > 0) {
      keep_outputs(bundle, side.what.working_directory, request_.outputs, began);
      side.outputs.push_back(kept_output(bundle, request_.outputs));
      add_whole_command(result.run);
      side.runs.push_back(std::move(result.run));
    }
    return static_cast<double>(time_ns) * 1e-9;
  }

  bool decided() const { return analysis::compare(a_.runs, b_.runs, options(looks_.size())).verdict != CompareVerdict::kUndecidable; }

  analysis::CompareOptions options(std::size_t looks) const {
    analysis::CompareOptions options;
    options.minimum_effect = request_.minimum_effect;
    options.significance /= static_cast<double>(looks);
    options.force = options.other_commands = true;  // the sides are meant to differ
    options.whole_stage = kWholeCommand;
    return options;
  }

  // The profiled runs say where the difference is; how large it is, the unprofiled rounds know better.
  void add_cause() {
    const std::optional<Run> a = profile(a_), b = profile(b_);
    if (!a || !b) return;
    const Comparison cause = analysis::compare(std::span(&*a, 1), std::span(&*b, 1), options(1));
    result_.comparison = analysis::with_cause(std::move(result_.comparison), cause);
  }

  void check_prediction(const AskedPrediction& asked) {
    result_.predicted = TrialPrediction{asked};
    if (result_.end == TrialEnd::kFailed || result_.end == TrialEnd::kInterrupted || a_.runs.empty()) return;
    TrialPrediction& checked = *result_.predicted;
    checked.pair = pair_of(asked, result_.comparison, a_.runs.front());
    if (checked.pair) checked.record = record_pair(config_of(request_, a_.what, "unprofiled", "").ledger, *checked.pair);
  }

  std::optional<Run> profile(const Side& side) {
    if (Interrupts::signal() != 0) return std::nullopt;
    say(fmt::format("profiling {} once", side.title()));
    const fs::path bundle = result_.folder / "profile" / side.letter;
    fs::create_directories(bundle.parent_path());
    RunResult result = run_workload({.config = config_of(request_, side.what, request_.profile, std::string("profile-") + side.letter),
                                     .out = bundle,
                                     .echo = Echo::kNothing,
                                     .record = record_run},
                                    launcher_);
    if (result.run.status == RunStatus::kFailed) fail(side, "its profiled run", what_failed(result.run), bundle);
    return result.run.status == RunStatus::kFailed ? std::nullopt : std::optional(std::move(result.run));
  }

  bool fits_another_round() const {
    if (request_.budget_s <= 0 || round_s_ <= 0) return true;
    const double spent_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    const double profiles_s = request_.profile.empty() ? 0 : kProfiledTakes * round_s_;
    return spent_s + round_s_ + profiles_s <= request_.budget_s;
  }

  void say(const std::string& line) const {
    if (request_.say) request_.say(line);
  }

  const TrialRequest& request_;
  Launcher& launcher_;
  TrialResult result_;
  Side a_{request_.a, "a"}, b_{request_.b, "b"};
  const std::vector<int> looks_ = looks_of(request_.rounds);
  const std::uint64_t seed_ = request_.seed ? *request_.seed : random_bits();
  const std::vector<bool> a_first_ = order_of_rounds(request_.rounds, seed_);
  double round_s_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

std::vector<int> looks_of(int rounds) {
  std::vector<int> looks;
  for (int look = kFirstLook; look < rounds; look = (look * 3 + 1) / 2) looks.push_back(look);
  looks.push_back(rounds);
  return looks;
}

std::vector<bool> order_of_rounds(int rounds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<bool> a_first;
  for (int round = 0; round < rounds; ++round) a_first.push_back((random() >> 63) != 0);
  return a_first;
}

TrialResult run_trial(const TrialRequest& request, Launcher& launcher) {
  make_results_folder(request.out);
  const Interrupts interrupts;
  TrialResult result = Trial(request, launcher).run();
  write_comparison(result.comparison, result.folder, {predicted_sentences(result), more_runs_for(result)});
  write_file_whole(result.folder / "trial.json", trial_json(result));
  return result;
}

}  // namespace nl::runs
