// A model file as the workload: the whole path with a backend that does nothing, which is in every build.
#include <signal.h>

#include <fstream>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

std::string model_file(const Scene& scene, const std::string& text) {
  const fs::path file = scene.path / "model.txt";
  std::ofstream(file) << text;
  return file.string();
}

constexpr const char* kModel =
    "input x float32 batch 16\noutput y float32 1\nnode /a/MatMul MatMul 2000000\nnode /a/Add Add 500000\nsleep 2\n";

std::vector<std::string> profile(const Scene& scene, const std::string& model, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {
      "profile", "--backend", "fake", "--model", model, "--iterations", "5", "--out", scene.bundle().string()};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("profile: a model file leaves the bundle of a run, with the session in it") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  const Outcome outcome = scene.nl_stage(profile(scene, model_file(scene, kModel), {"--batch", "2"}));
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["status"] == "complete");
  CHECK(run["software"]["backend"] == "other");
  CHECK(run["software"]["backend_text"] == "fake");
  REQUIRE(run["session"].is_object());
  CHECK(run["session"]["inputs"][0]["shape"] == nlohmann::json{2, 16});
  CHECK(run["session"]["unprofiled"]["count"] == 5);
  CHECK(run["session"]["operators_ns"] == 2500000);
  REQUIRE(run["stages"].size() == 1);
  CHECK(run["stages"][0]["name"] == "inference");
  const auto& stage = run["stages"][0];  // on a busy machine the first iterations may count as warm-up
  CHECK(stage["count"].get<int>() + stage["warmup_windows"].get<int>() == 5);
  REQUIRE(run["operator_steps"].size() == 1);
  const auto& step = run["operator_steps"][0];
  CHECK(step["iterations"] == 5);
  REQUIRE(step["calls"].size() == 2);
  CHECK(step["calls"][0]["node"] == "/a/MatMul");
  CHECK(step["calls"][0]["op_type"] == "matmul");
  CHECK(step["calls"][0]["host_times"]["median_ns"] == 2000000);
  CHECK(run["operators"][0]["source"] == "fake");
  CHECK(scene.text(scene.bundle() / "operators.md").find("## One inference, node by node (fake)") != std::string::npos);
  CHECK(fs::exists(scene.bundle() / "session/session.json"));

  // The same from the bundle alone, elsewhere.
  const fs::path again = scene.path / "again";
  CHECK(scene.nl_stage({"import", scene.bundle().string(), "--out", again.string()}).status == 0);
  const auto imported = nlohmann::json::parse(scene.text(again / "run.json"));
  CHECK(imported["session"] == run["session"]);
  CHECK(imported["operator_steps"] == run["operator_steps"]);
}

TEST_CASE("profile: the profile that ONNX Runtime left gives the same nodes to import as to the run") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  const auto backends = nlohmann::json::parse(scene.nl_stage({"backends", "--json"}).out)["backends"];
  if (backends[0]["loads"] != true) NL_SKIP("ONNX Runtime: " + backends[0]["reason"].dump());
  const std::string model = NL_BUILD_ROOT "/tests/unit/adapters/models/loop.onnx";
  const Outcome outcome = scene.nl_stage({"profile", "--backend", "onnxruntime", "--model", model, "--batch", "2", "--seed", "7",
                                          "--iterations", "4", "--warmup", "0", "--threads", "1", "--out", scene.bundle().string()});
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.status == 0);
  const fs::path again = scene.path / "again";
  CHECK(scene.nl_stage({"import", (scene.bundle() / "session/session.profile.json").string(), "--out", again.string()}).status == 0);
  auto steps = scene.json("run.json")["operator_steps"], imported = nlohmann::json::parse(scene.text(again / "run.json"))["operator_steps"];
  REQUIRE(steps.size() == 1);
  CHECK(steps[0]["calls"].size() == 3);
  for (auto* side : {&steps, &imported})
    for (auto& call : (*side)[0]["calls"]) call.erase("holds");  // which the session alone knows
  CHECK(steps[0]["calls"] == imported[0]["calls"]);
  CHECK(steps[0]["iterations"] == imported[0]["iterations"]);
  CHECK(steps[0]["threads"] == imported[0]["threads"]);
}

TEST_CASE("profile: what is wrong with the model's inputs is said before anything runs") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  const Outcome outcome = scene.nl_stage(profile(scene, model_file(scene, kModel)));
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 2);
  CHECK(outcome.says("the model leaves sizes of its inputs open"));
  CHECK(outcome.says("give --dim batch=N"));
  CHECK_FALSE(fs::exists(scene.bundle()));
}

TEST_CASE("profile: a model that fails in the middle is a workload that failed") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  const Outcome outcome = scene.nl_stage(profile(scene, model_file(scene, "fail out of memory\n")));
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status != 0);
  CHECK(outcome.says("out of memory"));
}

TEST_CASE("profile: Ctrl-C ends a session, and nothing runs on") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  const std::string model = model_file(scene, "output y float32 1\nsleep 3600000\n");
  const Outcome outcome = scene.nl_stage_signalled(profile(scene, model), scene.bundle() / "logs/collector.stderr.log", SIGINT);
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 128 + SIGINT);
  CHECK(scene.still_running().empty());
  CHECK(scene.json("run.json")["status"] == "interrupted");
}

TEST_CASE("profile: a backend or a file that is not there leaves no bundle") {
  Scene scene;
  const Outcome backend = scene.nl_stage({"profile", "--backend", "tensorflow", "--model", "m", "--out", scene.bundle().string()});
  CHECK(backend.status == 2);
  CHECK(backend.says("there is no backend \"tensorflow\""));
  const Outcome file = scene.nl_stage(profile(scene, "/no/such/model.onnx"));
  CHECK(file.status != 0);
  CHECK(file.says("there is no such model file"));
  CHECK_FALSE(fs::exists(scene.bundle()));
}

TEST_CASE("profile: run with a backend has the same plan") {
  Scene scene;
  const std::string model = model_file(scene, kModel);
  const Outcome plan = scene.nl_stage({"run", "--config", "profile", "--backend", "fake", "--model", model, "--batch", "2", "--dry-run"});
  INFO(plan.err << plan.out);
  CHECK(plan.status == 0);
  CHECK(plan.says(" session --backend fake --model " + model));
  const Outcome listed = scene.nl_stage({"backends", "--json"});
  CHECK(listed.status == 0);
  const auto backends = nlohmann::json::parse(listed.out)["backends"];
  REQUIRE(backends.size() == 3);
  CHECK(backends[0]["name"] == "onnxruntime");
  for (const auto& backend : backends) CHECK((backend["loads"] == true) == backend["reason"].is_null());
}
