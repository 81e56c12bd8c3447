// Known faults of the whole program, each shown by a case that fails for as long as the fault is there ([!shouldfail]).
// Whoever fixes one removes that tag; the case stays.
#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/catch.h"
#include "tests/integration/harness.h"
#include "tests/unit/parsers/counter_file.h"
#include "tests/unit/unpacked.h"

extern char** environ;

using namespace nl::test;
using Json = nlohmann::json;

namespace {

using Words = std::vector<std::string>;

const fs::path kFixtures = NL_FIXTURES;
const std::string kUnit = NL_BUILD_ROOT "/tests/unit/";
const std::string kFakeNvml = kUnit + "orchestrator/libfake_nvml.so";
const std::string kFakeCupti = kUnit + "collector/libfake_cupti.so";
const std::string kGpuProgram = kUnit + "collector/gpu_program";

void add(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

Outcome import(Scene& scene, const Words& more) {
  Words words = {"import", "--out", scene.bundle().string()};
  add(words, more);
  return scene.nl_stage(words);
}

}  // namespace


namespace {

// A real capture whose workload marked nothing: its kernels without its ranges.
fs::path without_ranges(const Scene& scene) {
  const fs::path file = scene.path / "unmarked.sqlite";
  fs::copy_file(kFixtures / "h200-probe/probe_node.sqlite", file);
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("DELETE FROM NVTX_EVENTS");
  return file;
}

void demand_problem(const Scene& scene) {
  const Json run = scene.json("run.json");
  REQUIRE_FALSE(run["kernels"].empty());
  CHECK_FALSE(run["problems"].empty());
  for (const auto& problem : run["problems"]) {
    const std::string what = problem["what"];
    CHECK_FALSE(what.empty());
    CHECK(scene.text(scene.bundle() / "report.md").find(what) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("import of a capture without ranges of stages says so", "[issue13][!shouldfail]") {
  Scene scene;
  const Outcome outcome = import(scene, {"--nsys", without_ranges(scene).string()});
  INFO(outcome.err);
  REQUIRE(scene.json("run.json")["stages"].empty());
  demand_problem(scene);
}

TEST_CASE("import with stages that launched no kernel says so", "[issue13][!shouldfail]") {
  Scene scene;
  const Outcome outcome =
      import(scene, {"--nsys", (kFixtures / "h200-probe/probe_node.sqlite").string(), "--set", "run.stages=[verify]"});
  INFO(outcome.err);
  demand_problem(scene);
}


namespace {

// A copy of the program and nothing else, started from an empty folder.
struct Alone : Scene {
  Alone() {
    const fs::path program = path / "alone/nl-stage", elsewhere = path / "elsewhere";
    fs::create_directories(program.parent_path());
    fs::create_directories(elsewhere);
    fs::copy_file(NL_BUILD_ROOT "/cli/nl-stage", program);
    env["NL_STAGE_DATA"] = "";
    // The harness names the built program after these words; the copy is started in its place.
    prefix = {"/bin/sh", "-c", "cd '" + elsewhere.string() + "' && shift && exec '" + program.string() + "' \"$@\"", "sh"};
  }
};

const Words kLlama = {"--nsys", (kFixtures / "h200-llama/nsys.sqlite").string(), "--ncu",
                      (kFixtures / "h200-llama/ncu_prefill_raw.csv").string()};

// What was concluded, and from what: rules with their subjects, and the peaks of the device.
Json conclusions(const Scene& scene) {
  const Json run = scene.json("run.json");
  Json out = {{"findings", Json::array()}, {"abstentions", Json::array()}, {"peaks", Json::object()}};
  for (const char* key : {"name", "derived", "bytes_per_s", "flops_per_s"}) out["peaks"][key] = run["peaks"][key];
  for (const auto& finding : run["findings"]) out["findings"].push_back({finding["rule"], finding["scope"], finding["subject"]});
  for (const auto& abstention : run["abstentions"]) out["abstentions"].push_back(abstention["rule"]);
  return out;
}

}  // namespace

TEST_CASE("a copy of the program alone finds what the program in its tree finds", "[issue13][!shouldfail]") {
  Scene tree;
  Alone alone;
  REQUIRE(import(tree, kLlama).status == 0);
  const Outcome outcome = import(alone, kLlama);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  const Json expected = conclusions(tree);
  REQUIRE_FALSE(expected["findings"].empty());
  REQUIRE(expected["peaks"]["derived"] == false);
  CHECK(conclusions(alone) == expected);
}

TEST_CASE("a copy of the program alone knows the shipped models and runners", "[issue13][!shouldfail]") {
  Alone alone;
  Words words = kLlama;
  add(words, {"--model", "llama-3.1-8b", "--config", "deep"});
  const Outcome outcome = import(alone, words);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(alone.json("run.json")["model"]["name"] == "llama-3.1-8b");
}


TEST_CASE("trace.pftrace has the power, clocks and temperature that were read during the capture", "[issue13][!shouldfail]") {
  if (!fs::exists(kGpuProgram)) NL_SKIP("built without the collector's GPU half");
  Scene scene;
  scene.env["NL_STAGE_NVML"] = kFakeNvml;
  scene.env["FAKE_CUPTI"] = kFakeCupti;
  const Outcome outcome = scene.nl_stage({"run", "--config", "sampling", "--set", "tools.cupti=" + kFakeCupti, "--set", "capture.sampling_us=0", "--set",
                                          "energy.interval_ms=5", "--out", scene.bundle().string(), "--", kGpuProgram, "generate-slowly", "4"});
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.status == 0);
  REQUIRE(scene.text(scene.bundle() / "energy/samples.csv").find("\ncollector,") != std::string::npos);
  const std::string decode = "python3 " NL_SOURCE_ROOT "/tests/unit/exporters/perfetto_decode.py '" + (scene.bundle() / "trace.pftrace").string() + "' > '" +
                             (scene.path / "trace.json").string() + "'";
  REQUIRE(std::system(decode.c_str()) == 0);
  const Json trace = Json::parse(scene.text(scene.path / "trace.json"));
  Words missing = {"power", "SM clock", "memory clock", "temperature"};
  for (const auto& [id, track] : trace["tracks"].items())
    std::erase_if(missing, [name = track.value("name", "")](const std::string& meter) { return name.find(meter) != std::string::npos; });
  CHECK(missing == Words{});
}


namespace {

// What only counters of kernels tell; the names of rule fields.
const std::set<std::string> kCounterFields = {"occupancy", "dram_use", "sm_use", "bound_by", "blocks_per_sm", "tensor_use"};

bool names_any(const Json& list, const std::set<std::string>& wanted) {
  return std::any_of(list.begin(), list.end(), [&](const Json& each) { return wanted.contains(each.get<std::string>()); });
}

// No command that would meet the same refusal; `refused`: how it was just run, or would be.
void demand_no_refused_command(const Scene& scene, const Words& refused) {
  const Json run = scene.json("run.json");
  int abstained = 0;
  Words wrong;
  for (const auto& abstention : run["abstentions"]) {
    if (!names_any(abstention["missing"], kCounterFields)) continue;
    ++abstained;
    const std::string command = abstention["command"].is_string() ? abstention["command"] : "";
    for (const auto& words : refused)
      if (command.find(words) != std::string::npos) wrong.push_back(abstention["rule"].get<std::string>() + ": " + command);
  }
  CHECK(abstained > 0);
  CHECK(wrong == Words{});
}

struct Counting : Scene {
  Counting() {
    use_standins();
    env["NL_STAGE_NVML"] = kFakeNvml;
    env["FAKE_CUPTI"] = kFakeCupti;
  }
  Outcome run(const Words& more, const Words& command) {
    Words words = {"run", "--out", bundle().string(), "--set", "energy.enabled=off", "--set", "tools.cupti=" + kFakeCupti};
    add(words, more);
    words.push_back("--");
    add(words, command);
    return nl_stage(words);
  }
};

}  // namespace

TEST_CASE("where ncu may not count, no rule suggests the run that was just refused", "[issue13][!shouldfail]") {
  Counting scene;
  scene.env["NL_FAKE_NCU"] = "denied";
  const Outcome outcome = scene.run({"--config", "deep", "--set", "run.stages=[prefill]"}, {"/bin/true"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 4);
  demand_no_refused_command(scene, {"--config deep"});
}

TEST_CASE("where CUPTI may not count, no rule suggests a run that needs the same permission", "[issue13][!shouldfail]") {
  if (!fs::exists(kGpuProgram)) NL_SKIP("built without the collector's GPU half");
  Counting scene;
  scene.env["FAKE_CUPTI_DENY"] = "35";  // CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
  const Outcome outcome = scene.run({"--config", "cupti"}, {kGpuProgram, "generate", "4"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 4);
  demand_no_refused_command(scene, {"--config cupti", "--config deep"});
}

TEST_CASE("where another profiler holds CUPTI, the report says so and does not suggest to count again", "[issue13][!shouldfail]") {
  if (!fs::exists(kGpuProgram)) NL_SKIP("built without the collector's GPU half");
  Counting scene;
  scene.env["FAKE_CUPTI_HOLDER"] = "CUPTI-Kineto";
  const Outcome outcome = scene.run({"--config", "deep", "--set", "capture.counters=cupti"}, {kGpuProgram, "generate", "4"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 6);
  for (const char* page : {"report.md", "report.html"}) {
    const std::string text = scene.text(scene.bundle() / page);
    INFO(page);
    CHECK(text.find("CUPTI-Kineto") != std::string::npos);
    CHECK(text.find("nl-stage run --config cupti") == std::string::npos);
  }
}
