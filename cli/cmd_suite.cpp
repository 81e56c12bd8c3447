#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/print_result.h"
#include "cli/queue_flags.h"
#include "cli/run_flags.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "orchestrator/config/units.h"
#include "orchestrator/doctor/checks_timing.h"
#include "runs/slurm/run_on_slurm.h"
#include "runs/suite/run_suite.h"

namespace nl::cli {
namespace {

using runs::PairVerdict, runs::SuiteResult;

enum class Engine { kLocal, kSlurm };
const std::map<std::string, Engine> kEngines = {{"local", Engine::kLocal}, {"slurm", Engine::kSlurm}};

struct SuiteFlags {
  QueueFlags queue;
  std::string file, out, ledger, expectations, poll = "2s";
  Engine engine = Engine::kLocal;
  int task = 0;
  std::vector<std::string> waived, sets, targets;
  bool json = false, resume = false, update_expectations = false;
};

int status_of(const SuiteResult& result) {
  if (result.interrupt_signal != 0) return 128 + result.interrupt_signal;
  if (result.blocked()) return exit_status_of(ErrorKind::kTool);
  switch (suite_verdict(result)) {
    case PairVerdict::kMet: return below_expectations(result) ? kNotMetStatus : 0;
    case PairVerdict::kFailed: return exit_status_of(ErrorKind::kWorkload);
    case PairVerdict::kMissed:
    case PairVerdict::kRegressed:
    case PairVerdict::kUndecided: return kNotMetStatus;
  }
  return 0;
}

void print_blocked(const SuiteResult& result) {
  for (const auto& check : result.checks)
    if (check.level == orchestrator::CheckLevel::kBlocked) print_error({check.kind, check.finding, check.subject, check.fix});
}

std::vector<std::string> suite_sets(const SuiteFlags& flags) {
  std::vector<std::string> sets = flags.sets;
  if (!flags.ledger.empty()) sets.push_back("ledger.path=" + flags.ledger);
  return sets;
}

runs::SuiteRequest suite_request(const SuiteFlags& flags) {
  runs::SuiteRequest request{runs::chosen_targets(runs::read_suite(flags.file), flags.targets), flags.out, suite_sets(flags)};
  request.resume = flags.resume;
  request.retry_failed = flags.queue.retry_failed;
  request.update_expectations = flags.update_expectations;
  if (!flags.expectations.empty()) request.suite.expectations = std::filesystem::absolute(flags.expectations);
  if (flags.update_expectations && request.suite.expectations.empty())
    throw Error(ErrorKind::kUsage, "which file of expectations is to be updated?", "--update-expectations",
                "give --expectations FILE.yaml, or expectations: in the suite");
  request.suite.waived.insert(request.suite.waived.end(), flags.waived.begin(), flags.waived.end());
  return request;
}

SuiteResult run_on_cluster(const SuiteFlags& flags) {
  const auto poll_s = orchestrator::seconds_in(flags.poll);
  if (!poll_s || *poll_s <= 0) throw Error(ErrorKind::kUsage, "'" + flags.poll + "' is no time", "--poll", "write 2s or 0.5s");
  return runs::slurm::run_on_slurm({.suite = suite_request(flags),
                                    .poll_s = *poll_s,
                                    .settle_s = 5 * *poll_s,
                                    .collect = runs::slurm::ledger_collector(suite_sets(flags))});
}

Colour colour_of(const SuiteResult& result) {
  if (result.blocked()) return Colour::kRed;
  switch (suite_verdict(result)) {
    case PairVerdict::kMet: return below_expectations(result) ? Colour::kRed : Colour::kGreen;
    case PairVerdict::kMissed:
    case PairVerdict::kUndecided: return Colour::kYellow;
    case PairVerdict::kRegressed:
    case PairVerdict::kFailed: return Colour::kRed;
  }
  return Colour::kNone;
}

void print_on_terminal(const SuiteResult& result) {
  write_out("suite {}: ", result.suite.name);
  write_text(suite_verdict_name(result), stdout, colour_of(result));
  write_out("\n\n{}\n", runs::suite_text(result, line_width()));
  print_checks(result.checks);
}

void print(const SuiteResult& result, bool json) {
  if (json) return write_data(runs::suite_json(result));
  if (is_terminal(stdout)) print_on_terminal(result);
  else write_text(runs::suite_markdown(result));
  write_out("\n{}\n", result.out.string());
}

int run_suite_verb(const SuiteFlags& flags) {
  if (flags.queue.wanted()) return queue_verb(flags.queue, flags.json);
  if (flags.file.empty())
    throw Error(ErrorKind::kUsage, "there is nothing to do", "suite", "give a suite FILE.yaml, --enqueue COMMAND or --run-queue");
  if (flags.task > 0) return runs::slurm::run_node_task(suite_request(flags), flags.task) ? 0 : exit_status_of(ErrorKind::kInterrupted);
  const SuiteResult result = flags.engine == Engine::kSlurm ? run_on_cluster(flags) : runs::run_suite(suite_request(flags));
  print(result, flags.json);
  std::fflush(stdout);
  print_blocked(result);
  return status_of(result);
}

}  // namespace

void add_suite(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<SuiteFlags>();
  CLI::App* verb = app.add_subcommand("suite", "Run benchmarks one at a time: pairs with their speed-ups, or a queue of commands");
  verb->add_option("file", flags->file, "the suite: targets, iterations, threshold")->type_name("FILE.yaml");
  verb->add_option("--out", flags->out,
                   "folder of the results, new or empty unless --resume is given; default: a new one in artifacts/suites")
      ->type_name("DIR");
  verb->add_option("-t,--target", flags->targets, "only this target or pair, * stands for any characters; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME");
  verb->add_flag("--resume", flags->resume, "go on with the suite in --out: runs that ended well are kept where their target is unchanged");
  verb->add_option("--retry-failed", flags->queue.retry_failed,
                   "run what failed again, at most so often: runs of the suite, or commands of the queue")
      ->check(between(0, 100))
      ->type_name("N");
  verb->add_option("--expectations", flags->expectations, "expected speed-ups of the pairs, by machine; a regression ends with status 9")
      ->type_name("FILE.yaml");
  verb->add_flag("--update-expectations", flags->update_expectations,
                 "write the speed-ups that are new or outside the tolerance into that file");
  verb->add_option("--waive", flags->waived, "time although this check of the environment fails; repeatable")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(orchestrator::timing_check_names()))
      ->type_name("CHECK");
  verb->add_option("--set", flags->sets, "set one key for all targets; repeatable")->allow_extra_args(false)->type_name("KEY=VALUE");
  verb->add_option("--ledger", flags->ledger, kLedgerHelp)->type_name("PATH|URL");
  verb->add_option("--engine", flags->engine, "where it runs: local, or slurm, a job array of the cluster")
      ->transform(CLI::CheckedTransformer(kEngines).description("{local,slurm}"))
      ->type_name("ENGINE");
  verb->add_option("--poll", flags->poll, "with --engine slurm: time between two looks at its tasks")
      ->capture_default_str()
      ->type_name("TIME");
  verb->add_option("--task", flags->task, "one task, on a node")->group("");
  verb->add_flag("--json", flags->json, "print suite.json on stdout");
  add_queue_flags(*verb, flags->queue);
  verb->footer(
      "A suite times its targets unprofiled and in turn, and compares pairs such as x_baseline and x_optimized. The status is\n"
      "9 where a speed-up misses the threshold, is not decided, or is below what --expectations has.\n"
      "One suite or queue at a time runs on a machine. A queue begins each command when the GPU is idle, repeats one that had\n"
      "to share the GPU, and ends one that stalls. docs/suite.md describes both.\n"
      "Examples:\n"
      "  nl-stage suite attention.yaml\n"
      "  nl-stage suite attention.yaml --waive clocks --json --out results > suite.json\n"
      "  nl-stage suite attention.yaml --target 'attention*' --retry-failed 2 --out results\n"
      "  nl-stage suite attention.yaml --resume --out results\n"
      "  nl-stage suite attention.yaml --expectations speedups.yaml --update-expectations\n"
      "  nl-stage suite attention.yaml --engine slurm --out /shared/results\n"
      "  nl-stage suite --enqueue 'python bench.py --size 4096'\n"
      "  nl-stage suite --enqueue-file sweep.sh --run-queue\n"
      "  nl-stage suite --run-queue --retry-failed 2\n"
      "  nl-stage suite --queue-status --json");
  verb->callback([flags, &action] { action = [flags] { return run_suite_verb(*flags); }; });
}

}  // namespace nl::cli
