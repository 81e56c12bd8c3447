// A few bytes that once asked for all memory of the machine: refused in little memory, with file, place and what to do.
#include <fstream>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

using Words = std::vector<std::string>;

struct HostileScene : Scene {
  HostileScene() { prefix = {"/bin/sh", "-c", "ulimit -v 1500000; exec \"$0\" \"$@\""}; }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
  void refused(const Words& words, int status, const std::string& what, const std::string& where) {
    const Outcome outcome = nl_stage(words);
    INFO(words[0] << ": " << outcome.err);
    CHECK(outcome.status == status);
    CHECK(outcome.err.find("error: " + what) == 0);
    CHECK(outcome.err.find(where) != std::string::npos);
    CHECK(outcome.err.find("fix:") != std::string::npos);
    CHECK_FALSE(outcome.says("bug in nl-stage"));
  }
};

const std::string kDeep(20'000'000, '[');

}  // namespace

TEST_CASE("hostile: a comma as YAML, in a flag and in a file of every kind") {
  HostileScene scene;
  const std::string what = "this is no valid YAML: a value cannot begin with a comma", comma = scene.file("comma.yaml", ",");
  scene.refused({"plan", "--config", "light", "--set", "run.name=,", "--", "true"}, 2, what, "run.name");
  scene.refused({"plan", "--config", comma, "--", "true"}, 2, what, comma + ":1:1");
  scene.refused({"suite", comma}, 2, what, comma + ":1:1");
}

TEST_CASE("hostile: JSON of twenty million brackets") {
  HostileScene scene;
  const std::string what = "the JSON is nested more than 128 deep";
  const std::string run = scene.file("run.json", kDeep);
  scene.refused({"report", run, "--out", (scene.path / "r").string()}, 3, what, run + ", byte 129");
  scene.refused({"validate", run}, 3, what, run + ", byte 129");
}

TEST_CASE("hostile: trtexec's files of twenty million brackets") {
  HostileScene scene;
  const std::string profile =
      scene.file("profile.json", R"([{"count": 1}, {"name": "a", "timeMs": 1, "averageMs": 1, "medianMs": 1, "percentage": 100}])");
  scene.file("layers.json", "{\"Layers\": " + kDeep);
  scene.file("times.json", kDeep);
  for (const std::string name : {"layers.json", "times.json"}) {
    const Outcome outcome =
        scene.nl_stage({"import", profile, (scene.path / name).string(), "--out", (scene.path / ("b" + name)).string()});
    INFO(outcome.err);
    CHECK(outcome.status == 3);
    CHECK_FALSE(outcome.says("memory is not enough"));
    CHECK_FALSE(outcome.says("bug in nl-stage"));
  }
}

TEST_CASE("hostile: a batch that no memory can hold") {
  if (!have_collector()) NL_SKIP("built without the collector");
  HostileScene scene;
  const std::string model = scene.file("model.txt", "input x float32 batch 16\noutput y float32 1\n");
  const Outcome outcome =
      scene.nl_stage({"profile", "--backend", "fake", "--model", model, "--batch", "999999999999", "--out", scene.bundle().string()});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status != 0);
  CHECK(outcome.says("takes 64.0 TB, more than the "));
  CHECK(outcome.says("give smaller sizes with --batch, --dim or --shape"));
  CHECK_FALSE(outcome.says("bug in nl-stage"));
}
