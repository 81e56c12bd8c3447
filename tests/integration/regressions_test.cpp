// Faults of the whole program that cost users something once, each with the case that failed while it was there.
#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/catch.h"
#include "tests/integration/harness.h"
#include "tests/unit/parsers/collector/counter_file.h"
#include "tests/unit/unpacked.h"

extern char** environ;

using namespace nl::test;
using Json = nlohmann::json;

namespace {

using Words = std::vector<std::string>;

const std::string kUnitTests = NL_BUILD_ROOT "/tests/unit/";
const std::string kFakeNvml = kUnitTests + "orchestrator/libfake_nvml.so";
const std::string kFakeCupti = kUnitTests + "collector/libfake_cupti.so";
const std::string kGpuProgram = kUnitTests + "collector/gpu_program";

void add(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

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
  for (const auto& problem : run["problems"]) CHECK_FALSE(problem["what"].get<std::string>().empty());
}

}  // namespace

TEST_CASE("import of a capture without ranges of stages says so") {
  Scene scene;
  const Outcome outcome = import(scene, {"--nsys", without_ranges(scene).string()});
  INFO(outcome.err);
  const auto run = scene.json("run.json");
  REQUIRE(run["stages"].size() == 1);  // what repeats, so that there is a budget
  CHECK(run["stages"][0]["name"] == "step");
  CHECK(run["stages"][0]["source"] == "inferred");
  CHECK(run["workload"]["kind"] == "unknown");
  const auto& notes = run["import_stats"]["notes"];
  CHECK(std::any_of(notes.begin(), notes.end(), [](const auto& note) { return note["code"] == "steps-inferred"; }));
}

TEST_CASE("import with stages that launched no kernel says so") {
  Scene scene;
  const Outcome outcome = import(scene, {"--nsys", (kFixtures / "h200-probe/probe_node.sqlite").string(), "--set", "run.stages=[verify]"});
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

TEST_CASE("a copy of the program alone finds what the program in its tree finds") {
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

TEST_CASE("a copy of the program alone knows the shipped models and runners") {
  Alone alone;
  Words words = kLlama;
  add(words, {"--model", "llama-3.1-8b", "--config", "deep"});
  const Outcome outcome = import(alone, words);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(alone.json("run.json")["model"]["name"] == "llama-3.1-8b");
}

TEST_CASE("trace.pftrace has the power, clocks and temperature that were read during the capture") {
  if (!fs::exists(kGpuProgram)) NL_SKIP("built without the collector's GPU half");
  Scene scene;
  scene.env["NL_STAGE_NVML"] = kFakeNvml;
  scene.env["FAKE_CUPTI"] = kFakeCupti;
  const Outcome outcome =
      scene.nl_stage({"run", "--config", "sampling", "--set", "tools.cupti=" + kFakeCupti, "--set", "capture.sampling_us=0", "--set",
                      "energy.interval_ms=5", "--out", scene.bundle().string(), "--", kGpuProgram, "generate-slowly", "4"});
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.status == 0);
  REQUIRE(scene.text(scene.bundle() / "energy/samples.csv").find("\ncollector,") != std::string::npos);
  const std::string decode = "python3 " NL_SOURCE_ROOT "/tests/unit/exporters/perfetto/decode.py '" +
                             (scene.bundle() / "trace.pftrace").string() + "' > '" + (scene.path / "trace.json").string() + "'";
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
    Words words = {"run", "--out", bundle().string(), "--set", "energy.enabled=off"};
    if (fs::exists(kFakeCupti)) add(words, {"--set", "tools.cupti=" + kFakeCupti});
    add(words, more);
    words.push_back("--");
    add(words, command);
    return nl_stage(words);
  }
};

}  // namespace

TEST_CASE("where ncu may not count, no rule suggests the run that was just refused") {
  Counting scene;
  scene.env["NL_FAKE_NCU"] = "denied";
  const Outcome outcome = scene.run({"--config", "deep", "--set", "run.stages=[prefill]"}, {"/bin/true"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 4);
  demand_no_refused_command(scene, {"--config deep"});
}

TEST_CASE("where CUPTI may not count, no rule suggests a run that needs the same permission") {
  if (!fs::exists(kGpuProgram)) NL_SKIP("built without the collector's GPU half");
  Counting scene;
  scene.env["FAKE_CUPTI_DENY"] = "35";  // CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
  const Outcome outcome = scene.run({"--config", "cupti"}, {kGpuProgram, "generate", "4"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 4);
  demand_no_refused_command(scene, {"--config cupti", "--config deep"});
}

TEST_CASE("where another profiler holds CUPTI, the report says so and does not suggest to count again") {
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

namespace {

struct Planned : Scene {
  Planned() {
    use_standins();
    env["NL_STAGE_NVML"] = kFakeNvml;
  }
  Words words(const std::string& verb, const Words& more) const {
    Words all = {verb,    "--config",           "deep",  "--set",          "perturbation.repeats=0", "--set", "run.stages=[prefill]",
                 "--set", "energy.enabled=off", "--out", bundle().string()};
    add(all, more);
    add(all, {"--", "/bin/sh", "-c", "exit 0"});
    return all;
  }
  Json plan(const Words& more = {}) {
    Words with = more;
    with.push_back("--json");
    const Outcome outcome = nl_stage(words("plan", with));
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return Json::parse(outcome.out);
  }
  Json run(const Words& more = {}) {
    const Outcome outcome = nl_stage(words("run", more));
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return json("run.json");
  }
  // ncu with a script before it: `before` is shell code that sees ncu's arguments.
  void wrap_ncu(const std::string& before) {
    env["NL_STAGE_NCU"] = script("ncu", before + "\nexec '" + env["NL_STAGE_NCU"] + "' \"$@\"").string();
  }
};

Json pass_named(const Json& passes, const std::string& name) {
  for (const auto& pass : passes)
    if (pass["name"] == name) return pass;
  FAIL("there is no pass " << name);
  return {};
}

Words names_of(const Json& passes) {
  Words names;
  for (const auto& pass : passes) names.push_back(pass["name"]);
  return names;
}

// Which kernels are measured is known after the trace.
Json without_kernel_names(Json argv) {
  for (std::size_t i = 0; i + 1 < argv.size(); ++i)
    if (argv[i] == "--kernel-name") argv[i + 1] = "…";
  return argv;
}

using Environment = std::map<std::string, std::string>;

void put(Environment& to, const std::string& entry) { to[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1); }

// What /proc/PID/environ holds.
Environment parsed(const std::string& block) {
  Environment out;
  std::stringstream entries(block);
  for (std::string entry; std::getline(entries, entry, '\0');) put(out, entry);
  return out;
}

// Entries that only one of the two has.
Words differences(const Environment& a, const Environment& b) {
  Words out;
  const auto missing_in = [&](const Environment& other, const Environment& entries, const char* sign) {
    for (const auto& [name, value] : entries)
      if (const auto found = other.find(name); found == other.end() || found->second != value) out.push_back(sign + name + "=" + value);
  };
  missing_in(b, a, "ran with ");
  missing_in(a, b, "planned with ");
  return out;
}

Environment given_to_nl_stage(const Scene& scene) {
  Environment out;
  for (char** entry = environ; *entry != nullptr; ++entry) put(out, *entry);
  for (const auto& [name, value] : scene.env) out[name] = value;
  return out;
}

}  // namespace

TEST_CASE("the ncu pass that is planned is the ncu pass that runs: arguments, outputs and logs") {
  Planned scene;
  const Json planned = pass_named(scene.plan()["passes"], "ncu");
  const Json ran = pass_named(scene.run()["provenance"]["passes"], "ncu");
  CHECK(without_kernel_names(ran["argv"]) == without_kernel_names(planned["argv"]));
  CHECK(ran["outputs"] == planned["outputs"]);
  CHECK(fs::exists(planned["stdout"].get<std::string>()));
  CHECK(fs::exists(planned["stderr"].get<std::string>()));
}

TEST_CASE("the ncu pass that is planned is the ncu pass that runs: environment") {
  Planned scene;
  scene.env["CUDA_INJECTION64_PATH"] = "";  // set, to nothing
  const fs::path seen = scene.path / "environment";
  scene.wrap_ncu("[ \"$1\" = --version ] || [ \"$1\" = --help ] || [ \"$1\" = --import ] || cat /proc/$$/environ > '" + seen.string() +
                 "'");
  const Json planned = pass_named(scene.plan()["passes"], "ncu");
  scene.run();
  Environment expected = given_to_nl_stage(scene);
  for (const auto& name : planned["unset_env"]) expected.erase(name.get<std::string>());
  for (const auto& [name, value] : planned["env"].items()) expected[name] = value;
  for (const auto& [name, value] : planned["prepend_env"].items())
    expected[name] = value.get<std::string>() + (expected[name].empty() ? "" : ":" + expected[name]);
  REQUIRE(fs::exists(seen));
  CHECK(differences(parsed(scene.text(seen)), expected) == Words{});
}

TEST_CASE("every pass that runs was in the plan") {
  Planned scene;
  scene.env["NL_STAGE_NVML"] = NL_BUILD_ROOT "/collector/libnl_collector.so";  // a library that is not NVML: no GPU is known
  if (!fs::exists(scene.env["NL_STAGE_NVML"])) NL_SKIP("built without the collector");
  const Words planned = names_of(scene.plan()["passes"]);
  const Words ran = names_of(scene.run()["provenance"]["passes"]);
  CHECK(ran == planned);
}

TEST_CASE("what a plan leaves out is noted once in the run") {
  Planned scene;
  scene.wrap_ncu("[ \"$1\" = --help ] && exec grep -v -e '--graph-profiling' \"$NL_FIXTURES/help/ncu-2025.3.1.txt\"");
  const Json planned = scene.plan()["adaptations"];
  REQUIRE(planned.size() == 1);
  const Json noted = scene.run()["provenance"]["adaptations"];
  CHECK(std::count_if(noted.begin(), noted.end(), [&](const Json& note) { return note["text"] == planned[0]; }) == 1);
}

TEST_CASE("run.top_n_kernels is how many kernels ncu measures") {
  const int top = GENERATE(1, 2);
  Planned scene;
  const Json run = scene.run({"--set", "run.top_n_kernels=" + std::to_string(top)});
  const Words argv = pass_named(run["provenance"]["passes"], "ncu")["argv"];
  const auto option = std::find(argv.begin(), argv.end(), "--kernel-name");
  REQUIRE(option + 1 < argv.end());
  CHECK(std::count((option + 1)->begin(), (option + 1)->end(), '|') == top - 1);
}

TEST_CASE("run.mode=light on the deep runner plans what the light runner plans") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_STAGE_NVML"] = kFakeNvml;
  const auto planned = [&](const Words& more) {
    Words words = {"plan", "--json"};
    add(words, more);
    add(words, {"--", "/bin/true"});
    const Outcome outcome = scene.nl_stage(words);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return names_of(Json::parse(outcome.out)["passes"]);
  };
  CHECK(planned({"--config", "deep", "--set", "run.mode=light"}) == planned({"--config", "light"}));
}

TEST_CASE("--set compose is obeyed, or refused with an answer") {
  Scene scene;
  scene.use_standins();
  const Outcome outcome = scene.nl_stage({"plan", "--config", "light", "--set", "compose=[profiling/nsys/pytorch]", "--", "/bin/true"});
  INFO(outcome.err);
  if (outcome.status == 0) CHECK(outcome.says("autograd-shapes-nvtx"));
  else CHECK_FALSE(outcome.says("did you mean 'compose'"));
}

TEST_CASE("import of a collector's trace counts a range whose clock stepped back as damaged") {
  Scene scene;
  const Unpacked file(kFixtures / "h200-collector/llm-torch.nltrace.gz");
  std::ifstream stream(file.file, std::ios::binary);
  nl::trace_format::FileHeader header;
  REQUIRE(stream.read(reinterpret_cast<char*>(&header), sizeof header));
  CounterFile more;
  more.thread(header.pid).string(900001, "stepped back").push(900001, header.monotonic_ns + 5000).pop(header.monotonic_ns + 4000);
  std::ofstream(file.file, std::ios::binary | std::ios::app) << more.chunk();
  const Outcome outcome = import(scene, {"--collector", file.file.string()});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  const Json run = scene.json("run.json");
  CHECK(run["import_stats"]["rows_damaged"].dump().find("range that ends before it starts") != std::string::npos);
  CHECK(std::none_of(run["ranges"].begin(), run["ranges"].end(), [](const Json& range) { return range["name"] == "stepped back"; }));
}

TEST_CASE("import of ranges alone counts one whose clock stepped back as damaged") {
  Scene scene;
  CounterFile file;
  file.thread(7).string(1, "LLM").string(2, "prefill").push(2, 1500, 1).pop(9000, 1).push(2, 9500, 1).pop(9400, 1);
  std::ofstream(scene.path / "ranges.nltrace", std::ios::binary) << file.whole();
  const Outcome outcome = import(scene, {"--collector", (scene.path / "ranges.nltrace").string()});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  const Json run = scene.json("run.json");
  REQUIRE(run["ranges"].size() == 1);
  CHECK(run["ranges"][0]["count"] == 1);
  CHECK(run["ranges"][0]["min_ns"] == 7500);
  CHECK(run["import_stats"]["rows_damaged"].dump().find("range that ends before it starts") != std::string::npos);
}
