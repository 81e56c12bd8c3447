#include "cli/queue_flags.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/output.h"
#include "cli/value_checks.h"
#include "model/error_code.h"
#include "model/visible_text.h"
#include "orchestrator/config/config.h"
#include "orchestrator/config/units.h"
#include "orchestrator/machine/tools.h"
#include "orchestrator/machine/tools_host.h"
#include "runs/queue/failures.h"
#include "runs/queue/machine_lock.h"
#include "runs/queue/run_queue.h"

namespace nl::cli {
namespace {

using nlohmann::ordered_json;
using runs::CommandQueue, runs::QueueEntry, runs::QueueResult;

double time_of(const std::string& text, const char* flag) {
  if (const auto seconds = orchestrator::seconds_in(text)) return *seconds;
  throw Error(ErrorKind::kUsage, "'" + text + "' is no time", flag, "write 90s, 3m or 1.5h; 0 for none");
}

std::string whole_text(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw CodedError(ErrorCode::kNoSuchFile, "the file of the command cannot be read", file, "check the path");
  return std::string(std::istreambuf_iterator<char>(in), {});
}

ordered_json entry_json(const QueueEntry& entry) {
  return {{"number", entry.number},
          {"command", entry.command},
          {"directory", entry.directory},
          {"queued_at", entry.queued_at},
          {"attempts", entry.attempts}};
}

ordered_json entries_json(const std::vector<QueueEntry>& entries) {
  ordered_json list = ordered_json::array();
  for (const QueueEntry& entry : entries) list.push_back(entry_json(entry));
  return list;
}

ordered_json failures_json(const std::vector<runs::QueueFailure>& failures) {
  ordered_json list = ordered_json::array();
  for (const runs::QueueFailure& failure : failures) {
    ordered_json each = entry_json(failure.entry);
    each.update({{"failures", failure.failures},
                 {"outcome", failure.outcome},
                 {"exit_status", failure.exit_status},
                 {"failed_at", failure.failed_at},
                 {"error", failure.error},
                 {"log", failure.log}});
    list.push_back(std::move(each));
  }
  return list;
}

QueueResult run(const CommandQueue& queue, const QueueFlags& flags) {
  const orchestrator::Host host = orchestrator::host_itself();
  std::string trouble;
  const auto gpu = orchestrator::open_gpu_activity(orchestrator::find_nvml({}, host), host.variable("CUDA_VISIBLE_DEVICES"), trouble);
  if (!gpu) write_err("note: NVML does not answer ({}); the GPU is not watched\n", trouble);
  else if (!gpu->names_processes())
    write_err("note: in this container process ids of the GPU cannot be matched; overlapping runs are not noticed\n");
  return runs::run_queue(queue,
                         {.gpu_wait_s = flags.gpu_wait.empty() ? -1 : time_of(flags.gpu_wait, "--gpu-wait"),
                          .stall_s = time_of(flags.stall, "--stall"),
                          .attempts = flags.attempts,
                          .retry_failed = flags.retry_failed,
                          .stay = flags.stay,
                          .lock = runs::machine_lock_file()},
                         gpu.get());
}

ordered_json result_json(const QueueResult& result) {
  ordered_json list = ordered_json::array();
  for (const auto& attempt : result.attempts)
    list.push_back({{"number", attempt.entry.number},
                    {"attempt", attempt.entry.attempts},
                    {"command", attempt.entry.command},
                    {"outcome", outcome_name(attempt.outcome)},
                    {"exit_status", attempt.exit_status},
                    {"seconds", attempt.seconds},
                    {"log", attempt.log.string()},
                    {"reason", attempt.detail},
                    {"queued_again", attempt.queued_again}});
  return list;
}

int status_of(const QueueResult& result) {
  if (result.interrupt_signal != 0) return 128 + result.interrupt_signal;
  if (result.gpu_stayed_busy) return exit_status_of(ErrorKind::kTimeout);
  return result.all_ok() ? 0 : exit_status_of(ErrorKind::kWorkload);
}

void print_entries(const char* title, const std::vector<QueueEntry>& entries) {
  for (const QueueEntry& entry : entries) write_out("{:<8} {:06}  {}\n", title, entry.number, runs::command_on_one_line(entry.command));
}

// Those that are queued again are listed there; that they failed before is said here.
void print_failures(const std::vector<runs::QueueFailure>& failures) {
  for (const runs::QueueFailure& failure : failures)
    write_out("failed   {:06}  {}\n         {} with status {}, {} so far; last {}: {}\n         {}\n", failure.entry.number,
              runs::command_on_one_line(failure.entry.command), failure.outcome, failure.exit_status,
              failure.failures == 1 ? "once" : fmt::format("{} times", failure.failures), failure.failed_at,
              failure.error.empty() ? "it printed nothing" : failure.error, failure.log);
  if (!failures.empty()) write_out("         --run-queue --retry-failed N runs them again; --forget-failed drops them from this list\n");
}

void print_status(const CommandQueue& queue) {
  const auto owner = runs::MachineLock::owner(runs::machine_lock_file());
  if (owner) write_out("runner   process {} since {}: {}\n", owner->pid, visible_line(owner->since), visible_line(owner->purpose));
  else write_out("runner   none\n");
  print_entries("running", queue.running());
  print_entries("queued", queue.waiting());
  print_failures(runs::QueueFailures(queue).list());
  write_out("folder   {}\n", queue.folder().string());
}

std::vector<QueueEntry> add_all(const CommandQueue& queue, const QueueFlags& flags) {
  std::vector<std::string> commands = flags.commands;
  for (const std::string& file : flags.files) commands.push_back(whole_text(file));
  for (const std::string& command : commands)
    if (runs::command_on_one_line(command).empty())
      throw Error(ErrorKind::kUsage, "the command to queue is empty", "--enqueue", "give a command of one line or more");
  std::vector<QueueEntry> added;
  for (const std::string& command : commands) added.push_back(queue.add(command, std::filesystem::current_path()));
  return added;
}

}  // namespace

void add_queue_flags(CLI::App& verb, QueueFlags& flags) {
  verb.add_option("--enqueue", flags.commands, "add a command for /bin/sh to the queue, of one line or more; repeatable")
      ->allow_extra_args(false)
      ->type_name("COMMAND")
      ->group("Queue");
  verb.add_option("--enqueue-file", flags.files, "add a file as one command; repeatable")
      ->allow_extra_args(false)
      ->type_name("FILE")
      ->group("Queue");
  verb.add_flag("--run-queue", flags.run, "run the queue until it is empty, one command at a time")->group("Queue");
  verb.add_flag("--stay", flags.stay, "with --run-queue: wait for further commands")->group("Queue");
  verb.add_flag("--queue-status", flags.status, "list what runs, what waits and what failed, with the last error of each")->group("Queue");
  verb.add_flag("--forget-failed", flags.forget_failed, "drop what --queue-status remembers of failed commands")->group("Queue");
  verb.add_option("--queue", flags.folder, "folder of the queue; default: $NL_STAGE_QUEUE, or nl-stage/queue in $XDG_STATE_HOME")
      ->type_name("DIR")
      ->group("Queue");
  verb.add_option("--gpu-wait", flags.gpu_wait, "wait at most so long for an idle GPU, 0: not at all; default: no limit")
      ->type_name("TIME")
      ->group("Queue");
  verb.add_option("--stall", flags.stall, "end a run after so long without output, processor or GPU time; 0: never")
      ->capture_default_str()
      ->type_name("TIME")
      ->group("Queue");
  verb.add_option("--attempts", flags.attempts, "start a disturbed run at most so often")
      ->capture_default_str()
      ->check(between(1, 100))
      ->type_name("N")
      ->group("Queue");
}

int queue_verb(const QueueFlags& flags, bool json) {
  const CommandQueue queue(flags.folder.empty() ? runs::default_queue_folder() : std::filesystem::path(flags.folder));
  ordered_json out = {{"queue", queue.folder().string()}, {"log", queue.log_file().string()}};
  const auto added = add_all(queue, flags);
  if (!added.empty()) out["added"] = entries_json(added);
  if (!json) print_entries("added", added);
  if (flags.forget_failed) {
    out["forgotten"] = runs::QueueFailures(queue).forget_all();
    if (!json) write_out("forgotten {}\n", out["forgotten"].get<std::size_t>());
  }
  int status = 0;
  if (flags.run) {
    const QueueResult result = run(queue, flags);
    status = status_of(result);
    out["runs"] = result_json(result);
    out["exit_status"] = status;
    if (!json) write_out("log      {}\n", queue.log_file().string());
  }
  if (flags.status && !json) print_status(queue);
  if (flags.status)
    out.update({{"running", entries_json(queue.running())},
                {"queued", entries_json(queue.waiting())},
                {"failed", failures_json(runs::QueueFailures(queue).list())}});
  if (json) write_json(out);
  return status;
}

}  // namespace nl::cli
