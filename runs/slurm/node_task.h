#pragma once

#include <filesystem>
#include <optional>

#include "runs/suite/run_suite.h"

// One task of a suite on a node of a cluster, and what it tells the one who submitted it: a bundle below runs/ and, when that is whole, a
// file below slurm/results/. Both appear by a rename, so that a task that is run twice counts once.
namespace nl::runs::slurm {

struct NodeReport {
  TaskRecord record;
  std::vector<Check> checks;  // of the node
};

std::filesystem::path result_file(const std::filesystem::path& out, int number);

// What the numbers of tasks stand for, in slurm/tasks.json: written before they are submitted, read on the node.
void write_tasks(const std::filesystem::path& out, const Suite& suite, const std::vector<SuiteTask>& tasks);

// Runs on the node. False where it was interrupted: then it leaves no result, and may be submitted again.
bool run_node_task(const SuiteRequest& request, int number);

// Runs on the submitting machine. Nothing: there is no result yet.
std::optional<NodeReport> read_report(const Suite& suite, const SuiteTask& task, const std::filesystem::path& out);

}  // namespace nl::runs::slurm
