#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runs/orchestrator_names.h"
#include "runs/suite/task.h"

namespace nl::runs::slurm {

// Records a bundle in the ledger that the settings (ledger.*) or the environment name; says why it did not, empty where it did or where
// there is no ledger. One process does so for all nodes: a file of SQLite on a network file system must not be written by several.
using Collector = std::function<std::string(const TaskRecord&)>;
Collector ledger_collector(const std::vector<std::string>& sets);

}  // namespace nl::runs::slurm
