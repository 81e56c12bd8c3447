// Deep runs that also measure the overhead of profiling: unprofiled passes in turn with traced ones, and the meters read.
#include <signal.h>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

bool have_parts() { return fs::exists(fs::path(NL_BUILD_ROOT) / "collector/libnl_collector.so") && !cpu_workload().empty(); }

std::vector<std::string> repeated(const Scene& scene, const std::vector<std::string>& more, const std::vector<std::string>& command) {
  std::vector<std::string> words = {"run",   "--config",         "deep", "--out", scene.bundle().string(), "--set", "run.stages=[prefill]",
                                    "--set", "ncu.enabled=false"};
  words.insert(words.end(), more.begin(), more.end());
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

int occurrences(const std::string& text, const std::string& word) {
  int found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

std::vector<std::string> passes(const nlohmann::json& run) {
  std::vector<std::string> names;
  for (const auto& pass : run["provenance"]["passes"]) names.push_back(pass["name"]);
  return names;
}

}  // namespace

TEST_CASE("perturbation: a deep run compares unprofiled with traced passes") {
  if (!have_parts()) NL_SKIP("the collector or the CPU workload was not built");
  Scene scene;
  scene.perturbation = true;
  scene.use_standins();
  const Outcome outcome = scene.nl_stage(repeated(scene, {"--set", "perturbation.repeats=2", "--set", "perturbation.most_repeats=0"},
                                                  {cpu_workload(), "--steps", "4", "--iterations", "3"}));
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(passes(run) == std::vector<std::string>{"unprofiled", "nsys", "nsys-export", "unprofiled", "nsys-repeat", "nsys-repeat-export",
                                                "operators", "operators-export"});
  const auto& perturbation = run["perturbation"];
  CHECK(perturbation["order"] == "unprofiled nsys unprofiled nsys");
  int compared = 0;
  for (const auto& row : perturbation["stages"]) {
    if (row["stage"] != "prefill") continue;
    ++compared;
    CHECK(row["profiler"] == "nsys");
    CHECK(row["bare_ns"].size() == 2);
    CHECK(row["profiled_ns"].size() == 2);
  }
  CHECK(compared == 1);
  CHECK(fs::exists(scene.bundle() / "unprofiled/1"));
  CHECK_FALSE(fs::exists(scene.bundle() / "perturbation"));
  // The first traced pass is heard, the others are not.
  CHECK(occurrences(outcome.err, "checksum") == 3);  // a line an iteration
  CHECK(occurrences(scene.text(scene.bundle() / "logs/unprofiled-2.stdout.log"), "checksum") == 3);
  CHECK(scene.still_running().empty());
}

TEST_CASE("perturbation: passes repeat until the overhead is decided, or no more are allowed") {
  if (!have_parts()) NL_SKIP("the collector or the CPU workload was not built");
  Scene scene;
  scene.perturbation = true;
  scene.use_standins();
  const Outcome outcome = scene.nl_stage(
      repeated(scene, {"--set", "perturbation.repeats=2", "--set", "perturbation.most_repeats=4", "--set", "perturbation.limit=3%"},
               {cpu_workload(), "--steps", "4", "--iterations", "3"}));
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  const auto& perturbation = run["perturbation"];
  CHECK(perturbation["limit"] == 0.03);
  const auto& decision = perturbation["decision"];
  CHECK(decision["stages"].size() == 1);  // prefill, or where the passes differ in work the longest stage
  // Which of the two depends on the machine.
  const bool decided = decision["undecided"].empty();
  CHECK(decision["end"] == (decided ? "decided" : "most repeats"));
  CHECK(occurrences(perturbation["order"], "unprofiled") == decision["passes"]);
  CHECK((decided ? decision["passes"] >= 2 : decision["passes"] == 4));
  CHECK(scene.text(scene.bundle() / "report.md").find(decision["summary"].get<std::string>()) != std::string::npos);
  CHECK_FALSE(fs::exists(scene.bundle() / "perturbation"));
}

TEST_CASE("energy: the meters are read during the passes") {
  if (!have_parts()) NL_SKIP("the collector or the CPU workload was not built");
  Scene scene;
  scene.perturbation = true;
  scene.use_standins();
  scene.env["NL_STAGE_NVML"] = std::string(NL_BUILD_ROOT) + "/tests/unit/orchestrator/libfake_nvml.so";
  // Long enough for the counter, which moves every 20 ms.
  const Outcome outcome = scene.nl_stage(repeated(scene, {"--set", "perturbation.repeats=1", "--set", "energy.interval_ms=5"},
                                                  {cpu_workload(), "--steps", "16", "--iterations", "4"}));
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["energy"]["pass"] == "unprofiled");
  REQUIRE(run["energy"]["devices"].size() == 1);
  const std::string samples = scene.text(scene.bundle() / "energy/samples.csv");
  CHECK(samples.find("\nunprofiled-1,") != std::string::npos);
  CHECK(samples.find("\nnsys,") != std::string::npos);
  CHECK(run["energy"]["devices"][0]["sm_clock_max_mhz"] == 1980);
  bool any = false;
  for (const auto& stage : run["energy"]["stages"]) {
    if (stage["joules_per_window"].is_null()) {
      CHECK_FALSE(stage["note"].get<std::string>().empty());
      continue;
    }
    any = true;
    // The fake draws 300 W always; its counter moves in steps of 6 J and is read some ms late, on a busy machine more.
    CHECK(stage["mean_power_w"].get<double>() == Approx(300).epsilon(0.15));
  }
  CHECK(any);
}

TEST_CASE("perturbation: Ctrl-C in an unprofiled pass ends the run") {
  if (!have_parts()) NL_SKIP("the collector or the CPU workload was not built");
  Scene scene;
  scene.perturbation = true;
  scene.use_standins();
  const std::string started = scene.env["NL_STARTED"];
  const Outcome outcome =
      scene.nl_stage_signalled(repeated(scene, {}, {"/bin/sh", "-c", "touch " + started + "; sleep 4261"}), started, SIGINT);
  CHECK(outcome.status == 130);
  CHECK(scene.still_running().empty());
  check_bundle(scene);
  CHECK(scene.json("run.json")["status"] == "interrupted");
  CHECK_FALSE(fs::exists(scene.bundle() / "nsys/run.nsys-rep"));
}

TEST_CASE("perturbation: the dry run shows the passes") {
  if (!have_parts()) NL_SKIP("the collector or the CPU workload was not built");
  Scene scene;
  scene.perturbation = true;
  scene.use_standins();
  const Outcome outcome = scene.nl_stage(repeated(scene, {"--dry-run"}, {"/bin/true"}));
  CHECK(outcome.says("unprofiled, timed by the NVTX collector (3 of 3)"));
  CHECK(outcome.says("perturbation/nsys-3.nsys-rep"));
}
