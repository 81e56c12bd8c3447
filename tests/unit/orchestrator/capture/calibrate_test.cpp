#include "orchestrator/capture/calibrate.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "collector/trace_format.h"
#include "orchestrator/machine/launch_loop.h"
#include "orchestrator/read.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/capture/pass_words.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"
#include "tests/unit/parsers/collector/trace_header.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::orchestrator;
using nl::test::FakeTree;
using Strings = std::vector<std::string>;

namespace {

const fs::path kLoopCapture = fs::path(NL_FIXTURES) / "h200-probe/probe_node.sqlite";

std::string argument_after(const Strings& argv, const std::string& option) {
  const auto found = std::find(argv.begin(), argv.end(), option);
  return found == argv.end() ? "" : *(found + 1);
}

std::string argument_with(const Strings& argv, const std::string& beginning) {
  for (const std::string& word : argv)
    if (word.starts_with(beginning)) return word.substr(beginning.size());
  return {};
}

// A file of the collector whose GPU half came to work.
void write_session(const fs::path& file) {
  namespace format = trace_format;
  const format::FileHeader header = nl::test::trace_header(7, 0);
  const format::ThreadStart start{{format::Kind::kThreadStart, sizeof start, 0}, 0, 0, 0, "gpu"};
  const format::GpuSession session{{format::Kind::kGpuSession, sizeof session, 130001}, 900, 1, 1};
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(&header), sizeof header)
      .write(reinterpret_cast<const char*>(&start), sizeof start)
      .write(reinterpret_cast<const char*>(&session), sizeof session);
}

// Plays nsys, its export and the loop: a launch takes 2000 ns bare, 3700 under nsys and 3200 under the collector.
struct LoopActor : Launcher {
  Strings loops;  // as they were started
  bool collector_works = true;
  std::string fails;  // whose loop does

  ProcessResult launch(const ProcessSpec& process) override {
    const std::string out = argument_after(process.argv, "--out");
    if (!out.empty()) return play_loop(process, out);
    if (process.argv.at(1) == "export") {
      const fs::path sqlite = argument_with(process.argv, "--output=");
      fs::copy_file(kLoopCapture, sqlite);
      fs::permissions(sqlite, fs::perms::owner_write, fs::perm_options::add);
    } else {
      std::ofstream(argument_with(process.argv, "--output=") + ".nsys-rep") << "a report";
    }
    return {};
  }

  ProcessResult play_loop(const ProcessSpec& process, const fs::path& out) {
    const auto folder = process.env.find("NL_STAGE_TRACE_DIR");
    const bool nsys = process.argv[0] == "/opt/nsys", collector = folder != process.env.end();
    loops.push_back(nsys ? "nsys" : collector ? "collector" : "bare");
    if (nsys) std::ofstream(argument_with(process.argv, "--output=") + ".nsys-rep") << "a report";
    if (collector && collector_works) write_session(fs::path(folder->second) / "w.7.nltrace");
    ProcessResult result;
    result.exit_status = loops.back() == fails ? 3 : 0;
    const double ns = nsys ? 3700 : collector ? 3200 : 2000;
    LaunchLoops timed{13000, {}};
    for (const auto call : {CalibratedCall::kLaunch, CalibratedCall::kLaunchAmidCode, CalibratedCall::kCopy})
      timed.loops.push_back({call, std::vector<double>(40, ns)});
    if (result.exit_status == 0) std::ofstream(out) << loops_json(timed);
    return result;
  }
};

struct CalibrationScene {
  FakeTree tree;
  Config config;
  Toolset tools;
  LoopActor actor;
  Verdict verdict;
  Capture capture;
  Bundle bundle = Bundle::create({tree.root() / "runs", {}, "x", "light"}, std::chrono::system_clock::now());

  CalibrationScene() {
    config.workload.command = {"./w"};
    config.ncu.enabled = config.mark.operators = false;
    config.perturbation.repeats = 0;
    config.perturbation.calibrate = "on";
    tools.nsys.emplace();
    tools.nsys->path = "/opt/nsys";
    tools.nsys->version = {2025, 3, 1};
    tools.collector = "/lib/libnl_collector.so";
    tools.cupti = "/c/libcupti.so";
    tools.gpus = {"NVIDIA H200"};
    tools.program = "/opt/nl-stage";
  }
  Plan plan() const { return make_plan(config, tools, bundle.path()); }
  void play() {
    const Plan made = plan();
    PassRunner runner(actor, bundle, verdict, Echo::kNothing);
    capture = execute(made, runner);
  }
  Strings names() const { return test::names_of(plan()); }
};

}  // namespace

TEST_CASE("calibration: planned after the trace, where there are a GPU and a tracer") {
  CalibrationScene scene;
  CHECK(scene.names() == Strings{"nsys", "nsys-export", "calibration", "calibration", "calibration"});
  scene.config.capture.prefer = "cupti";
  CHECK(scene.names() == Strings{"collector", "calibration", "calibration"});
  SECTION("not where it is switched off") {
    scene.config.perturbation.calibrate = "off";
    CHECK(scene.names() == Strings{"collector"});
  }
  SECTION("not where the program that would loop is not known") {
    scene.tools.program.clear();
    CHECK(scene.names() == Strings{"collector"});
  }
  SECTION("not without a GPU") {
    scene.tools.gpus.clear();
    CHECK(scene.names() == Strings{"nsys", "nsys-export"});
  }
}

TEST_CASE("calibration: the loop runs bare, under nsys with the options of the capture, and under the collector") {
  CalibrationScene scene;
  scene.config.nsys.trace = {"cuda", "nvtx"};
  scene.config.nsys.capture_range = "nvtx";
  scene.config.nsys.nvtx_capture = "decode_all@LLM";
  const Plan plan = scene.plan();
  const Pass &bare = plan.passes.at(2), &nsys = plan.passes.at(3), &collector = plan.passes.at(4);
  const std::string folder = plan.bundle / "calibration";
  CHECK(bare.process.argv == Strings{"/opt/nl-stage", "calibrate", "--out", folder + "/unprofiled.json"});
  CHECK(nsys.process.argv == Strings{"/opt/nsys", "profile", "--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none",
                                     "--cuda-graph-trace=node", "--wait=all", "--force-overwrite=true", "--output=" + folder + "/nsys",
                                     "/opt/nl-stage", "calibrate", "--out", folder + "/nsys.json"});
  CHECK(collector.process.env.at("CUDA_INJECTION64_PATH") == "/lib/libnl_collector.so");
  CHECK(collector.process.env.at("NL_STAGE_CUDA_CALLS") == "work");
  CHECK(collector.process.env.at("NL_STAGE_CUPTI") == "/c/libcupti.so");
  for (const Pass* pass : {&bare, &nsys, &collector}) {
    CHECK(pass->optional);
    CHECK_FALSE(pass->starts_workload);
    CHECK_FALSE(pass->sample_power);
  }
}

TEST_CASE("calibration: costs by tracer and kind of call, in the capture and in a file; the traces are gone") {
  CalibrationScene scene;
  scene.play();
  CHECK_FALSE(scene.verdict.failure());
  CHECK(scene.actor.loops == Strings{"bare", "nsys", "collector"});
  const auto& costs = scene.capture.calibration.costs;
  REQUIRE(costs.size() == 6);
  CHECK(scene.capture.calibration.note.empty());
  CHECK(costs[0].profiler == PassKind::kNsys);
  CHECK(costs[0].version == "2025.3.1");
  CHECK(costs[0].options.starts_with("--trace="));
  CHECK(costs[0].options.find("/opt") == std::string::npos);
  CHECK(costs[0].ns == 1700);
  CHECK(costs[3].profiler == PassKind::kCollector);
  CHECK(costs[3].options == "cuda_calls=work cuda_graphs=node");
  CHECK(costs[3].ns == 1200);
  CHECK(costs[3].bare_ns == 2000);
  const fs::path folder = scene.bundle.path() / "calibration";
  const auto file = nlohmann::json::parse(test::read_file(folder / "costs.json"));
  CHECK(file.at("cuda_driver_version") == 13000);
  CHECK(file.at("costs").size() == 6);
  CHECK(file.at("costs")[0].at("tool") == "nsys");
  CHECK(file.at("costs")[5].at("call") == "copy");
  CHECK_FALSE(fs::exists(folder / "nsys.nsys-rep"));
  CHECK_FALSE(fs::exists(folder / "collector"));
  CHECK(test::read_file(folder / "cmd.txt").find("NL_STAGE_CUDA_CALLS=work") != std::string::npos);
}

TEST_CASE("calibration: a loop that fails, or is not recorded, is noted and fails nothing") {
  CalibrationScene scene;
  SECTION("under nsys: the collector's cost is known") {
    scene.actor.fails = "nsys";
    scene.play();
    REQUIRE(scene.capture.calibration.costs.size() == 3);
    CHECK(scene.capture.calibration.costs[0].profiler == PassKind::kCollector);
    CHECK(scene.capture.calibration.note == "the loop launches under nsys ended with status 3");
  }
  SECTION("bare: there is nothing to compare with") {
    scene.actor.fails = "bare";
    scene.play();
    CHECK(scene.capture.calibration.costs.empty());
    CHECK(scene.actor.loops == Strings{"bare"});
    CHECK_FALSE(fs::exists(scene.bundle.path() / "calibration/costs.json"));
  }
  SECTION("a collector that recorded nothing costs nothing") {
    scene.actor.collector_works = false;
    scene.play();
    CHECK(scene.capture.calibration.costs.size() == 3);
    CHECK(scene.capture.calibration.note == "the collector recorded nothing of the loop");
  }
  CHECK_FALSE(scene.verdict.failure());
}

TEST_CASE("calibration: where tracing cannot matter, the loops are skipped and the reason stands in the bundle") {
  CalibrationScene scene;
  scene.config.perturbation.calibrate = "auto";
  scene.config.stages.map = {{"capture", "no range is called so"}};
  scene.play();
  const bool skipped = scene.actor.loops.empty();
  CHECK(skipped == scene.capture.calibration.note.starts_with("not calibrated: tracing adds less than 5 % to every stage"));
  CHECK(skipped == scene.capture.calibration.costs.empty());
}
