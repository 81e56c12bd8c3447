#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runs/slurm/node_task.h"

namespace nl::runs::slurm {

// Records a bundle in the ledger that the settings (ledger.*) or the environment name; says why it did not, empty where it did or where
// there is no ledger. One process does so for all nodes: a file of SQLite on a network file system must not be written by several.
using Collector = std::function<std::string(const TaskRecord&)>;
Collector ledger_collector(const std::vector<std::string>& sets);

struct ClusterRequest {
  SuiteRequest suite;      // its folder must be on a file system that the nodes share
  double poll_s = 2;       // between two looks at Slurm and the results
  double settle_s = 10;    // for a result to be seen after its task has ended: shared file systems are late
  int attempts = 3;        // of a task that ends without a result
  Collector collect = {};  // each bundle as it comes
};

// The same as run_suite(), by a job array with a task for each run. Tasks of a lost node are submitted again. Ctrl-C cancels what is
// queued or runs, and leaves the verdict on what there is.
SuiteResult run_on_slurm(const ClusterRequest& request);

}  // namespace nl::runs::slurm
