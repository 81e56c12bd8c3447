// Answers of --json, `show`, and what RUN means in each verb.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;
using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

const std::string kAnsweredCapture = (kFixtures / "h200-llama" / "nsys.sqlite").string();

// A scene with two imported runs, "before" and "after", in folders of these names; the newest is "after".
struct TwoRuns : Scene {
  std::string before, after, before_id, after_id;

  TwoRuns() {
    env["NL_STAGE_LEDGER"] = (path / "ledger.db").string();
    before_id = imported("before");
    after_id = imported("after");
    before = (path / "before").string();
    after = (path / "after").string();
  }
  std::string imported(const std::string& name) {
    return answer({"import", kAnsweredCapture, "--name", name, "--out", (path / name).string()})["run_id"];
  }
  nlohmann::json answer(Words words) {
    words.push_back("--json");
    const Outcome outcome = nl_stage(words);
    INFO(words[0] << ": " << outcome.err);
    REQUIRE(outcome.status == 0);
    return nlohmann::json::parse(outcome.out);
  }
};

std::size_t lines_of(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

void check_pointers(const json& node, const json& document) {
  if (node.is_object() && node.contains("pointer") && node["pointer"].is_string())
    CHECK(document.contains(json::json_pointer(node["pointer"].get<std::string>())));
  if (node.is_structured())
    for (const json& child : node) check_pointers(child, document);
}

}  // namespace

TEST_CASE("answers: import prints the answer, and show prints the same of the run, its bundle and its run.json") {
  TwoRuns runs;
  fs::remove_all(runs.path / "again");
  const Outcome outcome = runs.nl_stage({"import", kAnsweredCapture, "--name", "again", "--out", (runs.path / "again").string(), "--json"});
  CHECK(outcome.out.size() <= 9000);
  const json made = json::parse(outcome.out), document = json::parse(runs.text(runs.path / "again" / "run.json"));
  for (const char* key : {"run_id", "bundle", "status", "exit_status", "ledger", "problems"}) CHECK(made.contains(key));
  CHECK(made["exit_status"] == 0);
  CHECK(made["summary"].size() >= 2);
  CHECK(made["unit"]["stage"] == "decode_step");
  CHECK(made["actions"].size() >= 2);
  CHECK_FALSE(made["predictions"].empty());
  check_pointers(made, document);
  for (const std::string file : made["files"]) CHECK(fs::exists(runs.path / "again" / file));
  for (const std::string& name :
       {std::string("last"), std::string("again"), (runs.path / "again").string(), (runs.path / "again" / "run.json").string()}) {
    INFO(name);
    json shown = runs.answer({"show", name});
    for (const char* key : {"run_id", "summary", "unit", "budget", "actions", "findings", "predictions", "bundle", "ledger"})
      CHECK(shown[key] == made[key]);
    CHECK(shown["bundle_state"] == "whole");
    CHECK(shown["exit_status"].is_null());
  }
}

TEST_CASE("answers: they fit their schema") {
  TwoRuns runs;
  const std::string file = (runs.path / "answer.json").string();
  for (const Words& words : {Words{"show", "last"}, Words{"show", runs.before}, Words{"show", "last", "--metrics"}}) {
    std::ofstream(file) << runs.answer(words).dump();
    const Outcome outcome = runs.nl_stage({"validate", file});
    INFO(outcome.err);
    CHECK(outcome.status == 0);
  }
  json wrong = runs.answer({"show", "last"});
  wrong["unit"].erase("windows");
  std::ofstream(file) << wrong.dump();
  CHECK(runs.nl_stage({"validate", file}).says("not a valid answer"));
}

TEST_CASE("show: fifteen lines of eighty places, the metrics behind a flag") {
  TwoRuns runs;
  runs.env["NO_COLOR"] = "1";
  runs.nl_stage({"tag", "last", "baseline"});
  runs.nl_stage({"note", "last", "clocks locked at 1980 MHz"});
  for (const Words& words : {Words{"show", "last"}, Words{"show", "before"}}) {
    const Outcome shown = runs.nl_stage_on_terminal(words, 80);
    INFO(shown.out);
    CHECK(shown.status == 0);
    CHECK(lines_of(shown.out) <= 15);
    CHECK(shown.says("decode_step: "));
    CHECK(shown.says("1. "));
    CHECK(shown.says("launch-starved"));
    CHECK(shown.says("report.html"));
    CHECK_FALSE(shown.says("\x1b[3"));  // NO_COLOR
  }
  CHECK(runs.nl_stage_on_terminal({"show", "last"}, 80).says("tags: baseline; note of "));
  runs.env["NO_COLOR"] = "";
  CHECK(runs.nl_stage_on_terminal({"show", "last"}, 80).says("\x1b[31m"));
  const Outcome metrics = runs.nl_stage({"show", "last", "--metrics"});
  CHECK(lines_of(metrics.out) > 60);
  CHECK(metrics.says("stage.decode_step.median_ms"));
  CHECK(metrics.says("note       2"));
}

TEST_CASE("show: a bundle that no ledger knows, and one that lacks a file") {
  TwoRuns runs;
  runs.env["NL_STAGE_LEDGER"] = "off";
  const json shown = runs.answer({"show", runs.before});
  CHECK(shown["run_id"] == runs.before_id);
  CHECK(shown["ledger"].is_null());
  CHECK(shown["tags"].empty());
  runs.env["NL_STAGE_LEDGER"] = (runs.path / "nowhere.db").string();
  CHECK(runs.nl_stage({"show", runs.before}).status == 0);
  fs::remove(runs.path / "before" / "kernels.md");
  const json part = runs.answer({"show", runs.before});
  CHECK(part["bundle_state"] == "files are missing");
  CHECK(part["missing_files"] == json{"kernels.md"});
  CHECK(runs.nl_stage({"show", runs.before}).says("(files are missing)"));
}

TEST_CASE("RUN: every verb takes a name of the ledger, a bundle and a run.json") {
  TwoRuns runs;
  const std::string file = (runs.path / "after" / "run.json").string();
  for (const std::string& run :
       {std::string("last"), runs.after_id, runs.after_id.substr(0, runs.after_id.size() - 2), std::string("after"), runs.after, file}) {
    INFO(run);
    const std::vector<Words> all = {{"report", run, "--out", (runs.path / "rendered").string()},
                                    {"validate", run},
                                    {"show", run},
                                    {"tag", run, "x"},
                                    {"note", run, "x"},
                                    {"rm", run, "--dry-run"},
                                    {"gate", run, "--list"},
                                    {"fingerprint", run, "--kernels"},
                                    {"compare", run, runs.before},
                                    {"export", run, "-o", (runs.path / "run.nlz").string()}};
    for (const Words& words : all) {
      const Outcome outcome = runs.nl_stage(words);
      INFO(words[0] << ": " << outcome.out << outcome.err);
      CHECK(outcome.status == 0);
    }
    fs::remove_all(runs.path / "rendered");
    fs::remove(runs.path / "run.nlz");
    const Outcome nodes = runs.nl_stage({"nodes", run, run});
    CHECK((nodes.status == 0 || nodes.says("the run has no operators one by one")));
  }
  CHECK(runs.answer({"show", "last"})["tags"] == json{"x"});
}

TEST_CASE("RUN: rm --bundles does not take a copy for the bundle") {
  TwoRuns runs;
  const fs::path copy = runs.path / "copy";
  fs::copy(runs.after, copy, fs::copy_options::recursive);
  const Outcome refused = runs.nl_stage({"rm", copy.string(), "--bundles"});
  CHECK(refused.status == 3);
  CHECK(refused.says("in another folder"));
  CHECK(fs::exists(copy / "run.json"));
  CHECK(fs::exists(runs.path / "after" / "run.json"));
  CHECK(runs.nl_stage({"rm", runs.after, "--bundles"}).status == 0);
  CHECK_FALSE(fs::exists(runs.after));
}

TEST_CASE("compare: two runs are A and B, more of them need --to") {
  TwoRuns runs;
  CHECK(runs.answer({"compare", runs.before, runs.after, "--force"})["b"] ==
        runs.answer({"compare", runs.before, "--to", runs.after, "--force"})["b"]);
  const Outcome one = runs.nl_stage({"compare", "last"}), three = runs.nl_stage({"compare", "last", "last~1", "last"});
  CHECK(one.status == 2);
  CHECK(one.says("name a second run: nl-stage compare A B"));
  CHECK(three.status == 2);
  CHECK(three.says("put --to before the runs of side B"));
}

TEST_CASE("validate: standard input, files of other programs, and no words of a library") {
  TwoRuns runs;
  runs.prefix = {"/bin/sh", "-c", "exec \"$0\" \"$@\" < '" + (runs.path / "after" / "run.json").string() + "'"};
  CHECK(runs.nl_stage({"validate", "-"}).says("standard input: valid"));
  runs.prefix.clear();
  std::ofstream(runs.path / "trial.json") << R"({"verdict": "unchanged", "comparison": "compare.json"})";
  const Outcome trial = runs.nl_stage({"validate", (runs.path / "trial.json").string()});
  CHECK(trial.status == 3);
  CHECK_FALSE(trial.says("not a valid run.json"));
  const Outcome text = runs.nl_stage({"validate", "/etc/passwd"});
  CHECK(text.status == 3);
  CHECK(text.says("not JSON: "));
  CHECK_FALSE(text.says("json.exception"));
}

TEST_CASE("import: a bundle without its capture says so, and what still works") {
  TwoRuns runs;
  const Outcome outcome = runs.nl_stage({"import", runs.after, "--out", (runs.path / "new").string()});
  CHECK(outcome.status == 3);
  CHECK(outcome.says("this bundle has no capture: nsys/run.sqlite is missing"));
  CHECK(outcome.says("nl-stage report "));
  CHECK_FALSE(fs::exists(runs.path / "new"));
}

TEST_CASE("export: what it leaves out anyway need not be there, anything else must") {
  Scene scene;
  scene.env["NL_STAGE_LEDGER"] = (scene.path / "ledger.db").string();
  scene.use_standins();
  REQUIRE(scene.nl_stage(light(scene, {"/bin/true"})).status == 0);
  REQUIRE(fs::remove(scene.bundle() / "nsys" / "run.nsys-rep"));
  const std::string archive = (scene.path / "run.nlz").string();
  CHECK(json::parse(scene.nl_stage({"show", scene.bundle().string(), "--json"}).out)["missing_files"] == json{"nsys/run.nsys-rep"});
  const Outcome exported = scene.nl_stage({"export", scene.bundle().string(), "-o", archive});
  INFO(exported.err);
  CHECK(exported.status == 0);
  fs::remove(archive);
  CHECK(scene.nl_stage({"export", scene.bundle().string(), "-o", archive, "--keep-env"}).status == 3);
  fs::remove(scene.bundle() / "report.md");
  CHECK(scene.nl_stage({"export", scene.bundle().string(), "-o", archive}).status == 3);
}

TEST_CASE("gate: a metric that no run has is a slip, and one run that is given twice counts once") {
  TwoRuns runs;
  const std::string file = (runs.path / "perf.yaml").string();
  const Outcome wrong = runs.nl_stage({"gate", "last", "-e", file, "--update", "--metric", "stage.decode_stp.median_ms"});
  CHECK(wrong.status == 2);
  CHECK(wrong.says("no metric of these runs is 'stage.decode_stp.median_ms'"));
  CHECK(wrong.says("did you mean 'stage.decode_step.median_ms'?"));
  CHECK_FALSE(fs::exists(file));
  const Outcome twice = runs.nl_stage({"gate", "last", runs.after, "-e", file, "--update"});
  CHECK(twice.status == 0);
  CHECK(twice.says("is given more than once; it counts once"));
  CHECK(runs.text(file).find(runs.after_id + " " + runs.after_id) == std::string::npos);
}

TEST_CASE("stats: errors of --format json are JSON, too") {
  Scene scene;
  const Outcome outcome = scene.nl_stage({"stats", "--format", "json", "nosuch.sqlite"});
  CHECK(outcome.status == 3);
  CHECK(json::parse(outcome.out)["error"]["exit_status"] == 3);
}

TEST_CASE("profile: what is wrong with the model is said once, before a bundle is made") {
  Scene scene;
  scene.env["NL_STAGE_LEDGER"] = (scene.path / "ledger.db").string();
  std::ofstream(scene.path / "model.txt") << "input x float32 batch 16\noutput y float32 1\n";
  const Outcome open =
      scene.nl_stage({"profile", "--backend", "fake", "--model", (scene.path / "model.txt").string(), "--out", scene.bundle().string()});
  CHECK(open.status == 2);
  CHECK(open.err.find("the model leaves sizes of its inputs open") == open.err.rfind("the model leaves sizes of its inputs open"));
  CHECK(open.says("give --dim batch=N"));
  CHECK_FALSE(fs::exists(scene.bundle()));
  CHECK_FALSE(fs::exists(scene.path / "ledger.db"));
  const auto backends = json::parse(scene.nl_stage({"backends", "--json"}).out)["backends"];
  if (backends[0]["loads"] != true) NL_SKIP("ONNX Runtime: " + backends[0]["reason"].dump());
  const Outcome text = scene.nl_stage({"profile", "--backend", "onnxruntime", "--model", "/etc/passwd", "--out", scene.bundle().string()});
  CHECK(text.status == 3);
  CHECK(text.says("this is no ONNX file"));
  CHECK_FALSE(fs::exists(scene.bundle()));
}

TEST_CASE("run: a program that ended well and left nothing to capture is not called failed") {
  if (!have_collector()) NL_SKIP("built without the collector");
  if (gpu_is_here()) NL_SKIP("there is a GPU: the collector records its calls");
  Scene scene;
  const Outcome outcome = scene.nl_stage(light(scene, {"/bin/true"}));
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 6);
  CHECK(outcome.says("The workload ended by itself with status 0, but nothing of it was captured."));
  CHECK_FALSE(outcome.says("The run failed"));
}

TEST_CASE("completion: the shells propose runs, tags, metrics and schemas, and nothing that they would execute") {
  TwoRuns runs;
  runs.nl_stage({"tag", "last", "baseline"});
  runs.nl_stage({"tag", "last", "$(touch,owned)"});
  const Outcome names = runs.nl_stage({"ls", "--names"}), metrics = runs.nl_stage({"ls", "--metric-names"});
  CHECK(names.says(runs.after_id + "\n"));
  CHECK(names.says("before\n"));
  CHECK(names.says("tag:baseline\n"));
  CHECK_FALSE(names.says("$"));
  CHECK(metrics.says("stage.decode_step.median_ms\n"));
  runs.env["NL_STAGE_LEDGER"] = (runs.path / "nowhere.db").string();
  const Outcome silent = runs.nl_stage({"ls", "--names"});
  CHECK(silent.status == 0);
  CHECK(silent.out + silent.err == "");
  CHECK_FALSE(fs::exists(runs.path / "nowhere.db"));
}
