#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

// The folder of a job that captures a program of several ranks, on a file system that the nodes share:
//   slurm/job.json       what was asked for
//   slurm/job.sh         the script of the job
//   slurm/logs/          its output
//   ranks/A/rank-3.json  how rank 3 of attempt A is doing; Slurm counts the attempts of a job that it puts back into the queue
//   ranks/A/failed       the ranks that failed by themselves
//   ranks/A/rank-3/      the bundle of that rank
//   merged/              the bundle of all of them
namespace nl::runs::slurm {

struct RankJob {
  std::vector<std::string> run;    // words behind "nl-stage run"
  std::vector<std::string> merge;  // words behind "nl-stage merge"
  int nodes = 1, ranks_per_node = 1;
  std::string local;         // the nodes' folder for captures; empty: $SLURM_TMPDIR, $TMPDIR or /tmp
  double stop_after_s = 60;  // of the ranks that go on after one of them failed
  double lost_after_s = 60;  // without a sign of life
  int ranks() const { return nodes * ranks_per_node; }
};

void write_job(const std::filesystem::path& out, const RankJob& job);
RankJob read_job(const std::filesystem::path& out);  // Error(kInput) where the folder has none, or it is damaged
bool is_job_folder(const std::filesystem::path& folder);

enum class RankState { kMissing, kRunning, kHandingIn, kEnded };

// What a rank tells of itself.
struct RankReport {
  int rank = 0;
  RankState state = RankState::kMissing;
  std::uint64_t signs = 0;  // of life, that it gave so far
  std::string node;
  int status = 0;        // of nl-stage run, once it has ended
  bool stopped = false;  // because another rank had failed
  std::string kept_at;   // its bundle, on its node, where the shared folder did not take it
  std::string why;       // it did not
};

struct Attempt {
  int number = 0;
  std::filesystem::path folder;
  std::vector<RankReport> ranks;  // by rank, all that the job has

  bool whole() const;            // each rank has ended, and its bundle is here
  std::size_t captured() const;  // bundles that are here
};

std::filesystem::path attempt_folder(const std::filesystem::path& out, int attempt);
std::filesystem::path rank_bundle(const std::filesystem::path& attempt, int rank);

std::filesystem::path failure_note(const std::filesystem::path& attempt);  // is there once a rank has failed

RankReport read_rank_report(const std::filesystem::path& attempt, int rank);
void write_rank_report(const std::filesystem::path& attempt, const RankReport& report);

// The attempts that there were, the first one first.
std::vector<Attempt> read_attempts(const std::filesystem::path& out, int ranks);

}  // namespace nl::runs::slurm
