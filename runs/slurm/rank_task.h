#pragma once

#include <filesystem>

// One rank of a job, on its node: nl-stage runs its program, the bundle is made on the node's own disk, and is then moved to the folder of the job.
namespace nl::runs::slurm {

// The exit status: that of nl-stage run. Throws Error(kUsage) where Slurm did not start it.
int run_rank(const std::filesystem::path& out);

}  // namespace nl::runs::slurm
