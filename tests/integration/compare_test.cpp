// What changed: captures, bundles and commands against each other, as a user compares them.
#include <fstream>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;
using nlohmann::json;

namespace {

const std::string kComparedCapture = (kFixtures / "h200-llama" / "nsys.sqlite").string();

json parsed(const Outcome& outcome) {
  INFO(outcome.err);
  return json::parse(outcome.out);
}

// A command that takes so long, and prints what it is told to.
fs::path sleeper(const Scene& scene, const std::string& name, const std::string& seconds, const std::string& says) {
  return scene.script(name, "#!/bin/sh\nsleep " + seconds + "\necho " + says + "\n");
}

std::vector<std::string> try_words(const Scene& scene, const fs::path& a, const fs::path& b, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"try",      "--a", a.string(),     "--b",     b.string(), "--warmup", "0",
                                    "--rounds", "6",   "--no-profile", "--quiet", "--json",   "--out",    (scene.path / "trial").string()};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("compare: a capture with itself has exactly nothing changed") {
  Scene scene;
  const json result = parsed(scene.nl_stage({"compare", kComparedCapture, "--to", kComparedCapture, "--json"}));
  CHECK(result["verdict"] == "unchanged");
  CHECK(result["reason"] == "no_difference");
  CHECK(result["waterfall"]["a_ns"] == result["waterfall"]["b_ns"]);
  for (const json& stage : result["kernels"])
    for (const json& pair : stage["pairs"]) CHECK(pair["paired_by"] == "exact");
}

TEST_CASE("compare: bundles and their run.json are as good as the capture, and files are written whole") {
  Scene scene;
  REQUIRE(import(scene, {kComparedCapture}).status == 0);
  const fs::path out = scene.path / "comparison";
  const Outcome outcome =
      scene.nl_stage({"compare", scene.bundle().string(), "--to", (scene.bundle() / "run.json").string(), "--out", out.string()});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  for (const char* file : {"compare.json", "compare.md", "compare.html"}) CHECK(fs::exists(out / file));
  CHECK(outcome.says("exactly as long as"));
  CHECK(scene.nl_stage({"validate", (out / "compare.json").string()}).status == 0);
  CHECK(scene.nl_stage({"compare", kComparedCapture, "--to", kComparedCapture, "--out", out.string()}).status ==
        8);  // nothing is overwritten
}

TEST_CASE("compare: a run that is given twice counts once, and that is said") {
  Scene scene;
  REQUIRE(import(scene, {kComparedCapture}).status == 0);
  const fs::path copy = scene.path / "copy.json", moved = scene.path / "moved.sqlite";
  fs::copy_file(scene.bundle() / "run.json", copy);
  fs::copy_file(kComparedCapture, moved);
  const std::string bundle = scene.bundle().string();
  for (const std::string& again : {bundle, bundle + "/", bundle + "/run.json", copy.string(), kComparedCapture, moved.string()}) {
    INFO(again);
    const json result = parsed(scene.nl_stage({"compare", bundle, again, "--to", kComparedCapture, "--json"}));
    CHECK(result["basis"] == "one_run_each");
    REQUIRE(result["a"]["runs"].size() == 1);
    CHECK(result["a"]["runs"][0]["given"] == 2);
    CHECK(result["b"]["runs"][0]["given"] == 1);
  }
  CHECK(scene.nl_stage({"compare", bundle, copy.string(), "--to", bundle}).says("one run was given more than once and counts once"));
}

TEST_CASE("compare: runs of different GPUs are refused unless forced") {
  Scene scene;
  REQUIRE(import(scene, {kComparedCapture}).status == 0);
  json other = scene.json("run.json");
  other["hardware"]["gpus"][0]["name"] = "NVIDIA A100";
  const fs::path file = scene.path / "a100.json";
  std::ofstream(file) << other.dump();
  const Outcome refused = scene.nl_stage({"compare", scene.bundle().string(), "--to", file.string()});
  CHECK(refused.status == 3);
  CHECK(refused.says("cannot be compared"));
  CHECK(refused.says("NVIDIA A100"));
  CHECK(scene.nl_stage({"compare", scene.bundle().string(), "--to", file.string(), "--force"}).status == 0);
}

TEST_CASE("compare: a regression has a status of its own where that is asked for") {
  Scene scene;
  REQUIRE(import(scene, {kComparedCapture}).status == 0);
  json slower = scene.json("run.json");
  slower["run_id"] = "slower";
  for (json& stage : slower["stages"]) {
    for (const char* figure : {"median_ns", "mean_ns"})
      if (stage["wall"][figure].is_number()) stage["wall"][figure] = stage["wall"][figure].get<double>() * 2;
    if (stage["series"].is_object())
      for (json& wall : stage["series"]["wall_ns"]) wall = wall.get<std::int64_t>() * 2;
  }
  const fs::path file = scene.path / "slower.json";
  std::ofstream(file) << slower.dump();
  const std::string bundle = scene.bundle().string();
  CHECK(scene.nl_stage({"compare", bundle, "--to", file.string()}).status == 0);
  CHECK(scene.nl_stage({"compare", bundle, "--to", file.string(), "--exit-code"}).status == 9);
  CHECK(scene.nl_stage({"compare", file.string(), "--to", bundle, "--exit-code"}).status == 0);
}

TEST_CASE("compare: what is neither a file nor in the ledger says where runs are listed") {
  Scene scene;
  const Outcome outcome = scene.nl_stage({"compare", "nowhere", "--to", kComparedCapture});
  CHECK(outcome.status == 3);
  CHECK(outcome.says("nl-stage ls"));
}

TEST_CASE("try: a slower command is found, and its other output is shown") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  const Outcome outcome = scene.nl_stage(try_words(scene, sleeper(scene, "a", "0.2", "ready"), sleeper(scene, "b", "0.4", "finished")));
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  const json trial = json::parse(outcome.out);
  CHECK(trial["verdict"] == "regressed");
  CHECK(trial["outputs"]["verdict"] == "different");
  CHECK(trial["outputs"]["first_difference"] == "line 1: A prints \"ready\", B \"finished\"");
  CHECK(trial["ended_by"] == "decided");
  CHECK(trial["rounds"].size() == 5);  // the first look decides
  CHECK(fs::exists(scene.path / "trial" / "compare.html"));
  CHECK(fs::exists(scene.path / "trial" / "rounds" / "a-01" / "run.json"));
}

TEST_CASE("try --predicted: prediction and outcome stand side by side, and the ledger keeps the pair") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  const json prediction = {{"changes", {"--host sleep=2"}},
                           {"stage", "command"},
                           {"unperturbed_ns", 2e8},
                           {"predicted_ns", 4e8},
                           {"low_ns", 3e8},
                           {"high_ns", 6e8},
                           {"refused", nullptr}};
  std::ofstream(scene.path / "whatif.json") << json{{"hardware", "a machine"}, {"predictions", {prediction}}}.dump();
  const std::string from = (scene.path / "whatif.json").string();
  const fs::path a = sleeper(scene, "a", "0.2", "ready"), b = sleeper(scene, "b", "0.4", "ready");
  const Outcome outcome = scene.nl_stage(try_words(scene, a, b, {"--predicted", from}));
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  const json predicted = json::parse(outcome.out)["predicted"];
  CHECK(predicted["from"] == from);
  CHECK(predicted["predicted_ratio"] == 2);
  CHECK(predicted["measured_ratio"].get<double>() > 1.3);
  CHECK(predicted["measured_low_ratio"].get<double>() <= predicted["measured_ratio"].get<double>());
  CHECK(json::parse(scene.text(scene.path / "trial" / "trial.json"))["predicted"] == predicted);
  CHECK(scene.text(scene.path / "trial" / "compare.md").find("Predicted +100 % (+50 to +200 %), measured ") != std::string::npos);
  CHECK(scene.text(scene.path / "trial" / "compare.html").find("Predicted +100 %") != std::string::npos);
  const json record = parsed(scene.nl_stage({"whatif", "--record", "--json"}));
  REQUIRE(record["machines"].size() == 1);
  CHECK(record["machines"][0]["hardware"] == "a machine");
  const json& pair = record["machines"][0]["pairs"][0];
  CHECK(pair["kind"] == "host");
  CHECK(pair["stage"] == "command");
  CHECK(pair["measured_ratio"] == predicted["measured_ratio"]);
  CHECK(pair["within"] == predicted["within"]);
}

TEST_CASE("try --predicted: a stage that no round has is said, and nothing is recorded") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  const json prediction = {{"changes", {"--pinned"}}, {"stage", "decode_step"}, {"unperturbed_ns", 2e8},
                           {"predicted_ns", 1e8},     {"low_ns", 9e7},          {"high_ns", 2e8}};
  std::ofstream(scene.path / "whatif.json") << json{{"predictions", {prediction}}}.dump();
  const fs::path a = sleeper(scene, "a", "0.1", "ready");
  const Outcome outcome =
      scene.nl_stage({"try", "--a", a.string(), "--b", a.string(), "--warmup", "0", "--rounds", "2", "--no-profile", "--quiet",
                      "--predicted", (scene.path / "whatif.json").string(), "--out", (scene.path / "trial").string()});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  CHECK(outcome.says("The prediction is not checked, and nothing is recorded: the rounds have no times of the stage decode_step"));
  CHECK(parsed(scene.nl_stage({"whatif", "--record", "--json"}))["machines"].empty());
}

TEST_CASE("try: a command that fails ends the trial, and what it left is kept") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  const fs::path broken = scene.script("broken", "#!/bin/sh\nexit 3\n");
  const Outcome outcome = scene.nl_stage(try_words(scene, sleeper(scene, "a", "0.1", "ready"), broken));
  CHECK(outcome.status == 5);
  const json trial = json::parse(outcome.out);
  CHECK(trial["trouble"].get<std::string>().starts_with("side B failed in round 1: "));
  CHECK(trial["verdict"] == "undecidable");
  CHECK(outcome.err.find("error: side B failed in round 1: ") != std::string::npos);
  CHECK(fs::exists(trial["log"].get<std::string>()));
  CHECK(outcome.err.find("where: " + trial["log"].get<std::string>()) != std::string::npos);
  CHECK(fs::exists(scene.path / "trial" / "trial.json"));
}

TEST_CASE("try: a warm-up that fails has the number of its folder, and no rounds are spoken of") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  const fs::path broken = scene.script("broken", "#!/bin/sh\nexit 3\n");
  const Outcome outcome =
      scene.nl_stage({"try", "--a", sleeper(scene, "a", "0.1", "ready").string(), "--b", broken.string(), "--warmup", "2", "--rounds", "6",
                      "--no-profile", "--quiet", "--json", "--out", (scene.path / "trial").string()});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 5);
  const json trial = json::parse(outcome.out);
  const std::string trouble = trial["trouble"];
  CHECK(trouble.starts_with("side B failed in warm-up 1: "));
  CHECK(trouble.ends_with(" ended with status 3"));
  CHECK(trial["log"].get<std::string>().find("/rounds/b-warmup-1/") != std::string::npos);
  CHECK_FALSE(outcome.says("the rounds before"));
}

TEST_CASE("bisect: what fails is told in sentences with one full stop") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  std::ofstream(scene.path / "candidates.txt") << sleeper(scene, "c0", "0.1", "ready").string() << "\n"
                                               << scene.script("broken", "#!/bin/sh\nexit 3\n").string() << "\n";
  const Outcome outcome = scene.nl_stage({"bisect", "--commands", (scene.path / "candidates.txt").string(), "--warmup", "0", "--rounds",
                                          "1", "--no-profile", "--quiet", "--out", (scene.path / "bisect").string()});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 5);
  CHECK(outcome.says("ended with status 3.\n"));
  CHECK_FALSE(outcome.says(".."));
}

TEST_CASE("try: a side that fails later leaves whole rounds alone") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  const fs::path tired =
      scene.script("tired", "#!/bin/sh\nls " + (scene.path / "runs").string() + " | grep -q 4 && { echo tired >&2; exit 4; }\ncd " +
                                (scene.path / "runs").string() + "; mkdir $(ls | wc -l)\nsleep 0.1\n");
  fs::create_directories(scene.path / "runs");
  const Outcome outcome =
      scene.nl_stage({"try", "--a", sleeper(scene, "a", "0.1", "ready").string(), "--b", tired.string(), "--warmup", "1", "--rounds", "6",
                      "--no-profile", "--quiet", "--json", "--out", (scene.path / "trial").string()});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 5);
  const json trial = json::parse(outcome.out);
  CHECK(trial["trouble"].get<std::string>().starts_with("side B failed in round 5: "));
  CHECK(trial["seed"].is_number());  // of the order of the rounds
  CHECK(scene.text(trial["log"].get<std::string>()).find("tired") != std::string::npos);
  CHECK(outcome.says("; the rounds before are kept and compared"));
  CHECK(trial["rounds"].size() == 5);
  const json comparison = json::parse(scene.text(scene.path / "trial" / "compare.json"));
  CHECK(comparison["a"]["runs"].size() == 4);
  CHECK(comparison["b"]["runs"].size() == 4);
}

TEST_CASE("bisect: the first slow command of a list is named") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  std::ofstream list(scene.path / "candidates.txt");
  for (const char* seconds : {"0.2", "0.2", "0.2", "0.6", "0.6"}) {
    static int number = 0;
    list << sleeper(scene, "c" + std::to_string(number++), seconds, "ready").string() << "\n";
  }
  list.close();
  const Outcome outcome =
      scene.nl_stage({"bisect", "--commands", (scene.path / "candidates.txt").string(), "--warmup", "0", "--rounds", "15",
                      "--minimum-effect", "60", "--no-profile", "--quiet", "--json", "--out", (scene.path / "bisect").string()});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  const json result = json::parse(outcome.out);
  CHECK(result["ended_by"] == "found");
  CHECK(result["first_bad"].get<std::string>().ends_with("/c3"));
  CHECK(result["last_good"].get<std::string>().ends_with("/c2"));
}

TEST_CASE("bisect: what too few rounds leave undecided is said to be so") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  std::ofstream(scene.path / "candidates.txt") << sleeper(scene, "c0", "0.5", "ready").string() << "\n"
                                               << sleeper(scene, "c1", "0.5", "ready").string() << "\n";
  const Outcome outcome = scene.nl_stage({"bisect", "--commands", (scene.path / "candidates.txt").string(), "--warmup", "0", "--rounds",
                                          "1", "--no-profile", "--quiet", "--out", (scene.path / "bisect").string()});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 9);
  CHECK(outcome.says("is undecided; more --rounds may decide it"));
  CHECK(json::parse(scene.text(scene.path / "bisect" / "bisect.json"))["first_bad"].is_null());
}
