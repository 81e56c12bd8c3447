#pragma once

#include <filesystem>
#include <optional>

#include "orchestrator/import.h"
#include "runs/slurm/job_folder.h"

namespace nl::runs::slurm {

struct MergeRequest {
  std::filesystem::path job;           // its folder
  std::optional<int> attempt;          // none: the last one that is whole, else the one that captured the most ranks
  orchestrator::ImportRequest import;  // without files; out: empty is merged/ in the folder of the job
};

// The ranks of a job as one run, with what became of each of them. Throws Error(kInput) where no rank was captured, and, without
// partial_ranks, where one is missing.
orchestrator::RunResult merge_ranks(const MergeRequest& request, orchestrator::Launcher& launcher);

// What the last step of a job leaves for the one that waits for it.
struct Merged {
  int status = 0;
  std::filesystem::path bundle;
};
void write_merged(const std::filesystem::path& job, const Merged& merged);
std::optional<Merged> read_merged(const std::filesystem::path& job);

}  // namespace nl::runs::slurm
