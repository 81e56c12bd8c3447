#include <fmt/format.h>

#include <algorithm>

#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/output.h"
#include "cli/print_result.h"
#include "cli/run_flags.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "cli/workload_words.h"
#include "model/error.h"
#include "orchestrator/process/interrupts.h"
#include "runs/slurm/rank_task.h"
#include "runs/slurm/submit_job.h"

namespace nl::cli {
namespace {

namespace fs = std::filesystem;

struct SubmitFlags : RunFlags {
  int nodes = 1, ranks_per_node = 1;
  std::string partition, gpus_per_node, constraint, time, local, program, rank, stop_after = "60s", lost_after = "60s", poll = "2s";
  std::vector<std::string> sbatch, srun;
  bool no_requeue = false, wait = false, dry_run = false, json = false;
};

void add_words(std::vector<std::string>& words, const char* flag, const std::vector<std::string>& values) {
  for (const std::string& value : values)
    if (!value.empty()) words.insert(words.end(), {flag, value});
}

// The ranks would make repetitions and counter passes in step, or wait for each other: one traced pass is made unless the user says more.
std::vector<std::string> words_of_run(const SubmitFlags& flags) {
  std::vector<std::string> words = {"--config", flags.config, "--set", "perturbation.repeats=0", "--set", "capture.counters=off"};
  add_words(words, "--set", flags.sets);
  add_words(words, "--set", session_sets(flags, flags.model));
  add_words(words, "--model", {flags.backend.empty() ? flags.model : ""});
  add_words(words, "--rules", flags.rules);
  add_words(words, "--name", {flags.name});
  add_words(words, "--budget", {flags.budget});
  words.push_back("--");
  words.insert(words.end(), workload_given().begin(), workload_given().end());
  return words;
}

std::vector<std::string> words_of_merge(const SubmitFlags& flags) {
  std::vector<std::string> words = {"--config", flags.config};
  add_words(words, "--set", flags.sets);
  add_words(words, "--model", {flags.backend.empty() ? flags.model : ""});
  add_words(words, "--rules", flags.rules);
  add_words(words, "--name", {flags.name});
  add_words(words, "--ledger", {flags.ledger});
  return words;
}

runs::slurm::SubmitRequest request_of(const SubmitFlags& flags) {
  if (workload_given().empty())
    throw Error(ErrorKind::kUsage, "the program is missing", "submit", "nl-stage submit --nodes 4 --out /shared/job -- python train.py");
  if (flags.out.empty())
    throw Error(ErrorKind::kUsage, "the folder of the job is missing", "--out", "give a new folder on a file system that the nodes share");
  const orchestrator::Config config = orchestrator::load_config(config_request(flags));  // what is wrong is said here, not on the nodes
  runs::slurm::SubmitRequest request;
  request.out = fs::absolute(flags.out).lexically_normal();
  request.name = "nl-" + config.run.name;
  request.job = {words_of_run(flags),
                 words_of_merge(flags),
                 flags.nodes,
                 flags.ranks_per_node,
                 flags.local,
                 seconds_of(flags.stop_after, "--stop-after"),
                 std::max(1.0, seconds_of(flags.lost_after, "--lost-after"))};
  request.slurm = {.partition = flags.partition,
                   .gpus = {},
                   .constraint = flags.constraint,
                   .time = flags.time,
                   .sbatch_args = flags.sbatch,
                   .srun_args = flags.srun,
                   .program = flags.program};
  if (!flags.gpus_per_node.empty())
    request.slurm.sbatch_args.insert(request.slurm.sbatch_args.begin(), "--gpus-per-node=" + flags.gpus_per_node);
  request.requeue = !flags.no_requeue;
  return request;
}

nlohmann::ordered_json answer(const runs::slurm::SubmitRequest& request, const std::string& id) {
  return {{"job", id}, {"folder", request.out.string()}, {"nodes", request.job.nodes}, {"ranks", request.job.ranks()}};
}

// The status of the merge, which tells of the ranks, too.
int wait_for(const runs::slurm::SubmitRequest& request, const std::string& id, const SubmitFlags& flags) {
  const orchestrator::Interrupts interrupts;
  const runs::slurm::JobEnd end = runs::slurm::wait_for_job(request, id, std::max(0.1, seconds_of(flags.poll, "--poll")));
  if (const int signal = orchestrator::Interrupts::signal(); signal != 0) {
    write_err("job {} goes on; scancel {} ends it\n", id, id);
    return 128 + signal;
  }
  if (!end.status || end.bundle.empty())
    throw Error(
        end.status ? ErrorKind::kInput : ErrorKind::kWorkload,
        end.status ? "the ranks of the job could not be merged" : fmt::format("the job ended before its ranks were merged ({})", end.state),
        (request.out / "slurm" / "logs").string(),
        fmt::format("read the logs; nl-stage merge {} --partial-ranks merges what there is", request.out.string()));
  if (flags.json) {
    nlohmann::ordered_json json = answer(request, id);
    json["bundle"] = end.bundle.string();
    json["exit_status"] = *end.status;
    write_json(json);
  } else {
    write_path(end.bundle / "report.html");
    write_out("\n");
  }
  return *end.status;
}

int submit(const SubmitFlags& flags) {
  if (!flags.rank.empty()) return runs::slurm::run_rank(flags.rank);
  const runs::slurm::SubmitRequest request = request_of(flags);
  if (flags.dry_run) {
    write_text(runs::slurm::job_script(request));
    return 0;
  }
  const std::string id = runs::slurm::submit_job(request);
  if (flags.wait) {
    write_err("job {} of {} ranks on {} nodes\n", id, request.job.ranks(), request.job.nodes);
    return wait_for(request, id, flags);
  }
  if (flags.json) write_json(answer(request, id));
  else
    write_out("job {}: {} ranks on {} nodes; their bundle will be {}\n", id, request.job.ranks(), request.job.nodes,
              (request.out / "merged").string());
  return 0;
}

}  // namespace

void add_submit(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<SubmitFlags>();
  flags->config = "light";
  CLI::App* verb = app.add_subcommand("submit", "Capture a program of several ranks as a job of Slurm; leaves one bundle of all ranks");
  add_run_flags(*verb, *flags);
  const std::string group = "The job";
  verb->add_option("--nodes", flags->nodes, "how many")->check(between(1, 100'000))->capture_default_str()->group(group)->type_name("N");
  verb->add_option("--ranks-per-node", flags->ranks_per_node, "processes on each of them")
      ->check(between(1, 1'024))
      ->capture_default_str()
      ->group(group)
      ->type_name("N");
  verb->add_option("--partition", flags->partition, "as sbatch has it")->group(group)->type_name("NAME");
  verb->add_option("--gpus-per-node", flags->gpus_per_node, "as sbatch has it: 8, or h100:8")->group(group)->type_name("GPUS");
  verb->add_option("--constraint", flags->constraint, "as sbatch has it")->group(group)->type_name("FEATURE");
  verb->add_option("--time", flags->time, "of the job, as sbatch has it: 30, or 1:30:00")->group(group)->type_name("TIME");
  verb->add_option("--sbatch", flags->sbatch, "a word that is passed on to sbatch, such as --account=team; repeatable")
      ->allow_extra_args(false)
      ->group(group)
      ->type_name("WORD");
  verb->add_option("--srun", flags->srun, "a word that is passed on to srun, such as --container-image=IMAGE; repeatable")
      ->allow_extra_args(false)
      ->group(group)
      ->type_name("WORD");
  verb->add_option("--program", flags->program, "nl-stage on the nodes, or in the container; default: this one")
      ->group(group)
      ->type_name("FILE");
  verb->add_option("--local", flags->local,
                   "folder on the nodes' own disks for what is captured; default: $SLURM_TMPDIR, $TMPDIR or /tmp there")
      ->group(group)
      ->type_name("DIR");
  verb->add_option("--stop-after", flags->stop_after, "how long the other ranks may go on after one has failed")
      ->capture_default_str()
      ->group(group)
      ->type_name("TIME");
  verb->add_option("--lost-after", flags->lost_after, "a rank that gives no sign of life for so long is taken for lost")
      ->capture_default_str()
      ->group(group)
      ->type_name("TIME");
  verb->add_flag("--no-requeue", flags->no_requeue, "where a node is lost the other ranks go on without it; else Slurm begins the job anew")
      ->group(group);
  verb->add_flag("--wait", flags->wait, "wait until the ranks are merged; the status is that of merge")->group(group);
  verb->add_option("--poll", flags->poll, "with --wait: time between two looks")->capture_default_str()->group(group)->type_name("TIME");
  verb->add_option("--rank", flags->rank, "one rank, on a node")->group("");
  verb->add_flag("--dry-run", flags->dry_run, "print the script of the job; submit none");
  verb->add_flag("--json", flags->json, "print {job, folder, nodes, ranks}; with --wait also {bundle, exit_status}");
  verb->footer(
      "Each rank is run by nl-stage on its node, in one traced pass without counters, and its capture is read there; the last step of\n"
      "the job merges the ranks into the folder merged. RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are set as torchrun\n"
      "sets them, unless they are already. docs/slurm.md has the rest: lost nodes, containers, what is kept.\n"
      "Examples:\n"
      "  nl-stage submit --nodes 4 --out /shared/job7 -- python train.py\n"
      "  nl-stage submit --nodes 2 --ranks-per-node 8 --gpus-per-node 8 --partition gpu --time 30 --out /shared/job8 --wait -- python "
      "serve.py\n"
      "  nl-stage submit --nodes 2 --srun=--container-image=/images/torch.sqsh --program /opt/nl-stage --out /shared/job9 -- python "
      "train.py\n"
      "  nl-stage submit --nodes 4 --out /shared/job7 --dry-run -- python train.py");
  verb->callback([flags, &action] { action = [flags] { return submit(*flags); }; });
}

}  // namespace nl::cli
