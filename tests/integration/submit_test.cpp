// A program of several ranks as a job of a Slurm of four nodes, which the test starts itself.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include "tests/catch.h"
#include "tests/integration/harness.h"
#include "tests/integration/slurm_cluster.h"
#include "tests/unit/files.h"

using namespace nl::test;
using nlohmann::json;

namespace {

const std::string kProgram = NL_BUILD_ROOT "/tests/integration/rank_program";

std::string why_no_ranks() {
  if (!fs::exists(kProgram)) return "built without the collector's GPU half";
  return SlurmCluster::why_not();
}

bool within(double seconds, const std::function<bool()>& holds) {
  for (int i = 0; i < seconds * 20; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(50)))
    if (holds()) return true;
  return false;
}

// One traced pass, by the collector over the library that stands in for CUPTI.
struct RankScene : Scene {
  RankScene() {
    env["NL_STAGE_NVML"] = NL_BUILD_ROOT "/tests/unit/orchestrator/libfake_nvml.so";
    env["FAKE_CUPTI"] = NL_BUILD_ROOT "/tests/unit/collector/libfake_cupti.so";
  }
  std::vector<std::string> traced() const {
    return {"--config", "cupti",
            "--set",    "tools.cupti=" + env.at("FAKE_CUPTI"),
            "--set",    "energy.enabled=off",
            "--set",    "analysis.warmup=none"};
  }
};

struct JobScene : RankScene {
  SlurmCluster cluster;
  JobScene() { env["SLURM_CONF"] = cluster.conf().string(); }
  fs::path job() const { return path / "job"; }
  std::vector<std::string> words(const std::vector<std::string>& flags, const std::vector<std::string>& program) const {
    std::vector<std::string> all = {"submit", "--nodes", "4", "--out", job().string(), "--wait", "--poll", "0.2s"};
    const std::vector<std::string> own = traced();
    all.insert(all.end(), own.begin(), own.end());
    all.insert(all.end(), flags.begin(), flags.end());
    all.insert(all.end(), {"--", kProgram});
    all.insert(all.end(), program.begin(), program.end());
    return all;
  }
  nlohmann::json merged() const { return nlohmann::json::parse(text(job() / "merged/run.json")); }
  bool rank_runs(int attempt, int rank) const {
    return text(job() / "ranks" / std::to_string(attempt) / ("rank-" + std::to_string(rank) + ".json")).find("running") !=
           std::string::npos;
  }
  std::string logs() const {
    std::string all;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(job() / "slurm/logs", none)) all += text(entry.path());
    return all;
  }
};

bool says(const json& run, const std::string& code) { return run.dump().find("\"" + code + "\"") != std::string::npos; }

}  // namespace

TEST_CASE("submit: four ranks on four nodes become one bundle, and the late one is named") {
  if (const std::string why = why_no_ranks(); !why.empty()) NL_SKIP(why);
  JobScene scene;
  const Outcome outcome = scene.nl_stage(scene.words({}, {"40", "late=2"}), 240);
  INFO(outcome.err << outcome.out << scene.logs());
  REQUIRE(outcome.status == 0);
  CHECK(outcome.says((scene.job() / "merged/report.html").string()));
  const json run = scene.merged();
  REQUIRE(run["ranks"].size() == 4);
  for (const json& rank : run["ranks"]) {
    CHECK(rank["source"] == "environment");
    CHECK(rank["lateness"]["collectives"] == 40);
    CHECK(rank["lateness"]["last"] == (rank["rank"] == 2 ? 40 : 0));
  }
  // It computes 1 ms longer in each step; the ends are 2 us apart, as those of NCCL are.
  CHECK(run["ranks"][2]["lateness"]["late_ns"].get<double>() == Approx(40e6).epsilon(0.01));
  CHECK(run["ranks"][2]["lateness"]["slowest_kernel"].get<std::string>().find("gemm") != std::string::npos);
  CHECK(fs::exists(scene.job() / "ranks/0/rank-3/report.html"));
  CHECK(!fs::exists(scene.job() / "ranks/0/failed"));
}

TEST_CASE("submit: a rank that fails is named, the others are ended, and what all did until then is kept") {
  if (const std::string why = why_no_ranks(); !why.empty()) NL_SKIP(why);
  JobScene scene;
  const Outcome outcome = scene.nl_stage(scene.words({"--stop-after", "1s"}, {"60", "fails=1@40"}), 240);
  INFO(outcome.err << outcome.out << scene.logs());
  CHECK(outcome.status == 5);
  const json run = scene.merged();
  CHECK(run["ranks"].size() == 4);
  CHECK(says(run, "rank-failed"));
  CHECK(says(run, "ranks-stopped"));
  CHECK(run.dump().find("Rank 1 on n") != std::string::npos);
  CHECK(run["ranks"][3]["lateness"]["collectives"] == 40);
  CHECK(scene.text(scene.job() / "ranks/0/failed") == "rank 1 ended with status 5\n");
}

TEST_CASE("submit: where a node is lost Slurm begins the job anew, and what is whole is merged") {
  if (const std::string why = why_no_ranks(); !why.empty()) NL_SKIP(why);
  JobScene scene;
  std::thread killer([&] {
    within(60, [&] { return scene.rank_runs(0, 0) && scene.cluster.runs_on("n3", "rank_program"); });
    scene.cluster.kill_node("n3");
    within(60, [&] { return scene.cluster.queued().find(" PD ") != std::string::npos; });
    scene.cluster.start_node("n3");
  });
  const Outcome outcome = scene.nl_stage(scene.words({}, {"60", "pause=100"}), 300);
  killer.join();
  INFO(outcome.err << outcome.out << scene.logs());
  REQUIRE(outcome.status == 0);
  CHECK(fs::exists(scene.job() / "ranks/0"));
  CHECK(fs::exists(scene.job() / "ranks/1/rank-2/run.json"));
  const json run = scene.merged();
  REQUIRE(run["ranks"].size() == 4);
  for (const json& rank : run["ranks"]) CHECK(rank["lateness"]["collectives"] == 60);
  CHECK(!says(run, "rank-lost"));
}

TEST_CASE("submit: without a second attempt a lost node ends only its rank, which is said") {
  if (const std::string why = why_no_ranks(); !why.empty()) NL_SKIP(why);
  JobScene scene;
  std::thread killer([&] {
    within(60, [&] { return scene.rank_runs(0, 0) && scene.cluster.runs_on("n3", "rank_program"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(1'000));
    scene.cluster.kill_node("n3");
  });
  const Outcome outcome =
      scene.nl_stage(scene.words({"--no-requeue", "--stop-after", "1s", "--lost-after", "8s"}, {"600", "pause=50"}), 300);
  killer.join();
  INFO(outcome.err << outcome.out << scene.logs());
  CHECK(outcome.status == 6);
  const json run = scene.merged();
  CHECK(run["ranks"].size() == 3);
  CHECK(says(run, "rank-lost"));
  CHECK(says(run, "ranks-missing"));
  CHECK(scene.text(scene.job() / "ranks/0/failed").find("rank 2 is lost") != std::string::npos);
}

TEST_CASE("ranks: a launcher on this machine leaves one capture, whose processes have the numbers that it told them") {
  if (!fs::exists(kProgram)) NL_SKIP("built without the collector's GPU half");
  RankScene scene;
  const fs::path launcher = scene.script("launcher",
                                         "export WORLD_SIZE=3 MASTER_ADDR=localhost MASTER_PORT=$((30000 + $$ % 20000))\n"
                                         "for rank in 2 0 1; do RANK=$rank " +
                                             kProgram + " 30 late=1 & done\nwait\n");
  std::vector<std::string> words = {"run", "--out", scene.bundle().string()};
  for (const std::string& word : scene.traced()) words.push_back(word);
  words.insert(words.end(), {"--set", "capture.counters=off", "--set", "perturbation.repeats=0", "--", launcher.string()});
  const Outcome outcome = scene.nl_stage(words);
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.status == 0);
  const json ranks = scene.json("run.json")["ranks"];
  REQUIRE(ranks.size() == 3);
  for (const json& rank : ranks) {
    CHECK(rank["source"] == "environment");
    CHECK(rank["clock"] == "machine");
    CHECK(rank["pids"].size() == 1);
    CHECK(rank["lateness"]["last"] == (rank["rank"] == 1 ? 30 : 0));
  }
}

TEST_CASE("ranks: where some of the steps are traced, all ranks trace the same") {
  if (!fs::exists(kProgram)) NL_SKIP("built without the collector's GPU half");
  RankScene scene;
  const fs::path launcher = scene.script("launcher",
                                         "export WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=$((30000 + $$ % 20000))\n"
                                         "for rank in 1 0; do RANK=$rank " +
                                             kProgram + " 700 pause=1 & done\nwait\n");
  std::vector<std::string> words = {"run", "--out", scene.bundle().string()};
  for (const std::string& word : scene.traced()) words.push_back(word);
  words.insert(words.end(),
               {"--set", "capture.duty=1/8", "--set", "capture.counters=off", "--set", "perturbation.repeats=0", "--", launcher.string()});
  const Outcome outcome = scene.nl_stage(words);
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.status == 0);
  const json run = scene.json("run.json");
  REQUIRE(run["ranks"].size() == 2);
  std::map<std::uint64_t, std::uint64_t> kernels;  // by process
  for (const json& gpu : run["communication"]) kernels[gpu["pid"].get<std::uint64_t>()] += gpu["count"].get<std::uint64_t>();
  REQUIRE(kernels.size() == 2);
  // 16 steps come first; 684 more have five whole rows of 16 out of eight.
  for (const auto& [pid, collectives] : kernels) CHECK(collectives >= 16 + 5 * 16 - 10);
  for (const json& rank : run["ranks"])
    CHECK(rank["lateness"]["collectives"].get<double>() >= 0.95 * static_cast<double>(kernels.begin()->second));
}

TEST_CASE("merge: bundles that ranks left elsewhere, and what is wrong with them") {
  if (!fs::exists(kProgram)) NL_SKIP("built without the collector's GPU half");
  RankScene scene;
  const auto capture = [&](const std::string& folder) {
    std::vector<std::string> words = {"run", "--out", scene.path / (folder + "/rank-$RANK")};
    for (const std::string& word : scene.traced()) words.push_back(word);
    std::string line = NL_BUILD_ROOT "/cli/nl-stage";
    for (const std::string& word : words) line += " " + word;
    line += " --set capture.counters=off --set perturbation.repeats=0 --quiet -- " + kProgram + " 30 late=1";
    const fs::path launcher =
        scene.script("launcher",
                     "export WORLD_SIZE=3 MASTER_ADDR=localhost MASTER_PORT=$((30000 + $$ % 20000)) NL_STAGE_LEDGER=off\n"
                     "for RANK in 0 1 2; do export RANK; " +
                         line + " > /dev/null & done\nwait\n");
    std::string command;
    for (const auto& [name, value] : scene.env) command += name + "='" + value + "' ";
    REQUIRE(std::system((command + launcher.string()).c_str()) == 0);
  };
  const auto rank = [&](const std::string& folder, int number) {
    return (scene.path / folder / ("rank-" + std::to_string(number))).string();
  };
  capture("one");
  const Outcome whole = scene.nl_stage({"merge", rank("one", 0), rank("one", 1), rank("one", 2), "--out", scene.bundle().string()});
  INFO(whole.err << whole.out);
  REQUIRE(whole.status == 0);
  check_bundle(scene);
  const json ranks = scene.json("run.json")["ranks"];
  REQUIRE(ranks.size() == 3);
  CHECK(ranks[1]["lateness"]["last"] == 30);
  CHECK(ranks[1]["lateness"]["late_ns"].get<double>() == Approx(30e6).epsilon(0.01));
  CHECK(ranks[2]["clock"] == "collectives");
  CHECK(std::abs(ranks[2]["offset_ns"].get<double>()) < 1e6);  // both clocks of the day are read within a moment

  // The same of one rank as nsys would have exported it: its kernels are named otherwise, and its clock is its own.
  fs::copy_file(rank("one", 0) + "/collector/run.sqlite", scene.path / "exported.sqlite");
  const Outcome formats = scene.nl_stage(
      {"import", (scene.path / "exported.sqlite").string(), rank("one", 1), rank("one", 2), "--out", (scene.path / "formats").string()});
  INFO(formats.err);
  REQUIRE(formats.status == 0);
  const json both = scene.json(scene.path / "formats" / "run.json")["ranks"];
  REQUIRE(both.size() == 3);
  CHECK(both[1]["lateness"]["last"] == 30);
  CHECK(both[1]["lateness"]["late_ns"].get<double>() == Approx(ranks[1]["lateness"]["late_ns"].get<double>()).epsilon(0.001));
  CHECK(both[1]["clock"] == "collectives");

  const Outcome missing = scene.nl_stage({"merge", rank("one", 0), rank("one", 2), "--out", (scene.path / "missing").string()});
  CHECK(missing.status == 3);
  CHECK(missing.says("1 of the 3 ranks of the run are not given: 1"));
  CHECK(scene.nl_stage({"merge", rank("one", 0), rank("one", 2), "--partial-ranks", "--out", (scene.path / "partial").string()}).status ==
        0);
  const Outcome twice = scene.nl_stage({"merge", rank("one", 0), rank("one", 0), "--out", (scene.path / "twice").string()});
  CHECK(twice.status == 2);  // the same files
  const Outcome attempt = scene.nl_stage({"merge", rank("one", 0), "--attempt", "1"});
  CHECK(attempt.status == 2);
  CHECK(attempt.says("only a job has attempts"));

  std::this_thread::sleep_for(std::chrono::milliseconds(2'500));
  capture("two");
  const Outcome mixed = scene.nl_stage({"merge", rank("one", 0), rank("two", 1), rank("one", 2), "--out", (scene.path / "mixed").string()});
  CHECK(mixed.status == 3);
  CHECK(mixed.says("after each other"));
  const Outcome same =
      scene.nl_stage({"merge", rank("one", 1), rank("two", 1), rank("one", 2), rank("one", 0), "--out", (scene.path / "same").string()});
  CHECK(same.status == 3);
  CHECK(same.says("two captures are of rank 1"));
}

TEST_CASE("submit: the script of a job is printed, and a used folder is refused") {
  Scene scene;
  const std::string out = (scene.path / "job").string();
  const Outcome script = scene.nl_stage({"submit", "--nodes", "2", "--ranks-per-node", "8", "--no-requeue", "--srun=--container-image=a b",
                                         "--program", "/opt/nl-stage", "--out", out, "--dry-run", "--", "python", "train.py", "it's"});
  INFO(script.err);
  CHECK(script.status == 0);
  CHECK(script.out.find("srun --kill-on-bad-exit=0 --wait=0 --no-kill '--container-image=a b' /opt/nl-stage submit --rank " + out + "\n") !=
        std::string::npos);
  CHECK(script.out.find("exec srun --nodes=1 --ntasks=1 --overlap '--container-image=a b' /opt/nl-stage merge " + out +
                        " --partial-ranks --last-step --config light\n") != std::string::npos);
  CHECK(!fs::exists(out));
  fs::create_directories(out);
  std::ofstream(fs::path(out) / "notes.txt") << "mine";
  const Outcome refused = scene.nl_stage({"submit", "--out", out, "--", "true"});
  CHECK(refused.status == 8);
  CHECK(refused.says("the folder of the job is not empty"));
  CHECK(scene.nl_stage({"submit", "--", "true"}).says("give a new folder on a file system that the nodes share"));
  CHECK(scene.nl_stage({"submit", "--out", out}).says("the program is missing"));
  CHECK(scene.nl_stage({"submit", "--rank", out}).says("nl-stage submit made"));
}
