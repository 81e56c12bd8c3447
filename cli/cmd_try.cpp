#include <algorithm>

#include "cli/exit_status.h"
#include "cli/ledger_flags.h"
#include "cli/output.h"
#include "cli/print_result.h"
#include "cli/run_flags.h"
#include "cli/trial_flags.h"
#include "cli/verbs.h"
#include "cli/workload_words.h"
#include "exporters/report/compare/compare.h"
#include "model/comparison.h"
#include "model/error.h"
#include "orchestrator/bundle/bundle.h"

namespace nl::cli {
namespace {

using runs::TrialEnd, runs::TrialSide;

struct TryFlags : TrialFlags {
  std::string a, b, predicted, ledger;
  std::vector<std::string> a_env, b_env, a_sets, b_sets;
  std::optional<std::uint64_t> seed;
  bool exit_code = false;
};

// A command of its own, else the one at the end.
TrialSide side_of(const std::string& line, const std::vector<std::string>& env, const std::vector<std::string>& sets, const char* flag) {
  const std::vector<std::string> command = line.empty() ? workload_given() : shell_command(line);
  if (command.empty())
    throw Error(ErrorKind::kUsage, "there is no command for this side", flag,
                "give --a and --b, or one command at the end and what differs: --b-env, --b-set");
  return {command, {}, variables_of(env, "--a-env, --b-env"), sets};
}

int status_of(const runs::TrialResult& result) {
  if (result.interrupt_signal != 0) return 128 + result.interrupt_signal;
  return result.end == TrialEnd::kFailed ? exit_status_of(ErrorKind::kWorkload) : 0;
}

void print(const runs::TrialResult& result) {
  print_verdict(result.comparison);
  for (const std::string& sentence : exporters::comparison_sentences(result.comparison, runs::more_runs_for(result)))
    write_paragraph(sentence);
  for (const std::string& sentence : runs::predicted_sentences(result)) write_paragraph(sentence);
  print_outputs(result.outputs);
  if (!result.trouble.empty() && result.end != TrialEnd::kFailed) write_out("note: {} ({})\n", result.trouble, result.log.string());
  write_out("\n");
  write_path(result.folder / "compare.html");
  write_out("\n");
}

// Where the pair of prediction and outcome is recorded, or why it is not.
void print_record(const runs::TrialPrediction& predicted, bool json) {
  if (!predicted.record.location.empty() && !json)
    write_out("ledger: prediction and outcome are recorded ({}); nl-stage whatif --record lists them\n", predicted.record.location);
  if (const auto& failure = predicted.record.failure)
    write_err("note: prediction and outcome are not in the ledger: {} ({})\n", failure->message, failure->where);
}

void refuse_third_command(const TryFlags& flags) {
  if (!flags.a.empty() && !flags.b.empty() && !workload_given().empty())
    throw Error(ErrorKind::kUsage, "there is a third command", workload_given().front(),
                "give --a and --b alone, or one command at the end and what differs");
}

std::string fix_of(const runs::TrialResult& result) {
  const bool any = std::any_of(result.rounds.begin(), result.rounds.end(), [](const runs::TrialRound& round) { return round.number > 0; });
  return std::string("run the command alone until it works") + (any ? "; the rounds before are kept and compared" : "");
}

int try_sides(const TryFlags& flags) {
  refuse_third_command(flags);
  runs::TrialRequest request = trial_request(flags);
  request.a = side_of(flags.a, flags.a_env, flags.a_sets, "--a");
  request.b = side_of(flags.b, flags.b_env, flags.b_sets, "--b");
  request.seed = flags.seed;
  if (!flags.predicted.empty()) request.predicted = runs::asked_prediction(flags.predicted, flags.ledger);
  if (!flags.ledger.empty()) request.sets.push_back("ledger.path=" + flags.ledger);
  request.out = orchestrator::results_folder(flags.out, "try");
  orchestrator::ProcessLauncher launcher;
  const runs::TrialResult result = runs::run_trial(request, launcher);
  if (flags.json) write_data(runs::trial_json(result));
  else print(result);
  if (result.predicted) print_record(*result.predicted, flags.json);
  std::fflush(stdout);
  if (result.end == TrialEnd::kFailed) print_error({ErrorKind::kWorkload, result.trouble, result.log.string(), fix_of(result)});
  const int status = status_of(result);
  return status == 0 && flags.exit_code && any_regressed(result.comparison) ? kNotMetStatus : status;
}

}  // namespace

void add_try(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<TryFlags>();
  CLI::App* verb = app.add_subcommand("try", "Run two commands in turns until it is decided which is faster, and say why");
  verb->add_option("--a", flags->a, "side A, a line of a shell; default: the command at the end")->type_name("COMMAND");
  verb->add_option("--b", flags->b, "side B, likewise")->type_name("COMMAND");
  verb->add_option("--a-env", flags->a_env, "environment variable of side A; repeatable")->allow_extra_args(false)->type_name("NAME=VALUE");
  verb->add_option("--b-env", flags->b_env, "of side B")->allow_extra_args(false)->type_name("NAME=VALUE");
  verb->add_option("--a-set", flags->a_sets, "key of the configuration of side A; repeatable")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  verb->add_option("--b-set", flags->b_sets, "of side B")->allow_extra_args(false)->type_name("KEY=VALUE");
  add_trial_flags(*verb, *flags);
  verb->add_flag("--exit-code", flags->exit_code, "end with status 9 where a stage or a headline figure regressed");
  verb->add_option("--seed", flags->seed, "of the order of the rounds; default: by chance, and trial.json has it")->type_name("N");
  verb->add_option("--predicted", flags->predicted,
                   std::string("a prediction to check: a file that whatif --json printed, or a run with predictions: ") + kRunHelp)
      ->type_name("RUN");
  verb->add_option("--ledger", flags->ledger, kLedgerHelp)->type_name("PATH|URL");
  take_workload(*verb, "the command of a side that has none of its own: all from the first word that is no flag, or after --");
  verb->footer(
      "Both sides run unprofiled, in pairs whose order is drawn at random, until the verdict is decided, the rounds or the budget are used "
      "up; then each is\n"
      "profiled once for the cause. What they print is compared, too. Leaves compare.json, compare.md, compare.html and trial.json.\n"
      "With --predicted, prediction and outcome are shown side by side and recorded in the ledger; nl-stage whatif --record lists them.\n"
      "Examples:\n"
      "  nl-stage try --a \"python generate.py\" --b \"python generate.py --compile\"\n"
      "  nl-stage try --b-env CUDA_LAUNCH_BLOCKING=1 --budget 5m python generate.py\n"
      "  nl-stage try --a ./old --b ./new --output logits.npy --tolerance 1e-3 --out trial\n"
      "  nl-stage try --predicted whatif.json --a \"python generate.py\" --b \"python generate.py --graphs\"");
  verb->callback([flags, &action] { action = [flags] { return try_sides(*flags); }; });
}

}  // namespace nl::cli
