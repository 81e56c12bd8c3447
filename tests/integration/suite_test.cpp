// Suites on this machine: real processes, unprofiled and in turn.
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <tuple>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;
using nlohmann::json;

namespace {

struct SuiteScene : Scene {
  SuiteScene() {
    env["NL_STAGE_LOCK"] = (path / "lock").string();
    env["NL_STAGE_NVML"] = NL_BUILD_ROOT "/tests/unit/orchestrator/libfake_nvml.so";
    env["NL_FAKE_NVML_PROCESSES"] = (path / "on-gpu").string();
    env["NL_FAKE_NVML_FIT"] = "1";
    env["DIR"] = path.string();
  }
  Outcome suite(const std::string& content, const std::vector<std::string>& more = {}) {
    std::ofstream(path / "bench.yaml") << content;
    return nl_stage(words(more));
  }
  std::vector<std::string> words(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"suite", (path / "bench.yaml").string(), "--out", out().string(), "--waive", "virtual_machine"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  fs::path out() const { return path / "out"; }
  nlohmann::json result() const { return nlohmann::json::parse(Scene::text(out() / "suite.json")); }
};

const std::string kSleepers =
    "iterations: 3\nwarmup: 1\nprofile: none\ntargets:\n"
    "  x_baseline: {command: 'echo a >> $DIR/order; sleep 0.3'}\n"
    "  x_optimized: {command: 'echo b >> $DIR/order; sleep $T', env: {T: '0.1'}}\n";

}  // namespace

TEST_CASE("suite: a pair is timed in turn and its speed-up is measured, not believed") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  const Outcome outcome = scene.suite(kSleepers);
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  CHECK(scene.text(scene.path / "order") == "a\na\nb\nb\nb\na\nb\na\n");  // each first after its warm-up
  const json pair = scene.result()["pairs"][0];
  CHECK(scene.result()["verdict"] == "met");
  CHECK(pair["verdict"] == "met");
  CHECK(pair["baseline_ms"].size() == 3);
  CHECK(pair["baseline_ms"][0].get<double>() >= 250);  // of 300: a busy machine sees the start late
  CHECK(pair["speedup"].get<double>() > 1.5);
  CHECK(pair["low"].get<double>() <= pair["speedup"].get<double>());
  const json result = scene.result();
  for (const auto& run : result["targets"][0]["runs"]) {
    const fs::path bundle = scene.out() / run["bundle"].get<std::string>();
    INFO(bundle);
    CHECK(scene.nl_stage({"validate", bundle.string()}).status == 0);
  }
  const std::string log = scene.text(scene.out() / "suite.log");
  CHECK(scene.nl_stage({"validate", (scene.out() / "suite.json").string()}).status == 0);
  CHECK(log.find("START 001 x_baseline-1\n") != std::string::npos);
  CHECK(log.find("END 006 x_baseline-3 outcome=ok seconds=0.") != std::string::npos);
  CHECK(outcome.says("| x | the whole run |"));
}

TEST_CASE("suite: a terminal gets tables that fit, a pipe Markdown") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  std::ofstream(scene.path / "bench.yaml") << kSleepers;
  const Outcome shown = scene.nl_stage_on_terminal(scene.words(), 60);
  INFO(shown.out);
  CHECK(shown.says("suite bench: \x1b[32mmet\x1b[0m\n"));
  CHECK(shown.says("\npair  verdict  speed-up"));
  CHECK(shown.says("\ntarget       "));
  CHECK_FALSE(shown.says("| --- |"));
  CHECK(scene.text(scene.out() / "suite.md").find("| --- |") != std::string::npos);
}

TEST_CASE("suite: a speed-up that was promised and is not there ends with status 9") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  const Outcome outcome = scene.suite(
      "iterations: 3\nwarmup: 0\nprofile: none\nthreshold: 50\ntargets:\n  x_baseline: {command: [sleep, '0.2']}\n"
      "  x_optimized: {command: \"echo speedup 5x; exec sleep 0.1\"}\n  y_baseline: {command: ['true']}\n",
      {"--json"});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 9);
  CHECK(json::parse(outcome.out)["pairs"][0]["verdict"] == "missed");
  CHECK(json::parse(outcome.out)["orphans"] == json({"y_baseline"}));
}

TEST_CASE("suite: an environment unfit for timings fails before the first run, unless it is waived by name") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  scene.env.erase("NL_FAKE_NVML_FIT");
  std::ofstream(scene.path / "on-gpu") << "1\n";
  const std::string suite = "iterations: 2\nwarmup: 0\nprofile: none\ntargets: {a: {command: 'touch $DIR/ran'}}\n";
  Outcome outcome = scene.suite(suite, {"--waive", "clocks", "--waive", "persistence"});
  INFO(outcome.err);
  CHECK(outcome.status == 4);
  CHECK(outcome.says("error: GPU 0 (NVIDIA H200): in use by 1"));
  CHECK(outcome.says("--waive processes"));
  CHECK_FALSE(fs::exists(scene.path / "ran"));
  CHECK(scene.result()["verdict"] == "blocked");
  fs::remove_all(scene.out());
  outcome = scene.suite(suite, {"--waive", "clocks", "--waive", "persistence", "--waive", "processes"});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(fs::exists(scene.path / "ran"));
}

TEST_CASE("suite: a target that fails, fails the suite, and the others run") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  const Outcome outcome = scene.suite(
      "iterations: 2\nwarmup: 1\nprofile: none\ntargets:\n  x_baseline: {command: 'exit 3'}\n  x_optimized: {command: 'true'}\n  gone: "
      "{command: [/nonexistent]}\n");
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 5);
  CHECK(scene.result()["verdict"] == "failed");
  CHECK(scene.result()["pairs"][0]["note"] == "x_baseline has no run that ended well");
  CHECK(scene.result()["targets"][1]["runs"][1]["outcome"] == "ok");
  CHECK(outcome.says("gone-1: failed"));
}

TEST_CASE("suite: why a run failed ends with one full stop") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  const Outcome outcome = scene.suite("iterations: 1\nwarmup: 0\nprofile: none\ntargets:\n  x: {command: 'exit 3'}\n");
  INFO(outcome.err << outcome.out);
  CHECK(outcome.says("ended with status 3.\n"));
  CHECK_FALSE(outcome.says("status 3.."));
}

TEST_CASE("suite: Ctrl-C ends it, and what was measured is kept") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  std::ofstream(scene.path / "bench.yaml")
      << "iterations: 2\nwarmup: 0\nprofile: none\ntargets:\n  a: {command: 'true'}\n  b: {command: 'touch $DIR/began; exec sleep 4251'}\n";
  const Outcome outcome = scene.nl_stage_signalled(scene.words(), scene.path / "began", SIGINT);
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 128 + SIGINT);
  CHECK(scene.result()["interrupted"] == true);
  CHECK(scene.result()["targets"][0]["runs"][0]["outcome"] == "ok");
  CHECK(scene.result()["targets"][1]["runs"][0]["outcome"] == "interrupted");
  CHECK(scene.still_running().empty());
}

TEST_CASE("suite: every target is profiled once, after the timed runs") {
  if (!have_collector() || cpu_workload().empty()) NL_SKIP("the collector or the CPU workload is not built");
  SuiteScene scene;
  scene.env["NL_STAGE_NVML"] = "";
  const Outcome outcome = scene.suite("iterations: 2\nwarmup: 0\nprofile: light\ntargets:\n  llm: {command: [" + cpu_workload() +
                                      ", --steps, 4, --iterations, 2], set: [nsys.enabled=false]}\n");
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  const json runs = scene.result()["targets"][0]["runs"];
  REQUIRE(runs.size() == 3);
  CHECK(runs[2]["profiled"] == true);
  CHECK(runs[2]["bundle"] == "runs/003-llm-light");
  CHECK(runs[0]["stage_ms"]["decode"].get<double>() > 0);
}

TEST_CASE("suite: from a queue it does not wait for its own runner") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  scene.env["XDG_STATE_HOME"] = (scene.path / "state").string();
  std::ofstream(scene.path / "bench.yaml") << "iterations: 1\nwarmup: 0\nprofile: none\ntargets: {a: {command: 'true'}}\n";
  const Outcome outcome = scene.nl_stage(
      {"suite", "--enqueue", NL_BUILD_ROOT "/cli/nl-stage suite $DIR/bench.yaml --out $DIR/out --waive virtual_machine", "--run-queue"},
      30);
  INFO(outcome.err << scene.text(scene.path / "state/nl-stage/queue/logs/000001-1.log"));
  CHECK(outcome.status == 0);
  CHECK(scene.result()["verdict"] == "met");
}

TEST_CASE("suite: a mistake in the file names its line, and a folder in use is refused") {
  SuiteScene scene;
  const Outcome outcome = scene.suite("targets:\n  a: {comand: x}\n");
  CHECK(outcome.status == 2);
  CHECK(outcome.says("bench.yaml:2:7"));
  CHECK(outcome.says("did you mean 'command'?"));
  fs::create_directories(scene.out() / "mine");
  CHECK(scene.suite("targets: {a: {command: 'true'}}\n").status == 8);
}

TEST_CASE("suite: --target runs the pair that it names, and nothing else") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  const std::string suite =
      "iterations: 1\nwarmup: 0\nprofile: none\ntargets:\n  x_baseline: {command: 'true'}\n  x_optimized: {command: 'true'}\n"
      "  y_baseline: {command: 'touch $DIR/y'}\n  y_optimized: {command: 'touch $DIR/y'}\n";
  const Outcome outcome = scene.suite(suite, {"--target", "x"});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 9);  // one run of each decides nothing
  CHECK(scene.result()["targets"].size() == 2);
  CHECK(scene.result()["chosen"] == json({"x"}));
  CHECK_FALSE(fs::exists(scene.path / "y"));
  const Outcome wrong = scene.suite(suite, {"--target", "z"});
  CHECK(wrong.status == 2);
  CHECK(wrong.says("the suite has no target or pair 'z'"));
}

TEST_CASE("suite: --retry-failed runs what failed again, and --resume keeps what ended well") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  const std::string suite =
      "iterations: 2\nwarmup: 0\nprofile: none\ntargets:\n  steady: {command: 'echo s >> $DIR/ran'}\n"
      "  flaky: {command: 'echo f >> $DIR/ran; test $(grep -c f $DIR/ran) -ge $N', env: {N: '2'}}\n";
  const auto runs_of = [&](const char* letter) {
    const std::string ran = scene.text(scene.path / "ran");
    return std::count(ran.begin(), ran.end(), *letter);
  };
  SECTION("tried again until it ends well") {
    const Outcome outcome = scene.suite(suite, {"--retry-failed", "2"});
    INFO(outcome.err << outcome.out);
    CHECK(outcome.status == 0);
    CHECK(scene.result()["targets"][1]["runs"][0]["attempts"] == 2);
    CHECK(scene.result()["targets"][1]["runs"][1]["attempts"] == 1);
    CHECK(outcome.says("flaky-1 took 2 attempts."));
  }
  SECTION("resumed") {
    const Outcome first = scene.suite(suite);
    INFO(first.err << first.out);
    CHECK(first.status == 5);
    CHECK(scene.suite(suite).says("the folder of the results is not empty"));
    const Outcome again = scene.suite(suite, {"--resume"});
    INFO(again.err << again.out);
    CHECK(again.status == 0);
    CHECK(runs_of("s") == 2);  // only what failed ran once more
    CHECK(runs_of("f") == 3);
    CHECK(scene.result()["targets"][0]["runs"][0]["reused"] == true);
    CHECK(scene.result()["targets"][1]["runs"][0]["reused"] == false);
    CHECK(again.says("3 of 4 runs are of an earlier session."));
    CHECK(scene.nl_stage({"validate", (scene.out() / "suite.json").string()}).status == 0);
    // A target that has changed is run anew, the other is kept.
    std::string changed = suite;
    changed.replace(changed.find("N: '2'"), 6, "N: '1'");
    CHECK(scene.suite(changed, {"--resume"}).status == 0);
    CHECK(runs_of("s") == 2);
    CHECK(runs_of("f") == 5);
  }
  SECTION("nothing to resume") {
    const Outcome outcome = scene.suite(suite, {"--resume"});
    CHECK(outcome.status == 3);
    CHECK(outcome.says("there is no suite to resume"));
  }
}

TEST_CASE("suite: a suite that was killed goes on where it was") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  std::ofstream(scene.path / "bench.yaml")
      << "iterations: 1\nwarmup: 0\nprofile: none\ntargets:\n  a: {command: 'echo a >> $DIR/ran'}\n"
         "  b: {command: 'echo b >> $DIR/ran; test -e $DIR/began || { touch $DIR/began; exec sleep 4252; }'}\n";
  const Outcome killed = scene.nl_stage_signalled(scene.words(), scene.path / "began", SIGKILL);
  CHECK(killed.status == 128 + SIGKILL);
  CHECK_FALSE(fs::exists(scene.out() / "suite.json"));
  const Outcome again = scene.nl_stage(scene.words({"--resume"}));
  INFO(again.err << again.out);
  CHECK(again.status == 0);
  CHECK(scene.text(scene.path / "ran") == "a\nb\nb\n");
  CHECK(scene.text(scene.out() / "suite.log").find(" KEEP 001 a-1 ") != std::string::npos);
}

TEST_CASE("suite: a pair whose halves compute something else has failed, however fast it is") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  const auto suite = [](const std::string& optimised, const std::string& more) {
    return "iterations: 3\nwarmup: 0\nprofile: none\noutputs: [stdout, out.txt]\n" + more +
           "targets:\n  x_baseline: {command: 'echo loss 0.5000; echo took $$; echo same > out.txt; sleep 0.3'}\n  x_optimized: {command: "
           "'" +
           optimised + "'}\n";
  };
  const auto pair_of = [&](const std::string& content) {
    fs::remove_all(scene.out());
    const Outcome outcome = scene.suite(content);
    UNSCOPED_INFO(outcome.err << outcome.out);
    return std::pair(outcome.status, scene.result()["pairs"][0]);
  };
  const std::string good = "echo loss 0.5001; echo took $$; echo same > out.txt; sleep 0.1";
  auto [status, pair] = pair_of(suite(good, "rtol: 1e-3\n"));
  CHECK(status == 0);
  CHECK(pair["outputs"] == "within tolerance");
  std::tie(status, pair) = pair_of(suite(good, ""));
  CHECK(status == 5);
  CHECK(pair["verdict"] == "failed");
  CHECK(pair["note"] == "the outputs differ: line 1: the baseline prints \"loss 0.5000\", the optimised one \"loss 0.5001\"");
  std::tie(status, pair) = pair_of(suite("echo loss 0.5000; echo took $$; sleep 0.1", ""));
  CHECK(status == 5);
  CHECK(pair["note"] == "the outputs differ: out.txt: written by the baseline alone");
}

TEST_CASE("suite: the size is raised until the speed-up shows") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  const Outcome outcome = scene.suite(
      "iterations: 3\nwarmup: 0\nprofile: light\ntargets:\n"
      "  x_baseline: {command: 'sleep 0.{size}', size: {values: [1, 5], least: 300ms}}\n"
      "  x_optimized: {command: 'test {size} = 5 && sleep 0.4 || sleep 0.05'}\n");
  INFO(outcome.err << outcome.out);
  const json pair = scene.result()["pairs"][0];
  CHECK(pair["size"] == 5);
  CHECK(pair["baseline_ms"].size() == 3);
  CHECK(pair["baseline_ms"][0].get<double>() >= 450);
  CHECK(pair["remarks"][0].get<std::string>().starts_with("The size was raised to 5: at 1 a run took "));
  CHECK(scene.result()["targets"][0]["runs"].size() == 7);  // three at each size, and the profile at the last
  CHECK(scene.result()["targets"][0]["runs"][6]["size"] == 5);
  CHECK(scene.text(scene.out() / "suite.log").find(" SIZE 5 reason=") != std::string::npos);
}

TEST_CASE("suite: expected speed-ups are written, and a slower pair ends with status 9") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  const auto suite = [](const char* seconds) {
    return std::string(
               "iterations: 4\nwarmup: 0\nprofile: none\nexpectations: speedups.yaml\ntargets:\n"
               "  x_baseline: {command: [sleep, '0.6']}\n  x_optimized: {command: [sleep, '") +
           seconds + "']}\n";
  };
  const Outcome first = scene.suite(suite("0.15"), {"--update-expectations"});
  INFO(first.err << first.out);
  CHECK(first.status == 0);
  CHECK(scene.result()["changes"].size() == 1);
  CHECK(scene.text(scene.path / "speedups.yaml").find("\"x\": {speedup: ") != std::string::npos);
  fs::remove_all(scene.out());
  const Outcome slower = scene.suite(suite("0.4"));
  INFO(slower.err << slower.out);
  CHECK(slower.status == 9);
  CHECK(scene.result()["pairs"][0]["verdict"] == "met");  // faster than the baseline, and slower than it was
  CHECK(scene.result()["pairs"][0]["expectation"] == "regressed");
  CHECK(slower.says("x: The speed-up is below what is expected ("));
}

TEST_CASE("suite: a virtual machine is warned of, and refused where the suite requires another") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  const std::string suite = "iterations: 1\nwarmup: 0\nprofile: none\ntargets: {a: {command: 'true'}}\n";
  std::ofstream(scene.path / "bench.yaml") << suite;
  const Outcome warned = scene.nl_stage({"suite", (scene.path / "bench.yaml").string(), "--out", scene.out().string()});
  INFO(warned.err << warned.out);
  CHECK(warned.status == 0);
  const json check = scene.result()["environment"][0];
  CHECK(check["id"] == "timing.virtual_machine");
  CHECK(check["level"] != "blocked");
  if (check["level"] == "ok") NL_SKIP("this is no virtual machine");
  fs::remove_all(scene.out());
  std::ofstream(scene.path / "bench.yaml") << "require: [virtual_machine]\n" << suite;
  CHECK(scene.nl_stage({"suite", (scene.path / "bench.yaml").string(), "--out", scene.out().string()}).status == 4);
}

TEST_CASE("suite: timing runs are kept out of ls, the profiles are not") {
  if (!have_collector()) NL_SKIP("the collector is not built");
  SuiteScene scene;
  const std::string ledger = (scene.path / "ledger.sqlite").string();
  scene.env.erase("NL_STAGE_LEDGER");
  const Outcome outcome = scene.suite("iterations: 2\nwarmup: 0\nprofile: light\ntargets: {a: {command: 'true'}}\n", {"--ledger", ledger});
  INFO(outcome.err << outcome.out);
  const auto listed = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"ls", "--json", "--ledger", ledger};
    words.insert(words.end(), more.begin(), more.end());
    return json::parse(scene.nl_stage(words).out);
  };
  const json shown = listed({}), all = listed({"--all"});
  INFO(all.dump(1));
  CHECK((shown.is_array() ? shown : shown["runs"]).size() == 1);
  CHECK((all.is_array() ? all : all["runs"]).size() == 3);
}
