#include <fstream>

#include "model/error.h"
#include "runs/slurm/merge_ranks.h"
#include "runs/slurm/slurm.h"
#include "runs/slurm/submit_job.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl::runs::slurm;
using nl::test::Folder;
namespace fs = std::filesystem;

namespace {

RankJob job_of_two() { return {{"--config", "light", "--", "python", "it's"}, {"--config", "light"}, 1, 2, "/local", 5, 7}; }

RankReport report(int rank, RankState state, int status = 0) {
  RankReport made;
  made.rank = rank;
  made.state = state;
  made.node = "n1";
  made.status = status;
  return made;
}

}  // namespace

TEST_CASE("job: what was asked for is read as it was written, and damage is named") {
  const Folder folder;
  CHECK_FALSE(is_job_folder(folder.path));
  CHECK_THROWS_AS(read_job(folder.path), nl::Error);
  write_job(folder.path, job_of_two());
  CHECK(is_job_folder(folder.path));
  const RankJob job = read_job(folder.path);
  CHECK(job.run == job_of_two().run);
  CHECK(job.merge == job_of_two().merge);
  CHECK(job.ranks() == 2);
  CHECK(job.local == "/local");
  CHECK(job.stop_after_s == 5);
  CHECK(job.lost_after_s == 7);
  for (const char* damaged : {"", "{", "[]", R"({"run": 3})"}) {
    std::ofstream(folder.path / "slurm/job.json") << damaged;
    CHECK_THROWS_AS(read_job(folder.path), nl::Error);
  }
  RankJob many = job_of_two();
  many.nodes = 2'000'000'000;
  write_job(folder.path, many);
  CHECK_THROWS_AS(read_job(folder.path), nl::Error);
}

TEST_CASE("job: an attempt is whole where each rank has ended and its bundle is here") {
  const Folder folder;
  const fs::path first = attempt_folder(folder.path, 0), second = attempt_folder(folder.path, 10);
  write_rank_report(first, report(0, RankState::kEnded, 5));
  write_rank_report(second, report(0, RankState::kEnded));
  write_rank_report(second, report(1, RankState::kHandingIn));
  for (int rank : {0, 1}) fs::create_directories(rank_bundle(second, rank));
  fs::create_directories(folder.path / "ranks" / "notes");
  std::ofstream(first / "rank-1.json") << "{\"state\": \"ended";  // the disk was full
  const std::vector<Attempt> attempts = read_attempts(folder.path, 2);
  REQUIRE(attempts.size() == 2);
  CHECK(attempts[0].number == 0);
  CHECK(attempts[1].number == 10);
  CHECK(attempts[0].ranks[0].status == 5);
  CHECK(attempts[0].ranks[1].state == RankState::kRunning);
  CHECK(attempts[0].captured() == 0);
  CHECK(attempts[1].captured() == 2);
  CHECK_FALSE(attempts[1].whole());  // one may still be copying
  write_rank_report(second, report(1, RankState::kEnded));
  CHECK(read_attempts(folder.path, 2)[1].whole());
  CHECK_FALSE(read_attempts(folder.path, 3)[1].whole());
  CHECK(read_attempts(folder.path, 3)[1].ranks[2].state == RankState::kMissing);
}

TEST_CASE("job: the end of a merge is read once it is written whole") {
  const Folder folder;
  fs::create_directories(folder.path / "slurm");
  CHECK_FALSE(read_merged(folder.path));
  for (const char* damaged : {"", "{\"status\": 1", "[1]", "{\"status\": \"x\", \"bundle\": 1}"}) {
    std::ofstream(folder.path / "slurm/merged.json") << damaged;
    CHECK_FALSE(read_merged(folder.path));
  }
  write_merged(folder.path, {5, "/shared/job/merged"});
  REQUIRE(read_merged(folder.path));
  CHECK(read_merged(folder.path)->status == 5);
  CHECK(read_merged(folder.path)->bundle == "/shared/job/merged");
}

TEST_CASE("job: as many tasks as ranks, and a lost node begins it anew") {
  BatchJob job{"nl-x", "/shared/job.sh", "/shared/%j.log", {}, {}, 4, 8, true};
  CHECK(sbatch_command(job) == std::vector<std::string>{"sbatch", "--parsable", "--requeue", "--job-name=nl-x", "--output=/shared/%j.log",
                                                        "--nodes=4", "--ntasks-per-node=8", "--open-mode=append", "/shared/job.sh"});
}
