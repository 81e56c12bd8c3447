#include <fstream>

#include "tests/catch.h"
#include "tests/integration/harness.h"

// The verbs of the ledger, as a user calls them, on runs that were imported a moment ago.
using nl::test::have_collector, nl::test::Outcome, nl::test::Scene;

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const std::string kCapture = (nl::test::kFixtures / "h200-probe" / "probe_node.sqlite").string();

std::string run_id_of(const Outcome& imported) { return nlohmann::json::parse(imported.out)["run_id"]; }

// Imports the capture under this name; its run id.
std::string imported_as(Scene& scene, const std::string& name, const Words& more = {}) {
  Words words = {"import", kCapture, "--name", name, "--out", (scene.path / name).string(), "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const Outcome outcome = scene.nl_stage(words);
  REQUIRE(outcome.status == 0);
  return run_id_of(outcome);
}

nlohmann::json json_of(Scene& scene, Words words) {
  words.push_back("--json");
  const Outcome outcome = scene.nl_stage(words);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return nlohmann::json::parse(outcome.out);
}

}  // namespace

TEST_CASE("ledger: a run is recorded as it ends, found by words and fields, and shown") {
  Scene scene;
  const std::string first = imported_as(scene, "morning"), second = imported_as(scene, "evening");
  const auto all = json_of(scene, {"ls"})["runs"];
  REQUIRE(all.size() == 2);
  CHECK(all[0]["run_id"] == second);
  CHECK(all[0]["gpu"] == "NVIDIA H200");
  CHECK(all[0]["bundle"] == (scene.path / "evening").string());
  CHECK(json_of(scene, {"ls", "morning", "h200"})["runs"].size() == 1);
  CHECK(json_of(scene, {"ls", "--gpu", "A100"})["runs"].empty());
  CHECK(json_of(scene, {"ls", "--since", "1h", "--name", "morning"})["runs"][0]["run_id"] == first);

  const Outcome table = scene.nl_stage({"ls", "--metric", "tpot_ms", "--limit", "1"});
  CHECK(table.says("tpot_ms"));
  CHECK(table.says(second));
  CHECK_FALSE(table.says(first));
  CHECK(table.says("There are more: --limit 0 lists all."));

  const auto shown = json_of(scene, {"show", "morning", "--metrics"});
  CHECK(shown["run_id"] == first);
  CHECK(shown["bundle_state"] == "whole");
  CHECK(shown["metrics"]["tpot_ms"].is_number());
  CHECK(scene.nl_stage({"show", "last~1", "--run-json"}).out == scene.text(scene.path / "morning" / "run.json"));
}

TEST_CASE("ledger: tags and notes, and what rm removes") {
  Scene scene;
  const std::string first = imported_as(scene, "one"), second = imported_as(scene, "two"), third = imported_as(scene, "three");
  CHECK(json_of(scene, {"tag", "one", "baseline", "v1"})["tags"] == Words{"baseline", "v1"});
  CHECK(json_of(scene, {"tag", "one", "v1", "--remove"})["tags"] == Words{"baseline"});
  CHECK(json_of(scene, {"note", "tag:baseline", "clocks locked at 1980 MHz"})["notes"] == 1);
  CHECK(json_of(scene, {"ls", "1980"})["runs"][0]["run_id"] == first);
  CHECK(scene.nl_stage({"tag", "one", "two words"}).status == 2);

  CHECK(json_of(scene, {"rm", "--keep-last", "1", "--dry-run"})["removed"] == Words{second});
  CHECK(json_of(scene, {"ls"})["runs"].size() == 3);
  CHECK(json_of(scene, {"rm", "--keep-last", "1"})["removed"] == Words{second});
  CHECK(fs::exists(scene.path / "two" / "run.json"));  // the bundle stays
  CHECK(json_of(scene, {"rm", "one", "--bundles"})["removed"] == Words{first});
  CHECK_FALSE(fs::exists(scene.path / "one"));
  CHECK(scene.nl_stage({"rm", "one"}).status == 3);
  CHECK(scene.nl_stage({"rm"}).status == 2);
  CHECK(json_of(scene, {"ls"})["runs"][0]["run_id"] == third);
}

TEST_CASE("ledger: a bundle that is gone, half or another's is said so, and only its own is deleted") {
  Scene scene;
  imported_as(scene, "run");
  fs::remove(scene.path / "run" / "manifest.json");
  CHECK(json_of(scene, {"show", "run"})["bundle_state"] == "incomplete");
  CHECK(scene.nl_stage({"rm", "run", "--bundles"}).status == 3);
  CHECK(fs::exists(scene.path / "run" / "run.json"));
  fs::remove_all(scene.path / "run");
  CHECK(json_of(scene, {"show", "run"})["bundle_state"] == "not here");
  const std::string text = scene.nl_stage({"show", "run", "--run-json"}).out;
  CHECK(nlohmann::json::parse(text)["name"] == "run");
  CHECK(scene.nl_stage({"rm", "run", "--bundles"}).status == 0);
}

TEST_CASE("ledger: rm deletes what the manifest lists, and keeps and names the rest") {
  Scene scene;
  imported_as(scene, "one", {"--copy"});
  imported_as(scene, "two");
  const fs::path folder = scene.path / "one";
  std::ofstream(folder / "notes.txt") << "my analysis";
  std::ofstream(folder / "nsys" / "mine.txt") << "mine";
  fs::rename(scene.path / "two", folder / "second");
  const Words kept = {(folder / "notes.txt").string(), (folder / "nsys" / "mine.txt").string(), (folder / "second").string()};
  CHECK(json_of(scene, {"rm", "one", "--bundles", "--dry-run"})["kept"] == kept);
  CHECK(fs::exists(folder / "run.json"));
  const Outcome outcome = scene.nl_stage({"rm", "one", "--bundles"});
  CHECK(outcome.status == 0);
  for (const std::string& path : kept) CHECK(outcome.says("kept " + path));
  CHECK(fs::exists(folder / "notes.txt"));
  CHECK(fs::exists(folder / "nsys" / "mine.txt"));
  CHECK_FALSE(fs::exists(folder / "nsys" / "run.sqlite"));
  CHECK_FALSE(fs::exists(folder / "logs"));
  CHECK(fs::exists(folder / "second" / "run.json"));
  CHECK(fs::exists(folder / "second" / "manifest.json"));
  CHECK_FALSE(fs::exists(folder / "run.json"));
  CHECK_FALSE(fs::exists(folder / "manifest.json"));
}

TEST_CASE("ledger: a manifest that leads out of its bundle deletes nothing") {
  const std::string listed = GENERATE("../outside.txt", "logs/../../outside.txt", "link/outside.txt", "OUTSIDE");
  Scene scene;
  imported_as(scene, "one");
  const fs::path outside = scene.path / "outside.txt", manifest = scene.path / "one" / "manifest.json";
  std::ofstream(outside) << "not the run's";
  fs::create_directory_symlink(scene.path, scene.path / "one" / "link");
  auto json = nlohmann::json::parse(std::ifstream(manifest));
  json["files"].push_back({{"path", listed == "OUTSIDE" ? outside.string() : listed}, {"size_bytes", 13}, {"sha256", nullptr}});
  std::ofstream(manifest) << json;
  const Outcome outcome = scene.nl_stage({"rm", "one", "--bundles"});
  CHECK(outcome.status == 3);
  CHECK(outcome.says("outside the bundle"));
  CHECK(fs::exists(outside));
  CHECK(fs::exists(scene.path / "one" / "run.json"));
  CHECK(json_of(scene, {"ls"})["runs"].size() == 1);
}

TEST_CASE("ledger: one that cannot be written is a note, and the run is as it would be") {
  Scene scene;
  const fs::path blocked = scene.path / "file";
  std::ofstream(blocked) << "not a folder";
  const Outcome outcome =
      scene.nl_stage({"import", kCapture, "--out", scene.bundle().string(), "--ledger", (blocked / "ledger.sqlite").string()});
  CHECK(outcome.status == 0);
  CHECK(outcome.err.starts_with("note:  The run is not in the ledger: "));
  check_bundle(scene);
}

TEST_CASE("ledger: PostgreSQL that does not answer is a note, and its password is in no file and no line") {
  Scene scene;
  const Outcome outcome =
      scene.nl_stage({"import", kCapture, "--out", scene.bundle().string(), "--ledger", "postgresql://me:hunter2@/runs?host=/nowhere"});
  CHECK(outcome.status == 0);
  CHECK(outcome.says("The run is not in the ledger"));
  CHECK_FALSE(outcome.says("hunter2"));
  CHECK_FALSE(scene.text(scene.bundle() / "config.yaml").find("hunter2") != std::string::npos);
  check_bundle(scene);
}

TEST_CASE("ledger: off by one key, by the flag and by the variable; then there is none to list") {
  Scene scene;
  imported_as(scene, "key", {"--set", "ledger.enabled=false"});
  imported_as(scene, "flag", {"--ledger", "off"});
  scene.env["NL_STAGE_LEDGER"] = "off";
  imported_as(scene, "variable");
  CHECK_FALSE(fs::exists(scene.path / "ledger.sqlite"));
  const Outcome outcome = scene.nl_stage({"ls", "--ledger", (scene.path / "ledger.sqlite").string()});
  CHECK(outcome.status == 3);
  CHECK(outcome.says("there is no ledger yet"));
  CHECK_FALSE(fs::exists(scene.path / "ledger.sqlite"));
}

TEST_CASE("ledger: retention is applied as runs end") {
  Scene scene;
  imported_as(scene, "one");
  imported_as(scene, "two", {"--set", "ledger.keep_last=1"});
  const auto left = json_of(scene, {"ls"})["runs"];
  REQUIRE(left.size() == 1);
  CHECK(left[0]["name"] == "two");
}

TEST_CASE("ledger: record takes bundles that are not in it, and refuses half of one") {
  Scene scene;
  imported_as(scene, "made", {"--ledger", "off"});
  CHECK(json_of(scene, {"record", (scene.path / "made").string()})["recorded"].size() == 1);
  CHECK(json_of(scene, {"ls"})["runs"][0]["name"] == "made");
  fs::remove(scene.path / "made" / "run.json");
  CHECK(scene.nl_stage({"record", (scene.path / "made").string()}).status == 3);
}

TEST_CASE("ledger: trends draws a metric, as text, JSON, SVG and HTML") {
  Scene scene;
  for (const char* name : {"a", "b", "c"}) imported_as(scene, name);
  const fs::path svg = scene.path / "trend.svg", html = scene.path / "trend.html";
  const Outcome text = scene.nl_stage({"trends", "tpot_ms", "--svg", svg.string(), "--html", html.string()});
  CHECK(text.status == 0);
  CHECK(text.says("tpot_ms of NVIDIA H200"));
  CHECK(text.says("3 runs"));
  CHECK(text.says("3 runs are too few to tell a change (6 are needed)."));
  CHECK(scene.text(svg).starts_with("<svg "));
  CHECK(scene.text(html).starts_with("<!doctype html>"));
  const auto json = json_of(scene, {"trends", "tpot_ms", "--by", "date"});
  CHECK(json["series"][0]["points"].size() == 3);
  const Outcome wrong = scene.nl_stage({"trends", "tpot_mss"});
  CHECK(wrong.status == 3);
  CHECK(wrong.says("did you mean tpot_ms?"));
  CHECK(wrong.says("also near: "));
}

TEST_CASE("ledger: rounds of a trial are recorded, and listed only with --all") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  scene.env["NL_STAGE_LEDGER"] = (scene.path / "ledger.sqlite").string();
  REQUIRE(scene
              .nl_stage({"try", "--a", "true", "--b", "true", "--warmup", "0", "--rounds", "1", "--no-profile", "--quiet", "--out",
                         (scene.path / "trial").string()})
              .status == 0);
  CHECK(nlohmann::json::parse(scene.nl_stage({"ls", "--json"}).out)["runs"].empty());
  CHECK(scene.nl_stage({"ls"}).out == "No runs but the rounds of try and bisect: --all lists them.\n");
  const auto all = nlohmann::json::parse(scene.nl_stage({"ls", "--all", "--json"}).out)["runs"];
  REQUIRE(all.size() == 2);
  CHECK(all[0]["part_of"] == "try");
}
