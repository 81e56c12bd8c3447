#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/codes.h"
#include "orchestrator/config/config.h"

namespace nl::orchestrator {

// "nsys-repeat-2": of a pass' logs and folders; 0: without a number.
std::string pass_name(PassKind kind, int number = 0);

// What a pass starts. A Hydra program (workload.hydra) would write to one folder for all passes, or to one by the clock: it
// gets a folder of the bundle for each, and hydra.job.chdir where workload.hydra_chdir asks for one and its own arguments do not.
std::vector<std::string> workload_command(const WorkloadOptions& workload, const std::filesystem::path& bundle, PassKind kind,
                                          int number = 0);

}  // namespace nl::orchestrator
