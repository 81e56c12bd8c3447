#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "runs/slurm/job_folder.h"
#include "runs/suite/suite.h"

namespace nl::runs::slurm {

struct SubmitRequest {
  std::filesystem::path out;  // absolute, on a file system that the nodes share; new or empty
  std::string name;
  RankJob job;
  SlurmOptions slurm;
  bool requeue = true;  // Slurm begins the job anew where a node is lost; else the other ranks go on without it
};

std::string job_script(const SubmitRequest& request);

// The id of the job. Throws Error: kOutput where the folder is in use or cannot be written, kTool where Slurm does not take the job.
std::string submit_job(const SubmitRequest& request);

struct JobEnd {
  std::optional<int> status;     // of the merge; none: the job ended before it, or goes on
  std::filesystem::path bundle;  // that it left
  std::string state;             // as Slurm has it: "FAILED"
};

// Until the ranks are merged, the job has ended otherwise, or Ctrl-C: the job goes on then.
JobEnd wait_for_job(const SubmitRequest& request, const std::string& id, double poll_s);

}  // namespace nl::runs::slurm
