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

struct ArrayJob {
  std::string name;
  std::vector<int> tasks;        // the indices of the array
  std::filesystem::path script;  // on a file system that all nodes have
  std::filesystem::path log_folder;
  SlurmOptions options;
};

// The words of an sbatch command. Slurm does not put lost tasks back by itself: the submitting command does.
std::vector<std::string> sbatch_command(const ArrayJob& job);

// "1-4,7": the indices as sbatch takes them
std::string array_text(const std::vector<int>& tasks);

// Lines of squeue: "1234|7|RUNNING|n2"; others are left out.
Statuses parse_squeue(const std::string& text);

// The id of the job. Throws Error(kTool) with what sbatch says.
std::string submit(const ArrayJob& job);

// The statuses of all jobs of that name that Slurm still knows; nothing where Slurm does not answer now.
std::optional<Statuses> ask(const std::string& job_name);

void cancel(const std::vector<std::string>& jobs);

}  // namespace nl::runs::slurm
