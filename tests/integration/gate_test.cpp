// nl-stage gate as CI calls it: exit statuses, annotations, JUnit, and the file that --update writes.
#include <fstream>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

const std::string kLlamaRun = (kFixtures / "golden/h200-llama/run.json").string();

// Expects half the time that the run took.
void expect_too_much(const fs::path& file) {
  std::ofstream(file) << "version: 1\nhardware:\n  NVIDIA H200:\n    tpot_ms:\n      expected: 2.1  # ambitious\n"
                         "      provenance: {run: r, commit: c, nl_stage: v, captured_by: import (nsys-sqlite), model: h200-llama}\n";
}

}  // namespace

TEST_CASE("gate: writes its file, passes on the run that it is from, and fails on a regression with status 9") {
  Scene scene;
  const std::string file = (scene.path / "perf.yaml").string(), junit = (scene.path / "gate.xml").string();
  Outcome outcome = scene.nl_stage({"gate", kLlamaRun, "-e", file, "--update"});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  CHECK(outcome.says("wrote " + file));
  outcome = scene.nl_stage({"gate", kLlamaRun, "-e", file, "--json"});
  CHECK(outcome.status == 0);
  CHECK(nlohmann::json::parse(outcome.out)["passed"] == true);

  expect_too_much(file);
  outcome = scene.nl_stage({"gate", kLlamaRun, "-e", file, "--github", "--markdown", "--junit", junit});
  CHECK(outcome.status == 9);
  CHECK(outcome.err.starts_with("::error file="));
  CHECK(outcome.out.starts_with("**Failed: 1 regressed.**"));
  CHECK(scene.text(junit).find("failures=\"1\"") != std::string::npos);
  CHECK(scene.nl_stage({"gate", kLlamaRun, "-e", file, "--update"}).status == 0);
  CHECK(scene.text(file).find("expected: 4.26148  # ambitious") != std::string::npos);
}

TEST_CASE("gate: on a terminal the verdict is green or red, unless NO_COLOR is set") {
  Scene scene;
  const std::string file = (scene.path / "perf.yaml").string();
  scene.nl_stage({"gate", kLlamaRun, "-e", file, "--update"});
  CHECK(scene.nl_stage_on_terminal({"gate", kLlamaRun, "-e", file}, 80).says("\n\x1b[32mPassed: "));
  expect_too_much(file);
  const Outcome failed = scene.nl_stage_on_terminal({"gate", kLlamaRun, "-e", file}, 80);
  CHECK(failed.says("\n\x1b[31mFailed: 1 regressed.\x1b[0m\n"));
  CHECK(scene.nl_stage({"gate", kLlamaRun, "-e", file}).out.ends_with("\nFailed: 1 regressed.\n"));
  scene.env["NO_COLOR"] = "1";
  CHECK(scene.nl_stage_on_terminal({"gate", kLlamaRun, "-e", file}, 80).out.find('\x1b') == std::string::npos);
}

TEST_CASE("gate: wrong words, files and runs have the statuses of docs/exit-status.md") {
  Scene scene;
  const std::string file = (scene.path / "perf.yaml").string();
  CHECK(scene.nl_stage({"gate", kLlamaRun}).status == 2);
  CHECK(scene.nl_stage({"gate", kLlamaRun, "-e", file}).status == 2);
  expect_too_much(file);
  CHECK(scene.nl_stage({"gate", (scene.path / "none").string(), "-e", file}).status == 3);
  const Outcome mixed = scene.nl_stage({"gate", (kFixtures / "golden/kineto/run.json").string(), "-e", file});
  CHECK(mixed.status == 3);
  CHECK(mixed.says("was captured by 'import (kineto)'"));
  CHECK(scene.nl_stage({"gate", kLlamaRun, "-e", "/proc/no/perf.yaml", "--update"}).status == 8);
  std::ofstream(file) << "version: 7\n";
  CHECK(scene.nl_stage({"gate", kLlamaRun, "-e", file}).status == 2);
}
