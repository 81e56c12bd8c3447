#include "cli/exit_status.h"
#include "cli/print_result.h"
#include "cli/run_flags.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "orchestrator/import.h"
#include "runs/ledger/bundles.h"
#include "runs/slurm/merge_ranks.h"

namespace nl::cli {
namespace {

struct MergeFlags {
  std::string out, name, config, model, ledger;
  std::vector<std::string> given, rules, sets;
  int attempt = -1;
  bool partial_ranks = false, json = false, quiet = false;
};

orchestrator::ImportRequest import_request(const MergeFlags& flags, runs::LaterRecord& later) {
  orchestrator::ConfigRequest config{
      .runner_file = flags.config, .model_file = flags.model, .sets = flags.sets, .rules = flags.rules, .name = flags.name};
  if (!flags.ledger.empty()) config.sets.push_back("ledger.path=" + flags.ledger);
  orchestrator::ImportRequest request;
  request.record = later.keep();
  request.config = orchestrator::load_config(config);
  request.out = flags.out;
  request.partial_ranks = flags.partial_ranks;
  return request;
}

// A job that waits for its merge must hear of it also where it failed.
int merge_job(const MergeFlags& flags) {
  runs::LaterRecord later;
  runs::slurm::MergeRequest request{std::filesystem::absolute(flags.given[0]).lexically_normal(), {}, import_request(flags, later)};
  if (flags.attempt >= 0) request.attempt = flags.attempt;
  orchestrator::ProcessLauncher launcher;
  try {
    orchestrator::RunResult result = runs::slurm::merge_ranks(request, launcher);
    const std::filesystem::path bundle = result.bundle;
    const int status = print_result(std::move(result), flags.json, [&](const Run& run) { return later.record(run); });
    if (flags.quiet) runs::slurm::write_merged(request.job, {status, bundle});
    return status;
  } catch (const Error& error) {
    if (flags.quiet) runs::slurm::write_merged(request.job, {exit_status_of(error.kind), {}});
    throw;
  }
}

int merge(const MergeFlags& flags) {
  if (flags.given.size() == 1 && runs::slurm::is_job_folder(flags.given[0])) return merge_job(flags);
  if (flags.attempt >= 0)
    throw Error(ErrorKind::kUsage, "only a job has attempts", "--attempt", "give the folder that nl-stage submit made");
  runs::LaterRecord later;
  orchestrator::ImportRequest request = import_request(flags, later);
  for (const std::string& given : flags.given) orchestrator::add_input(given, request);
  orchestrator::ProcessLauncher launcher;
  return print_result(orchestrator::import_captures(request, launcher), flags.json, [&](const Run& run) { return later.record(run); });
}

}  // namespace

void add_merge(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<MergeFlags>();
  CLI::App* verb = app.add_subcommand("merge", "Make one bundle of the ranks of a job, or of bundles that ranks left elsewhere");
  verb->add_option("given", flags->given, "the folder that submit made; or the bundles or captures of the ranks")
      ->required()
      ->type_name("JOB|BUNDLE");
  verb->add_option("--attempt", flags->attempt,
                   "of a job that Slurm put back into the queue; default: the last one that is whole, else the one with the most ranks")
      ->check(between(0, 1'000'000))
      ->type_name("N");
  verb->add_flag("--partial-ranks", flags->partial_ranks, "go on where some ranks of the run have left nothing");
  verb->add_option("--out", flags->out, "folder of the bundle, new or empty; default: merged in the folder of the job, or as for import")
      ->type_name("DIR");
  verb->add_option("--name", flags->name, "name of the bundle");
  verb->add_option("-c,--config", flags->config, "runner file: its stages, top_n_kernels and artifacts are used")->type_name("RUNNER");
  verb->add_option("--model", flags->model, "model file, name of a shipped one (llama-3.1-8b, generic …), or a Hugging Face config.json")
      ->type_name("MODEL");
  verb->add_option("--rules", flags->rules, "file with more rules; repeatable")->allow_extra_args(false)->type_name("FILE");
  verb->add_option("--set", flags->sets, "set one key; repeatable")->allow_extra_args(false)->type_name("KEY=VALUE");
  verb->add_option("--ledger", flags->ledger, kLedgerHelp)->type_name("PATH|URL");
  verb->add_flag("--last-step", flags->quiet, "as the last step of a job")->group("");
  verb->add_flag("--json", flags->json,
                 "print the answer: {run_id, bundle, status, exit_status, ledger, summary, unit, budget, actions, findings, predictions, "
                 "problems, files …}");
  verb->footer(
      "The bundle says how each rank ended: by itself, with an error, after its time, or never. The status is 5 where one failed, 7\n"
      "where one was ended after its time, and 6 where one left nothing. docs/slurm.md describes jobs, docs/ranks.md what is made of "
      "ranks.\n"
      "Examples:\n"
      "  nl-stage merge /shared/job7\n"
      "  nl-stage merge /shared/job7 --attempt 0 --partial-ranks --out attempt0\n"
      "  nl-stage merge rank0/ rank1/ rank2/ rank3/ --out bundle");
  verb->callback([flags, &action] { action = [flags] { return merge(*flags); }; });
}

}  // namespace nl::cli
