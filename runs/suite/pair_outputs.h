#pragma once

#include <string>
#include <vector>

#include "runs/suite/run_suite.h"

// Whether both halves of a pair compute the same.
namespace nl::runs {

// The files that runs of a target leave for that, without kStandardOutput.
std::vector<std::string> output_files(const Suite& suite, std::size_t target);

// Compares what the timed runs have left. A pair whose outputs differ, or do not exist, has failed, however fast it is.
void check_outputs(const Suite& suite, const std::vector<TaskRecord>& tasks, std::vector<PairResult>& pairs);

}  // namespace nl::runs
