#include "runs/slurm/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <sstream>

#include "model/error.h"
#include "model/shell.h"
#include "orchestrator/process/process.h"

namespace nl::runs::slurm {
namespace {

constexpr double kAnswerSeconds = 60;  // a busy controller takes its time

struct StateWord {
  std::string_view word;
  TaskState state;
};
// Any other word: it has ended, well or not, which its result tells.
constexpr StateWord kStateWords[] = {
    {"PENDING", TaskState::kWaiting},     {"CONFIGURING", TaskState::kWaiting},  {"SUSPENDED", TaskState::kWaiting},
    {"REQUEUED", TaskState::kWaiting},    {"REQUEUE_HOLD", TaskState::kWaiting}, {"RESV_DEL_HOLD", TaskState::kWaiting},
    {"RUNNING", TaskState::kRunning},     {"COMPLETING", TaskState::kRunning},   {"STAGE_OUT", TaskState::kRunning},
    {"SIGNALING", TaskState::kRunning},   {"STOPPED", TaskState::kRunning},      {"RESIZING", TaskState::kRunning},
    {"CANCELLED", TaskState::kCancelled}, {"REVOKED", TaskState::kCancelled},    {"DEADLINE", TaskState::kTimedOut},
    {"TIMEOUT", TaskState::kTimedOut}};

TaskState state_of_word(std::string_view word) {
  for (const StateWord& each : kStateWords)
    if (each.word == word) return each.state;
  return TaskState::kEnded;
}

ProcessResult ask_slurm(std::vector<std::string> argv) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.timeout_s = kAnswerSeconds;
  spec.not_found = ErrorKind::kTool;
  return run_process(spec);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string array_text(const std::vector<int>& tasks) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < tasks.size();) {
    std::size_t end = i + 1;
    while (end < tasks.size() && tasks[end] == tasks[end - 1] + 1) ++end;
    parts.push_back(end == i + 1 ? std::to_string(tasks[i]) : fmt::format("{}-{}", tasks[i], tasks[end - 1]));
    i = end;
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

std::vector<std::string> sbatch_command(const BatchJob& job) {
  std::vector<std::string> words = {"sbatch", "--parsable", job.requeue ? "--requeue" : "--no-requeue", "--job-name=" + job.name,
                                    "--output=" + job.log.string()};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(option + value);
  };
  if (!job.tasks.empty()) add("--array=", array_text(job.tasks));
  if (job.nodes > 0) {
    add("--nodes=", std::to_string(job.nodes));
    add("--ntasks-per-node=", std::to_string(job.tasks_per_node));
    add("--open-mode=", "append");  // the log of an attempt before stays
  }
  add("--partition=", job.options.partition);
  add("--gpus=", job.options.gpus);
  add("--constraint=", job.options.constraint);
  add("--time=", job.options.time);
  words.insert(words.end(), job.options.sbatch_args.begin(), job.options.sbatch_args.end());
  words.push_back(job.script.string());
  return words;
}

std::string own_program() {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "nl-stage" : program.string();
}

std::string submit(const BatchJob& job) {
  const auto words = sbatch_command(job);
  const ProcessResult answer = ask_slurm(words);
  // "1234", or "1234;cluster"
  const std::string id = answer.stdout_text.substr(0, answer.stdout_text.find_first_not_of("0123456789"));
  if (answer.exit_status == 0 && !id.empty()) return id;
  throw Error(ErrorKind::kTool, fmt::format("sbatch did not take the job: {}", first_line(answer.stderr_text)), shell_quoted(words),
              "check what is asked of Slurm: partition, gpus, constraint, time, and what is passed on to sbatch");
}

// 1234|7|RUNNING|n2
Statuses parse_squeue(const std::string& text) {
  Statuses statuses;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string job, index, word, node;
    if (!std::getline(fields, job, '|') || !std::getline(fields, index, '|') || !std::getline(fields, word, '|')) continue;
    std::getline(fields, node, '|');
    int number = 0;
    const auto [end, failed] = std::from_chars(index.data(), index.data() + index.size(), number);
    if (failed == std::errc{} && end == index.data() + index.size()) statuses[{job, number}] = {state_of_word(word), word, node};
  }
  return statuses;
}

std::optional<Statuses> ask(const std::string& job_name) {
  const ProcessResult answer = ask_slurm({"squeue", "--noheader", "--array", "--states=all", "--name=" + job_name, "--format=%F|%K|%T|%N"});
  if (answer.exit_status != 0) return std::nullopt;
  return parse_squeue(answer.stdout_text);
}

std::optional<std::string> state_of_job(const std::string& name, const std::string& id) {
  // By its name: asked for a job that it has forgotten, squeue fails as it does where the controller does not answer.
  const ProcessResult answer = ask_slurm({"squeue", "--noheader", "--states=all", "--name=" + name, "--format=%A|%T"});
  if (answer.exit_status != 0) return std::nullopt;
  std::istringstream lines(answer.stdout_text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(id + "|")) return line.substr(id.size() + 1);
  return "GONE";
}

void cancel(const std::vector<std::string>& jobs) {
  std::vector<std::string> words = {"scancel", "--quiet"};
  words.insert(words.end(), jobs.begin(), jobs.end());
  if (!jobs.empty()) ask_slurm(words);
}

}  // namespace nl::runs::slurm
