// A suite on a Slurm of four nodes that the test starts itself.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "runs/ledger/ledger.h"
#include "tests/catch.h"
#include "tests/integration/harness.h"
#include "tests/integration/slurm_cluster.h"
#include "tests/unit/files.h"

using namespace nl::test;
using nlohmann::json;

namespace {

struct ClusterScene : Scene {
  SlurmCluster cluster;
  ClusterScene() {
    env["SLURM_CONF"] = cluster.conf().string();
    env["NL_STAGE_NVML"] = "";
    env["DIR"] = path.string();
  }
  void write(const std::string& suite) const { std::ofstream(path / "bench.yaml") << suite; }
  std::vector<std::string> words() const {
    return {"suite",          (path / "bench.yaml").string(), "--engine", "slurm", "--poll", "0.3s", "--out", out().string(), "--waive",
            "virtual_machine"};
  }
  fs::path out() const { return path / "out"; }
  nlohmann::json result() const { return nlohmann::json::parse(text(out() / "suite.json")); }
  std::string log() const { return text(out() / "suite.log"); }
  std::size_t files_in(const fs::path& folder) const {
    std::error_code missing;
    return fs::exists(folder, missing) ? static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()))
                                       : 0;
  }
};

std::string why_no_cluster() { return have_collector() ? SlurmCluster::why_not() : "the collector is not built"; }

}  // namespace

TEST_CASE("slurm: a lost task is submitted again, also where sbatch is busy, or takes it and does not say so") {
  if (const std::string why = why_no_cluster(); !why.empty()) NL_SKIP(why);
  ClusterScene scene;
  fs::create_directory(scene.path / "bin");
  // The second call is refused, the third is taken, but its answer does not arrive.
  std::ofstream(scene.path / "bin/sbatch")
      << "#!/bin/sh\necho >> $DIR/calls\ncase $(wc -l < $DIR/calls) in\n1) exec /usr/bin/sbatch \"$@\" ;;\n"
         "3) /usr/bin/sbatch \"$@\" > /dev/null ;;\nesac\necho 'sbatch: error: Socket timed out' >&2\nexit 1\n";
  fs::permissions(scene.path / "bin/sbatch", fs::perms::owner_all);
  scene.env["PATH"] = (scene.path / "bin").string() + ":" + std::getenv("PATH");
  scene.write(
      "name: busy\niterations: 1\nwarmup: 0\nprofile: none\ntargets:\n  x: {command: [sh, -c, 'if [ ! -e $DIR/once ]; then touch "
      "$DIR/once; kill -9 $PPID; fi']}\n");
  const Outcome outcome = scene.nl_stage(scene.words(), 120);
  INFO(outcome.err << outcome.out << scene.log());
  CHECK(outcome.status == 0);
  CHECK(nl::test::count(scene.log(), "WAIT sbatch did not take the job") == 2);
  CHECK(nl::test::count(scene.text(scene.path / "calls"), "\n") == 3);
  CHECK(scene.result()["targets"][0]["runs"][0]["outcome"] == "ok");
}

TEST_CASE("slurm: of 20 tasks on four nodes none is lost when a node dies in the middle") {
  if (const std::string why = why_no_cluster(); !why.empty()) NL_SKIP(why);
  ClusterScene scene;
  scene.write(
      "name: twenty\niterations: 5\nwarmup: 0\nprofile: none\ntargets:\n  x_baseline: {command: [sleep, '1.5']}\n  x_optimized: {command: "
      "[sleep, '0.5']}\n"
      "  y_baseline: {command: [sleep, '1.5']}\n  y_optimized: {command: [sleep, '0.5']}\n");
  std::thread killer([&] {
    for (int i = 0; i < 600 && scene.files_in(scene.out() / "slurm/results") < 4; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    for (int i = 0; i < 600 && !scene.cluster.runs_on("n2", "sleep"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    scene.cluster.kill_node("n2");
  });
  const Outcome outcome = scene.nl_stage(scene.words(), 240);
  killer.join();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  CHECK(scene.log().find("REQUEUE ") != std::string::npos);
  std::set<std::string> bundles;
  const json result = scene.result();
  for (const auto& target : result["targets"])
    for (const auto& run : target["runs"]) {
      CHECK(run["outcome"] == "ok");
      bundles.insert(run["bundle"]);
      CHECK(fs::exists(scene.out() / run["bundle"].get<std::string>() / "manifest.json"));
    }
  CHECK(bundles.size() == 20);
  std::set<std::string> recorded;
  nl::runs::LedgerFilter timing_runs;
  timing_runs.parts = true;
  for (const auto& entry : nl::runs::Ledger::open(scene.env["NL_STAGE_LEDGER"]).query(timing_runs)) recorded.insert(entry.run_id);
  CHECK(recorded.size() == 20);
  CHECK(scene.files_in(scene.out() / "runs") == 20);  // and no scraps of the lost ones
  CHECK(result["engine"] == "slurm");
  CHECK(result["verdict"] == "met");
}

TEST_CASE("slurm: Ctrl-C cancels what is queued and what runs, and keeps what ended") {
  if (const std::string why = why_no_cluster(); !why.empty()) NL_SKIP(why);
  ClusterScene scene;
  scene.write(
      "iterations: 2\nwarmup: 0\nprofile: none\ntargets:\n  a: {command: 'true'}\n  b: {command: 'touch $DIR/began; sleep 4252'}\n  c: "
      "{command: 'sleep 4252'}\n  d: {command: 'sleep 4252'}\n");
  const Outcome outcome = scene.nl_stage_signalled(scene.words(), scene.path / "began", SIGINT);
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 128 + SIGINT);
  CHECK(scene.cluster.queued().empty());
  CHECK(scene.log().find("CANCEL") != std::string::npos);
  CHECK(scene.result()["interrupted"] == true);
  CHECK(scene.result()["targets"][1]["runs"].empty());
}

TEST_CASE("slurm: what failed is tried again, and a pair whose runs are too short gets more work") {
  if (const std::string why = why_no_cluster(); !why.empty()) NL_SKIP(why);
  ClusterScene scene;
  scene.write(
      "iterations: 1\nwarmup: 0\nprofile: none\ntargets:\n  flaky: {command: 'test -e $DIR/once || { touch $DIR/once; exit 1; }'}\n"
      "  x_baseline:\n    command: 'sleep $(({size} - 1))'\n    size: {values: [1, 2, 9], least: 500ms}\n"
      "  x_optimized: {command: 'sleep $(({size} - 1))'}\n");
  auto words = scene.words();
  words.insert(words.end(), {"--retry-failed", "1"});
  const Outcome outcome = scene.nl_stage(words, 120);
  INFO(outcome.err << outcome.out << scene.log());
  const json targets = scene.result()["targets"];
  REQUIRE(targets[0]["runs"].size() == 1);
  CHECK(targets[0]["runs"][0]["outcome"] == "ok");
  CHECK(targets[0]["runs"][0]["attempts"] == 2);
  CHECK(scene.log().find(" flaky-1 attempt=2") != std::string::npos);
  for (const json& half : {targets[1], targets[2]}) {
    REQUIRE(half["runs"].size() == 2);
    CHECK(half["runs"][0]["size"] == 1);
    CHECK(half["runs"][1]["size"] == 2);  // takes a second: 9 is not needed
    CHECK(half["runs"][1]["outcome"] == "ok");
  }
  CHECK(scene.result()["pairs"][0]["size"] == 2);
}

TEST_CASE("slurm: after the command was killed --resume keeps what ended well, and ends the jobs that were left") {
  if (const std::string why = why_no_cluster(); !why.empty()) NL_SKIP(why);
  ClusterScene scene;
  // b waits until a has been collected.
  scene.write(
      "iterations: 1\nwarmup: 0\nprofile: none\ntargets:\n  a: {command: 'true'}\n"
      "  b: {command: 'test -e $DIR/go && exit 0; while ! test -e $DIR/out/progress.json; do sleep 0.1; done; touch $DIR/began; sleep "
      "4252'}\n");
  REQUIRE(scene.nl_stage_signalled(scene.words(), scene.path / "began", SIGKILL).status == 128 + SIGKILL);
  CHECK(!scene.cluster.queued().empty());
  std::ofstream(scene.path / "go") << "";
  auto words = scene.words();
  words.push_back("--resume");
  const Outcome outcome = scene.nl_stage(words, 120);
  INFO(outcome.err << outcome.out << scene.log());
  CHECK(outcome.status == 0);
  CHECK(scene.cluster.queued().empty());
  const json targets = scene.result()["targets"];
  CHECK(targets[0]["runs"][0]["reused"] == true);
  CHECK(targets[1]["runs"][0]["reused"] == false);
  CHECK(targets[1]["runs"][0]["outcome"] == "ok");
}

TEST_CASE("slurm: a task that leaves no result is tried three times, and its log named") {
  if (const std::string why = why_no_cluster(); !why.empty()) NL_SKIP(why);
  ClusterScene scene;
  scene.write("iterations: 1\nwarmup: 0\nprofile: none\nslurm: {program: /nonexistent/nl-stage}\ntargets: {a: {command: 'true'}}\n");
  const Outcome outcome = scene.nl_stage(scene.words());
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 5);
  const std::string reason = scene.result()["targets"][0]["runs"][0]["reason"];
  CHECK(reason.find("after 3 attempts") != std::string::npos);
  CHECK(reason.find("/nonexistent/nl-stage") != std::string::npos);
  scene.write("iterations: 1\nwarmup: 0\nprofile: none\nslurm: {partition: nowhere}\ntargets: {a: {command: 'true'}}\n");
  fs::remove_all(scene.out());
  const Outcome refused = scene.nl_stage(scene.words());
  CHECK(refused.status == 4);
  CHECK(refused.says("sbatch did not take the job: "));
  CHECK(refused.says("invalid partition"));
}

TEST_CASE("slurm: without Slurm the missing program is named") {
  Scene scene;
  std::ofstream(scene.path / "bench.yaml") << "targets: {a: {command: 'true'}}\n";
  scene.env["PATH"] = scene.path.string();
  const Outcome outcome =
      scene.nl_stage({"suite", (scene.path / "bench.yaml").string(), "--engine", "slurm", "--out", (scene.path / "out").string()});
  CHECK(outcome.status == 4);
  CHECK(outcome.says("sbatch was not found in PATH"));
}
