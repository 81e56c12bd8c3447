// The whole path, nsys → choose → ncu → match → bundle, on recorded captures of a real GPU run.
#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

std::vector<std::string> deep(const Scene& scene, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"run", "--config", "deep", "--out", scene.bundle().string(), "--set", "run.stages=[prefill]"};
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"--", "/bin/sh", "-c", "echo from the workload"});
  return words;
}

int ncu_runs(const Scene& scene) {
  const std::string text = scene.text(scene.env.at("NL_STARTED") + ".ncu");
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("run: an export that is not wanted is read and not kept") {
  Scene scene;
  scene.use_standins();
  const Outcome outcome = scene.nl_stage(deep(scene, {"--set", "nsys.export.sqlite=false"}));
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["kernels"].size() > 0);
  CHECK_FALSE(fs::exists(scene.bundle() / "nsys/run.sqlite"));
  CHECK(fs::exists(scene.bundle() / "nsys/run.nsys-rep"));
  CHECK(fs::exists(scene.bundle() / "nsys/run_cuda_gpu_kern_sum.csv"));
}

TEST_CASE("run: nsys, then ncu on the chosen kernels, one whole bundle") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_SECRET_VARIABLE"] = "hunter2-of-the-target";
  const Outcome outcome = scene.nl_stage(deep(scene));
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  CHECK(outcome.says("from the workload"));
  CHECK(outcome.out.find(scene.bundle().string()) != std::string::npos);
  CHECK(outcome.out.find("from the workload") == std::string::npos);  // stdout is ours
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["status"] == "complete");
  CHECK(run["provenance"]["captured_by"] == "nsys+ncu");
  CHECK(run["problems"].empty());
  int selected = 0;
  for (const auto& kernel : run["kernels"]) {
    if (kernel.value("selected", false)) ++selected;
    for (const auto& sample : kernel["ncu"]) {
      CHECK_FALSE(sample["nsys_median_ns"].is_null());
      CHECK_FALSE(sample["ncu_duration_ns"].is_null());
    }
  }
  CHECK(selected > 0);
  for (const char* file : {"nsys/cmd.txt", "nsys/run.nsys-rep", "nsys/run.sqlite", "nsys/run_cuda_gpu_kern_sum.csv", "ncu/cmd.txt",
                           "ncu/profile.ncu-rep", "ncu/raw.csv", "logs/nsys.stdout.log"}) {
    INFO(file);
    CHECK(fs::exists(scene.bundle() / file));
  }
  CHECK(scene.text(scene.bundle() / "nsys/run_cuda_gpu_kern_sum.csv") ==
        scene.text(fs::path(NL_FIXTURES) / "h200-probe/probe_node_cuda_gpu_kern_sum.csv"));
  for (const auto& entry : fs::recursive_directory_iterator(scene.bundle()))
    if (entry.is_regular_file()) {
      INFO(entry.path());
      CHECK(scene.text(entry.path()).find("hunter2-of-the-target") == std::string::npos);
    }
  CHECK(scene.still_running().empty());
}

TEST_CASE("run --json prints the result alone on stdout, --quiet keeps the workload's output in logs/") {
  Scene scene;
  scene.use_standins();
  const Outcome outcome = scene.nl_stage(deep(scene, {"--json", "--quiet"}));
  const auto result = nlohmann::json::parse(outcome.out);
  CHECK(result["status"] == "complete");
  CHECK(result["bundle"] == scene.bundle().string());
  CHECK(result["problems"].empty());
  CHECK(result["command"] == "/bin/sh -c 'echo from the workload'");
  CHECK(scene.text(scene.bundle() / "logs/nsys.stdout.log").find("from the workload") != std::string::npos);
}

TEST_CASE("run --dry-run prints every command, starts none and leaves nothing") {
  Scene scene;
  scene.use_standins();
  const Outcome outcome = scene.nl_stage(deep(scene, {"--dry-run"}));
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(outcome.says("nsys profile"));
  CHECK_FALSE(fs::exists(scene.bundle()));
}

TEST_CASE("run without --out makes a stamped folder in artifacts.dir") {
  Scene scene;
  scene.use_standins();
  const Outcome outcome = scene.nl_stage({"run", "--config", "light", "--name", "smoke", "--set",
                                          "artifacts.dir=" + (scene.path / "runs").string(), "--json", "--", "/bin/true"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  const std::string name = fs::path(nlohmann::json::parse(outcome.out)["bundle"].get<std::string>()).filename();
  CHECK(name.size() == std::string("20261115-010203-smoke-light").size());
  CHECK(name.find("-smoke-light") == 15);
}

TEST_CASE("fault: ncu measured nothing inside the ranges, and is tried again without them") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NCU"] = "none-inside-ranges";
  const Outcome outcome = scene.nl_stage(deep(scene));
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(ncu_runs(scene) == 2);
  CHECK(scene.json("run.json")["status"] == "complete");
  check_bundle(scene);
}

TEST_CASE("fault: ncu measured nothing at all: said, retried once, and no success is claimed") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NCU"] = "none";
  const Outcome outcome = scene.nl_stage(deep(scene));
  CHECK(outcome.status == 6);
  CHECK(ncu_runs(scene) == 2);
  CHECK(outcome.says("ncu profiled no kernel"));
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["status"] == "partial");
  for (const auto& kernel : run["kernels"])
    if (kernel.value("selected", false)) CHECK_FALSE(kernel["ncu_note"]["text"].get<std::string>().empty());
  CHECK(fs::exists(scene.bundle() / "nsys/run.sqlite"));
}

TEST_CASE("fault: ncu measured some of the chosen kernels: says which are missing") {
  Scene scene;
  scene.use_standins();
  std::vector<std::string> words = deep(scene);
  for (auto& word : words)
    if (word == "run.stages=[prefill]") word = "run.stages=[prefill,decode]";
  const Outcome outcome = scene.nl_stage(words);  // the recording is of prefill alone
  INFO(outcome.err);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  int missing = 0;
  for (const auto& kernel : run["kernels"])
    if (kernel.value("selected", false) && kernel["ncu"].empty()) ++missing;
  REQUIRE(missing > 0);
  CHECK(outcome.status == 6);
  CHECK(ncu_runs(scene) == 2);
  CHECK(run["status"] == "partial");
  CHECK(outcome.says("Missing: "));
  CHECK(fs::exists(scene.bundle() / "ncu/first-raw.csv"));
}

TEST_CASE("fault: ncu may not read the counters: the fix is named, nothing is retried") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NCU"] = "denied";
  const Outcome outcome = scene.nl_stage(deep(scene));
  CHECK(outcome.status == 4);
  CHECK(ncu_runs(scene) == 1);
  CHECK(outcome.says("ERR_NVGPUCTRPERM"));
  CHECK(outcome.says("NVreg_RestrictProfilingToAdminUsers=0"));
  check_bundle(scene);
  CHECK(scene.json("run.json")["status"] == "partial");
}

TEST_CASE("fault: the counters were busy: tried again the same way") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NCU"] = "busy-once";
  const Outcome outcome = scene.nl_stage(deep(scene));
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(ncu_runs(scene) == 2);
}

TEST_CASE("fault: ncu ends well without a report") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NCU"] = "no-report";
  const Outcome outcome = scene.nl_stage(deep(scene));
  CHECK(outcome.status == 6);
  CHECK(outcome.says("wrote no report"));
  check_bundle(scene);
}

TEST_CASE("fault: ncu cannot write its report") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NCU"] = "unwritable";
  const Outcome outcome = scene.nl_stage(deep(scene));
  CHECK(outcome.status == 6);
  CHECK(ncu_runs(scene) == 1);
  CHECK(outcome.says("could not write its report"));
}

TEST_CASE("fault: the workload fails under ncu after its kernels were measured") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NCU"] = "fails";
  const Outcome outcome = scene.nl_stage(deep(scene));
  CHECK(outcome.status == 6);
  check_bundle(scene);
  CHECK(scene.json("run.json")["status"] == "partial");
}

TEST_CASE("fault: ncu's report cannot be exported") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NCU"] = "export-fails";
  const Outcome outcome = scene.nl_stage(deep(scene));
  CHECK(outcome.status == 4);
  CHECK(outcome.says("ncu could not export its report"));
  CHECK(fs::exists(scene.bundle() / "ncu/profile.ncu-rep"));
  CHECK_FALSE(fs::exists(scene.bundle() / "ncu/raw.csv"));
  check_bundle(scene);
}

TEST_CASE("fault: the ncu pass outlives its timeout: what it measured is kept") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NCU"] = "hangs";
  std::vector<std::string> words = deep(scene, {"--set", "ncu.timeout_s=2"});
  words.back() = "test -e $NL_STARTED.ncu && exec sleep 4251; true";
  const Outcome outcome = scene.nl_stage(words);
  CHECK(outcome.status == 7);
  CHECK(outcome.says("--set ncu.timeout_s=8"));
  CHECK(scene.still_running().empty());
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["status"] == "interrupted");
  CHECK_FALSE(run["kernels"].empty());
}
