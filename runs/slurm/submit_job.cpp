#include "runs/slurm/submit_job.h"

#include <fmt/format.h>
#include <poll.h>

#include <chrono>
#include <string_view>

#include "model/error.h"
#include "model/shell.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"
#include "runs/slurm/merge_ranks.h"
#include "runs/slurm/slurm.h"

namespace nl::runs::slurm {
namespace fs = std::filesystem;
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double kSettleSeconds = 15;  // for what the job wrote to be seen here: shared file systems are late

// Rank 0 runs on the node of the script. Jobs of one machine must not meet at one port.
constexpr std::string_view kMeeting =
    "export MASTER_ADDR=\"${MASTER_ADDR:-$(hostname)}\" MASTER_PORT=\"${MASTER_PORT:-$((20000 + SLURM_JOB_ID % 20000))}\"\n";

std::vector<std::string> srun(const SubmitRequest& request, std::vector<std::string> own) {
  std::vector<std::string> words = {"srun"};
  words.insert(words.end(), own.begin(), own.end());
  words.insert(words.end(), request.slurm.srun_args.begin(), request.slurm.srun_args.end());
  words.push_back(request.slurm.program.empty() ? own_program() : request.slurm.program);
  return words;
}

std::string ranks_line(const SubmitRequest& request) {
  // Each rank says how it ended, and ends by itself where another one failed.
  std::vector<std::string> own = {"--kill-on-bad-exit=0", "--wait=0"};
  if (!request.requeue) own.push_back("--no-kill");
  std::vector<std::string> words = srun(request, own);
  words.insert(words.end(), {"submit", "--rank", request.out.string()});
  return shell_quoted(words);
}

// In the container, too, where the ranks run in one.
std::string merge_line(const SubmitRequest& request) {
  std::vector<std::string> words = srun(request, {"--nodes=1", "--ntasks=1", "--overlap"});
  if (request.slurm.srun_args.empty()) words.erase(words.begin(), words.end() - 1);
  words.insert(words.end(), {"merge", request.out.string(), "--partial-ranks", "--last-step"});
  words.insert(words.end(), request.job.merge.begin(), request.job.merge.end());
  return shell_quoted(words);
}

void make_folder(const SubmitRequest& request) {
  std::error_code failed;
  if (fs::exists(request.out, failed) && !fs::is_empty(request.out, failed))
    throw Error(ErrorKind::kOutput, "the folder of the job is not empty", request.out.string(), "give a new one with --out");
  fs::create_directories(request.out / "slurm" / "logs", failed);
  if (failed) throw Error(ErrorKind::kOutput, "the folder of the job cannot be made: " + failed.message(), request.out.string());
  orchestrator::make_private(request.out);  // captures may hold the environment of the program
}

bool ended(const std::string& state) {
  for (const char* word : {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "REQUEUED", "SUSPENDED", "STOPPED", "RESIZING", "SIGNALING"})
    if (state == word) return false;
  return true;
}

}  // namespace

std::string job_script(const SubmitRequest& request) {
  return fmt::format(
      "#!/bin/sh\n# Written by nl-stage submit. Each rank is captured and read on its node; then all of them become one bundle.\n{}{}\n"
      "exec {}\n",
      kMeeting, ranks_line(request), merge_line(request));
}

std::string submit_job(const SubmitRequest& request) {
  make_folder(request);
  write_job(request.out, request.job);
  const fs::path script = request.out / "slurm" / "job.sh";
  orchestrator::write_file_whole(script, job_script(request));
  BatchJob job{request.name, script, request.out / "slurm" / "logs" / "%j.log", request.slurm};
  job.nodes = request.job.nodes;
  job.tasks_per_node = request.job.ranks_per_node;
  job.requeue = request.requeue;
  if (!request.requeue) job.options.sbatch_args.insert(job.options.sbatch_args.begin(), "--no-kill");
  return submit(job);
}

JobEnd wait_for_job(const SubmitRequest& request, const std::string& id, double poll_s) {
  const orchestrator::Activity waiting(fmt::format("job {} of Slurm", id));
  std::optional<SteadyClock::time_point> ended_since;
  JobEnd end;
  while (orchestrator::Interrupts::signal() == 0) {
    if (const auto merged = read_merged(request.out)) {
      end.status = merged->status;
      end.bundle = merged->bundle;
      return end;
    }
    if (const auto state = state_of_job(request.name, id)) {
      end.state = *state;
      if (!ended(*state)) ended_since.reset();
      else if (!ended_since) ended_since = SteadyClock::now();
    }
    if (ended_since && std::chrono::duration<double>(SteadyClock::now() - *ended_since).count() >= std::max(kSettleSeconds, 5 * poll_s))
      return end;
    pollfd wake = {orchestrator::Interrupts::wake_fd(), POLLIN, 0};
    poll(&wake, 1, static_cast<int>(1000 * poll_s));
    orchestrator::Interrupts::drain();
  }
  return end;
}

}  // namespace nl::runs::slurm
