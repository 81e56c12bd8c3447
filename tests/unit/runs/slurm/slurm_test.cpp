#include "runs/slurm/slurm.h"

#include "model/error.h"
#include "tests/catch.h"

using namespace nl::runs;

TEST_CASE("slurm: the indices of an array as sbatch takes them") {
  CHECK(slurm::array_text({1}) == "1");
  CHECK(slurm::array_text({1, 2, 3, 4}) == "1-4");
  CHECK(slurm::array_text({1, 2, 5, 7, 8}) == "1-2,5,7-8");
  CHECK(slurm::array_text({3, 2, 1}) == "3,2,1");
}

TEST_CASE("slurm: partition, GPUs, constraint, time and any other flag are passed on") {
  slurm::BatchJob job{"nl-x-1", "/shared/task.sh", "/shared/logs/%A_%a.log", {}, {1, 2, 4}};
  CHECK(slurm::sbatch_command(job) == std::vector<std::string>{"sbatch", "--parsable", "--no-requeue", "--job-name=nl-x-1",
                                                               "--output=/shared/logs/%A_%a.log", "--array=1-2,4", "/shared/task.sh"});
  job.options = {"gpu", "h100:2", "a&b", "30", {"--account=x", "--container-image=img"}, {}, {}};
  CHECK(slurm::sbatch_command(job) == std::vector<std::string>{"sbatch", "--parsable", "--no-requeue", "--job-name=nl-x-1",
                                                               "--output=/shared/logs/%A_%a.log", "--array=1-2,4", "--partition=gpu",
                                                               "--gpus=h100:2", "--constraint=a&b", "--time=30", "--account=x",
                                                               "--container-image=img", "/shared/task.sh"});
}

TEST_CASE("slurm: the states of squeue") {
  using State = slurm::TaskState;
  const auto statuses = slurm::parse_squeue(
      "12|1|COMPLETED|n1\n12|2|RUNNING|n2\n12|3|PENDING|\n12|4|NODE_FAIL|n3\n12|5|CANCELLED|\n12|6|TIMEOUT|n4\n12|7|COMPLETING|n1\n12|8|"
      "PREEMPTED|n1\n13|2|CONFIGURING|n2\n"
      "12|[9-20%4]|PENDING|\n12|N/A|RUNNING|n1\nslurm_load_jobs error\n\n");
  REQUIRE(statuses.size() == 9);
  CHECK(statuses.at({"12", 1}).state == State::kEnded);
  CHECK(statuses.at({"12", 2}).state == State::kRunning);
  CHECK(statuses.at({"12", 2}).node == "n2");
  CHECK(statuses.at({"12", 3}).state == State::kWaiting);
  CHECK(statuses.at({"12", 4}).state == State::kEnded);
  CHECK(statuses.at({"12", 4}).word == "NODE_FAIL");
  CHECK(statuses.at({"12", 5}).state == State::kCancelled);
  CHECK(statuses.at({"12", 6}).state == State::kTimedOut);
  CHECK(statuses.at({"12", 7}).state == State::kRunning);
  CHECK(statuses.at({"12", 8}).state == State::kEnded);
  CHECK(statuses.at({"13", 2}).state == State::kWaiting);
}
