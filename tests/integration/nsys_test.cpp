// The real nsys over the CPU workload: no GPU, but everything around it is as it will be.
#include <signal.h>

#include <thread>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

// The process whose command line has these words, among those with our mark.
pid_t find_process(const Scene& scene, const std::string& words) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (scene.text(entry.path() / "environ").find("NL_TEST_MARK=" + scene.env.at("NL_TEST_MARK")) == std::string::npos) continue;
    std::string line = scene.text(entry.path() / "cmdline");
    for (char& c : line) c = c == '\0' ? ' ' : c;
    if (line.find(words) != std::string::npos) return std::stoi(name);
  }
  return 0;
}

struct KillLater {
  std::thread thread;
  KillLater(const Scene& scene, const std::string& words, int after_ms) {
    thread = std::thread([&scene, words, after_ms] {
      pid_t pid = 0;
      for (int i = 0; i < 1500 && (pid = find_process(scene, words)) == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      std::this_thread::sleep_for(std::chrono::milliseconds(after_ms));
      if (pid > 0) kill(pid, SIGKILL);
    });
  }
  ~KillLater() { thread.join(); }
};

// Warm-up included: on a busy machine the first iteration may well be one.
std::map<std::string, int> windows_of(const nlohmann::json& run) {
  std::map<std::string, int> windows;
  for (const auto& stage : run["stages"]) windows[stage["name"]] = stage["count"].get<int>() + stage["warmup_windows"].get<int>();
  return windows;
}

}  // namespace

TEST_CASE("the real nsys over the CPU workload: stages in the bundle, no environment in the export") {
  Scene scene;
  if (!scene.use_real_nsys()) NL_SKIP("no nsys: set NL_STAGE_TEST_NSYS, or run tools/test");
  if (cpu_workload().empty()) NL_SKIP("the CPU workload was not built");
  scene.env["NL_SECRET_VARIABLE"] = "hunter2-of-the-target";
  const Outcome outcome = scene.nl_stage(light(scene, {cpu_workload(), "--steps", "8", "--iterations", "2"}));
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["status"] == "complete");
  CHECK(run["kernels"].is_null());
  auto stages = windows_of(run);
  CHECK(stages["prefill"] == 2);
  CHECK(stages["decode"] == 2);
  CHECK(scene.text(scene.bundle() / "nsys/run.sqlite").find("hunter2") == std::string::npos);
  for (const char* file : {"run.json", "config.yaml", "env.json", "nsys/cmd.txt", "manifest.json"})
    CHECK(scene.text(scene.bundle() / file).find("hunter2") == std::string::npos);
  CHECK(scene.still_running().empty());
}

TEST_CASE("the real nsys: --keep-env leaves the environment in the export") {
  Scene scene;
  if (!scene.use_real_nsys()) NL_SKIP("no nsys: set NL_STAGE_TEST_NSYS, or run tools/test");
  scene.env["NL_SECRET_VARIABLE"] = "hunter2-of-the-target";
  CHECK(scene.nl_stage(light(scene, {"/bin/sleep", "0.2"}, {"--keep-env"})).status == 0);
  CHECK(scene.text(scene.bundle() / "nsys/run.sqlite").find("hunter2") != std::string::npos);
}

TEST_CASE("the real nsys: the workload fails, crashes, hangs, or leaves children") {
  Scene scene;
  if (!scene.use_real_nsys()) NL_SKIP("no nsys: set NL_STAGE_TEST_NSYS, or run tools/test");
  SECTION("fails") {
    const Outcome outcome = scene.nl_stage(light(scene, {"/bin/sh", "-c", "exit 3"}));
    CHECK(outcome.status == 5);
    CHECK(scene.json("run.json")["workload"]["exit_status"] == 3);
  }
  SECTION("crashes") {
    const Outcome outcome = scene.nl_stage(light(scene, {"/bin/sh", "-c", "kill -SEGV $$"}));
    CHECK(outcome.status == 5);
    CHECK(outcome.says("SIGSEGV"));
  }
  SECTION("hangs") {
    const Outcome outcome = scene.nl_stage(light(scene, {"/bin/sleep", "4247"}, {"--set", "nsys.timeout_s=3"}));
    CHECK(outcome.status == 7);
    CHECK(scene.json("run.json")["status"] == "interrupted");
    CHECK(fs::exists(scene.bundle() / "nsys/run.sqlite"));
  }
  SECTION("leaves a child that ends by itself") {
    const Outcome outcome =
        scene.nl_stage(light(scene, {"/bin/sh", "-c", "(sleep 1; echo late > " + (scene.path / "late").string() + ") & exit 0"}));
    CHECK(outcome.status == 0);
    CHECK(fs::exists(scene.path / "late"));
  }
  SECTION("leaves a child that never ends") {
    const Outcome outcome = scene.nl_stage(light(scene, {"/bin/sh", "-c", "setsid sleep 4248 & exit 0"}, {"--set", "nsys.timeout_s=4"}));
    CHECK((outcome.status == 7 || outcome.status == 0));  // whether nsys waits for it depends on its version
  }
  CHECK(scene.still_running().empty());
  CHECK(fs::exists(scene.bundle() / "nsys/run.nsys-rep"));
  check_bundle(scene);
}

TEST_CASE("the real nsys is killed: nothing runs on, and its agent still gives the capture") {
  Scene scene;
  if (!scene.use_real_nsys()) NL_SKIP("no nsys: set NL_STAGE_TEST_NSYS, or run tools/test");
  const fs::path started = scene.path / "started";
  Outcome outcome;
  {
    KillLater later(scene, "nsys profile --trace", 2000);  // not the one that is asked for its --help
    outcome = scene.nl_stage(light(scene, {"/bin/sh", "-c", "touch " + started.string() + "; exec sleep 4249"}));
  }
  INFO(outcome.err);
  CHECK(outcome.status == 4);
  CHECK(outcome.says("nsys was killed by signal 9"));
  CHECK(scene.still_running().empty());
  check_bundle(scene);
  CHECK(fs::exists(scene.bundle() / "nsys/run.nsys-rep"));
  CHECK(fs::exists(scene.bundle() / "nsys/run.sqlite"));
}

TEST_CASE("the real nsys: Ctrl-C and SIGTERM keep what was captured") {
  Scene scene;
  if (!scene.use_real_nsys()) NL_SKIP("no nsys: set NL_STAGE_TEST_NSYS, or run tools/test");
  const int number = GENERATE(SIGINT, SIGTERM);
  const fs::path started = scene.path / "started";
  const Outcome outcome = scene.nl_stage_signalled(
      light(scene, {"/bin/sh", "-c", "sleep 1; touch " + started.string() + "; exec sleep 4250"}), started, number);
  INFO(outcome.err);
  CHECK(outcome.status == 128 + number);
  CHECK(scene.still_running().empty());
  check_bundle(scene);
  CHECK(scene.json("run.json")["status"] == "interrupted");
  CHECK(fs::exists(scene.bundle() / "nsys/run.sqlite"));
}

TEST_CASE("import exports a .nsys-rep with the real nsys") {
  Scene scene;
  if (!scene.use_real_nsys()) NL_SKIP("no nsys: set NL_STAGE_TEST_NSYS, or run tools/test");
  REQUIRE(scene.nl_stage(light(scene, {"/bin/sleep", "0.2"})).status == 0);
  const fs::path report = scene.path / "elsewhere.nsys-rep";
  fs::copy_file(scene.bundle() / "nsys/run.nsys-rep", report);
  fs::remove_all(scene.bundle());
  const Outcome outcome = scene.nl_stage({"import", "--nsys", report.string(), "--out", scene.bundle().string()});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(fs::exists(scene.bundle() / "nsys/run.sqlite"));
  check_bundle(scene);
}

TEST_CASE("without nsys the collector gives real stage timings, and says what is not captured") {
  Scene scene;
  if (cpu_workload().empty() || !fs::exists(fs::path(NL_BUILD_ROOT) / "collector/libnl_collector.so"))
    NL_SKIP("the CPU workload or the collector was not built");
  if (gpu_is_here()) NL_SKIP("with a GPU the collector records more than ranges");
  const Outcome outcome =
      scene.nl_stage(light(scene, {cpu_workload(), "--steps", "8", "--iterations", "2"}, {"--set", "nsys.enabled=false"}));
  INFO(outcome.err << outcome.out);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["provenance"]["captured_by"] == "collector (NVTX only)");
  CHECK(run["kernels"].is_null());
  CHECK(scene.text(scene.bundle() / "kernels.md").find("Not captured. No GPU was found") != std::string::npos);
  auto stages = windows_of(run);
  CHECK(stages["prefill"] == 2);
  CHECK(stages["decode"] == 2);
}
