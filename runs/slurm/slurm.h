#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runs/suite/suite.h"

// Slurm by its commands: sbatch, squeue, scancel.
namespace nl::runs::slurm {

enum class TaskState { kWaiting, kRunning, kEnded, kCancelled, kTimedOut };

struct TaskStatus {
  TaskState state = TaskState::kEnded;
  std::string word;  // as Slurm has it: "NODE_FAIL"
  std::string node;
};

// Tasks of array jobs: (job, index) → status.
using Statuses = std::map<std::pair<std::string, int>, TaskStatus>;

struct BatchJob {
  std::string name;
  std::filesystem::path script;  // on a file system that all nodes have
  std::filesystem::path log;     // with Slurm's letters: %A_%a.log
  SlurmOptions options;
  std::vector<int> tasks = {};        // the indices of an array; empty: one job,
  int nodes = 0, tasks_per_node = 0;  // of so many tasks on each of so many nodes
  bool requeue = false;               // Slurm puts it back into the queue where a node is lost
};

// The words of an sbatch command.
std::vector<std::string> sbatch_command(const BatchJob& job);

// "1-4,7": the indices as sbatch takes them
std::string array_text(const std::vector<int>& tasks);

// Lines of squeue: "1234|7|RUNNING|n2"; others are left out.
Statuses parse_squeue(const std::string& text);

// The id of the job. Throws Error(kTool) with what sbatch says.
std::string submit(const BatchJob& job);

// This nl-stage, as the nodes find it.
std::string own_program();

// The statuses of all jobs of that name that Slurm still knows; nothing where Slurm does not answer now.
std::optional<Statuses> ask(const std::string& job_name);

// Of a job that is no array, as Slurm has it: "RUNNING"; "GONE": it is known no more. Nothing where Slurm does not answer now.
std::optional<std::string> state_of_job(const std::string& name, const std::string& id);

void cancel(const std::vector<std::string>& jobs);

}  // namespace nl::runs::slurm
