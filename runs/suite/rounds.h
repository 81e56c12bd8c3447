#pragma once

#include <functional>
#include <vector>

#include "runs/suite/run_suite.h"

// The order in which a suite's work is done, on this machine or on a cluster.
namespace nl::runs {

// Runs these tasks, side by side or one after another, and adds a record of each to the result; of fewer where the user stops it.
using RunTasks = std::function<void(const std::vector<SuiteTask>& tasks)>;

// Every target is timed, pairs with sizes again with more work as long as that may decide them, and each is profiled with the work that it
// was judged by.
void run_rounds(SuiteResult& result, const RunTasks& run);

}  // namespace nl::runs
