// Ctrl-C and SIGTERM in every pass: what was captured is kept in a bundle that says so, and nothing runs on.
#include <signal.h>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

std::vector<std::string> deep_of(const Scene& scene, const std::string& workload) {
  return {"run", "--config", "deep", "--out", scene.bundle().string(), "--set", "run.stages=[prefill]", "--", "/bin/sh", "-c", workload};
}

void check_interrupted(Scene& scene, const Outcome& outcome, int number) {
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 128 + number);
  CHECK(scene.still_running().empty());
  check_bundle(scene);
  CHECK(scene.json("run.json")["status"] == "interrupted");
}

}  // namespace

TEST_CASE("Ctrl-C in the nsys pass: its report is exported and imported") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NSYS"] = "hangs";
  const int number = GENERATE(SIGINT, SIGTERM);
  const Outcome outcome = scene.nl_stage_signalled(deep_of(scene, "sleep 4244"), scene.env["NL_STARTED"], number);
  check_interrupted(scene, outcome, number);
  CHECK_FALSE(scene.json("run.json")["kernels"].empty());
  CHECK_FALSE(fs::exists(scene.env["NL_STARTED"] + ".ncu"));
}

TEST_CASE("Ctrl-C in the export: the report is kept, half an export is not") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NSYS"] = "export-hangs";
  const Outcome outcome = scene.nl_stage_signalled(deep_of(scene, "true"), scene.env["NL_STARTED"], SIGINT);
  check_interrupted(scene, outcome, SIGINT);
  CHECK(fs::exists(scene.bundle() / "nsys/run.nsys-rep"));
  CHECK_FALSE(fs::exists(scene.bundle() / "nsys/run.sqlite"));
}

TEST_CASE("Ctrl-C in the ncu pass: what it measured until then is read") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NCU"] = "hangs";
  // Quick under nsys, endless under ncu.
  const std::string workload = "test -e $NL_STARTED.ncu && exec sleep 4245; true";
  const Outcome outcome = scene.nl_stage_signalled(deep_of(scene, workload), scene.env["NL_STARTED"], SIGINT);
  check_interrupted(scene, outcome, SIGINT);
  int measured = 0;
  const auto run = scene.json("run.json");
  for (const auto& kernel : run["kernels"]) measured += static_cast<int>(kernel["ncu"].size());
  CHECK(measured > 0);
}

TEST_CASE("SIGTERM in ncu's export: the report is kept, half a CSV is not") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NCU"] = "export-hangs";
  const Outcome outcome = scene.nl_stage_signalled(deep_of(scene, "true"), scene.env["NL_STARTED"], SIGTERM);
  check_interrupted(scene, outcome, SIGTERM);
  CHECK(fs::exists(scene.bundle() / "ncu/profile.ncu-rep"));
  CHECK_FALSE(fs::exists(scene.bundle() / "ncu/raw.csv"));
}

TEST_CASE("Ctrl-C in the collector pass") {
  if (!fs::exists(fs::path(NL_BUILD_ROOT) / "collector/libnl_collector.so")) NL_SKIP("the collector was not built");
  Scene scene;
  scene.env["NL_STARTED"] = (scene.path / "started").string();
  const Outcome outcome = scene.nl_stage_signalled({"run", "--config", "light", "--set", "nsys.enabled=false", "--out",
                                                    scene.bundle().string(), "--", "/bin/sh", "-c", "touch $NL_STARTED; sleep 4246"},
                                                   scene.env["NL_STARTED"], SIGINT);
  check_interrupted(scene, outcome, SIGINT);
}

TEST_CASE("a second Ctrl-C does not wait for a stubborn workload, and still leaves a bundle") {
  if (!fs::exists(fs::path(NL_BUILD_ROOT) / "collector/libnl_collector.so")) NL_SKIP("the collector was not built");
  Scene scene;
  scene.env["NL_STARTED"] = (scene.path / "started").string();
  const Outcome outcome =
      scene.nl_stage_signalled({"run", "--config", "light", "--set", "nsys.enabled=false", "--out", scene.bundle().string(), "--",
                                "/bin/sh", "-c", "trap '' INT; touch $NL_STARTED; while :; do sleep 1; done"},
                               scene.env["NL_STARTED"], SIGINT, 2);
  check_interrupted(scene, outcome, SIGINT);
}
