#include "orchestrator/capture/count.h"

#include <chrono>
#include <fstream>

#include "model/words.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/read.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"
#include "tests/unit/orchestrator/capture/pass_words.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"
#include "tests/unit/parsers/collector/counter_file.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::orchestrator;
using nl::test::CounterFile;
using Strings = std::vector<std::string>;
using trace_format::MetricUse;

namespace {

const Strings kInPlace = {"gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum"};
const char* const kDenied =
    "counters are not measured: this user may not read them; run as root or with CAP_SYS_ADMIN, or set "
    "NVreg_RestrictProfilingToAdminUsers=0";

// One prefill with the kernels k and j, two decodes with g as a node of a CUDA graph.
Trace told_trace() {
  TraceBuilder builder;
  builder.stage("prefill", 1000, 5000);
  builder.stage("decode_all", 6000, 8000);
  builder.kernel("_Zk", 1200, 900, builder.call(1100));
  builder.kernel("_Zj", 2200, 400, builder.call(2100));
  for (const Ns start : {6200, 6800}) builder.kernel("_Zg", start, 300, builder.call(start - 100)).in_graph = 1;
  for (auto& shape : builder.trace.shapes) {
    shape.grid = {4, 1, 1};
    shape.block = {32, 1, 1};
  }
  return std::move(builder.trace);
}

// What the collector would leave behind: a window of each stage, or a launch of each name in kernels.txt.
struct Collector : Launcher {
  Strings order;               // "stages", "kernels", "kernels anywhere"
  Strings names;               // that the last kernels pass was asked for
  std::string note;            // instead of counters
  bool only_anywhere = false;  // no launch inside the ranges
  bool writes = true;
  int status = 0;
  int interrupt_at = -1, time_out_at = -1;

  ProcessResult launch(const ProcessSpec& process) override {
    const int number = static_cast<int>(order.size());
    const bool stages = process.env.at("NL_STAGE_COUNTERS") == "stages";
    const bool anywhere = process.env.count("NL_STAGE_COUNTER_RANGES") == 0;
    order.push_back(process.env.at("NL_STAGE_COUNTERS") + (anywhere ? " anywhere" : ""));
    const fs::path folder = process.env.at("NL_STAGE_TRACE_DIR");
    REQUIRE(fs::is_directory(folder));
    CounterFile file;
    file.thread(7).string(1, "LLM").string(2, "prefill").push(2, 1500, 1).pop(9000, 1).thread(0);
    if (!stages) read_names(process.env.at("NL_STAGE_COUNTER_KERNELS"));
    if (!note.empty()) file.note(note);
    else if (stages) file.set(1, MetricUse::kStage, kInPlace).window(1, 1, 2, 0, {4000, 3'000'000, 1'000'000});
    else if (anywhere || !only_anywhere) count(file);
    if (writes) std::ofstream(folder / "nvtx-100.nltrace", std::ios::binary) << file.whole();
    ProcessResult result;
    result.exit_status = status;
    result.duration_ns = 1'000'000;
    result.interrupted = number == interrupt_at;
    result.interrupt_signal = result.interrupted ? 2 : 0;
    result.timed_out = number == time_out_at;
    return result;
  }

  void read_names(const fs::path& path) {
    names.clear();
    std::ifstream lines(path);
    for (std::string line; std::getline(lines, line);) names.push_back(line);
  }

  void count(CounterFile& file) const {
    file.set(2, MetricUse::kKernel, kInPlace).set(3, MetricUse::kKernel, {"sm__throughput.avg.pct_of_peak_sustained_elapsed"}, 11);
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      file.name(i + 1, names[i]).kernel(2, i + 1, 2000 + i, {905, 2'000'000, 500'000}).kernel(3, i + 1, 3000 + i, {61});
    }
  }
};

struct Scene {
  test::FakeTree tree;
  Config config;
  Toolset tools;
  Collector collector;
  Verdict verdict;
  Evidence evidence;
  Run run;
  Tracer tracer = Tracer::kNsys;
  Trace trace = told_trace();
  Bundle bundle = Bundle::create({tree.root() / "runs", {}, "x", "deep"}, std::chrono::system_clock::now());

  Scene() {
    config.workload.command = {"./w"};
    config.perturbation.repeats = 0;
    tools.nsys.emplace();
    tools.collector = "/lib/libnl_collector.so";
    tools.gpus = {"NVIDIA H200"};
  }
  void play() { play(collector); }
  void play(Launcher& launcher) {
    if (tracer == Tracer::kCupti) config.capture.prefer = "cupti";
    const Plan plan = make_plan(config, tools, bundle.path());
    REQUIRE(plan.tracer == tracer);
    REQUIRE(plan.meter == Meter::kCupti);
    PassRunner runner(launcher, bundle, verdict, nl::orchestrator::Echo::kNothing);
    Capture capture;
    capture.trace = std::move(trace);
    const auto counting = std::find_if(plan.passes.begin(), plan.passes.end(), [](const Pass& pass) {
      return pass.kind == PassKind::kStageCounters || pass.kind == PassKind::kKernelCounters;
    });
    count(plan, {counting, plan.passes.end()}, runner, capture);
    capture.passes = runner.records();
    evidence = read(plan, std::move(capture), {}, bundle, verdict);
    run = analysis::analyse(evidence, {{}, {}, analysis_options(config)});
  }
  const KernelEntry& kernel(const std::string& name) const {
    for (const auto& entry : *run.kernels)
      if (entry.name == name) return entry;
    FAIL("no kernel " << name);
    return run.kernels->front();
  }
  std::string why(const std::string& name) const {  // it has no counters
    const auto& note = kernel(name).ncu_note;
    return note ? text_of(*note) : "";
  }
  const StageEntry& stage(const std::string& name) const {
    for (const auto& entry : run.stages)
      if (entry.name == name) return entry;
    FAIL("no stage " << name);
    return run.stages.front();
  }
  std::string captured_by() const { return nl::captured_by(run.provenance.tracer, run.provenance.meter); }
  std::optional<Code> missing() const { return evidence.counters_missing ? std::optional(evidence.counters_missing->code) : std::nullopt; }
  Strings outcomes() const { return test::outcomes_of(evidence.passes); }
};

// Leaves a file that is not a trace.
struct Foreign : Launcher {
  ProcessResult launch(const ProcessSpec& process) override {
    std::ofstream(fs::path(process.env.at("NL_STAGE_TRACE_DIR")) / "x.nltrace") << "no trace of ours, but long enough to be looked at";
    return {};
  }
};

}  // namespace

TEST_CASE("counters: the kernels that are chosen before the run is analysed are those that its summary selects") {
  Config config;
  config.run.top_n_kernels = GENERATE(1, 2, 10);
  config.run.stages = GENERATE(Strings{"prefill", "decode"}, Strings{"decode"}, Strings{"draft"});
  const Trace trace = told_trace();
  Run run;
  analysis::summarise(trace, analysis_options(config), run);
  const KernelsSoFar kernels(trace, analysis_options(config));
  std::size_t selected = 0;
  for (const KernelEntry& kernel : *run.kernels) {
    if (!kernel.selected) continue;
    REQUIRE(kernels.chosen().size() > selected);
    const KernelEntry& chosen = *kernels.chosen()[selected++];
    CHECK(chosen.name == kernel.name);
    CHECK(chosen.time.total_ns == kernel.time.total_ns);
    CHECK(chosen.graph_calls == kernel.graph_calls);
  }
  CHECK(kernels.chosen().size() == selected);
  CHECK(selected > 0);
}

TEST_CASE("counters: the stages, then the chosen kernels, joined to the trace as ncu's are") {
  Scene scene;
  scene.play();
  CHECK(scene.outcomes() == Strings{"counters-stages ok", "counters-kernels ok"});
  CHECK(scene.collector.names == Strings{"_Zj", "_Zk"});  // what runs only in graphs cannot be counted
  CHECK(scene.verdict.problems().empty());
  CHECK(scene.captured_by() == "nsys+CUPTI counters");
  const auto& counters = scene.stage("prefill").counters;
  REQUIRE(counters);
  CHECK(counters->measured_by == nl::Meter::kCupti);
  CHECK(counters->values[nl::Metric::kDramRead] == 3'000'000);
  REQUIRE(scene.kernel("_Zk").ncu.size() == 1);
  const NcuSample& sample = scene.kernel("_Zk").ncu[0];
  CHECK(sample.measured_by == nl::Meter::kCupti);
  CHECK(sample.ncu_duration_ns == 905);
  CHECK(sample.durations_agree == true);
  CHECK(sample.values[nl::Metric::kDramBytes] == 2'500'000);
  CHECK(sample.values[nl::Metric::kSm] == 61);
  CHECK(sample.stage == "prefill");
  CHECK_FALSE(scene.kernel("_Zk").ncu_note);
  CHECK(scene.kernel("_Zg").ncu.empty());
  CHECK(scene.why("_Zg") == "It runs only inside CUDA graphs, which CUPTI does not replay.");
  std::ifstream commands(scene.bundle.path() / "counters/cmd.txt");
  std::string line;
  std::getline(commands, line);
  CHECK(line.find("NL_STAGE_COUNTERS=stages") != std::string::npos);
}

TEST_CASE("counters: where all kernels are in graphs traced as wholes, the stages are counted all the same") {
  Scene scene;
  for (const nl::Kernel& kernel : scene.trace.kernels)
    scene.trace.graph_runs.push_back({kernel.start_ns, kernel.end_ns(), static_cast<std::uint32_t>(kernel.queue), kernel.api});
  scene.trace.kernels.clear();
  scene.tracer = Tracer::kCupti;
  scene.play();
  CHECK(scene.outcomes() == Strings{"counters-stages ok"});
  CHECK(scene.verdict.problems().empty());
  CHECK(scene.stage("prefill").counters);
}

TEST_CASE("counters: a kernel that is launched outside of the ranges is looked for everywhere, once") {
  Scene scene;
  scene.collector.only_anywhere = true;
  scene.tracer = Tracer::kCupti;
  scene.play();
  CHECK(scene.collector.order == Strings{"stages", "kernels", "kernels anywhere"});
  CHECK(scene.kernel("_Zk").ncu.size() == 1);
  CHECK(scene.verdict.problems().empty());
  CHECK(scene.captured_by() == "collector (CUPTI+counters)");
  CHECK(scene.evidence.adaptations == std::vector<Remark>{{Code::kWiderRanges, {"the counter pass"}}});
  CHECK(fs::exists(scene.bundle.path() / "counters/kernels-2/nvtx-100.nltrace"));
}

TEST_CASE("counters: where no range marks the stages, they are not counted, and the kernels wherever they are launched") {
  Scene scene;
  for (nl::Range& range : scene.trace.ranges) range.domain = scene.trace.strings.intern(std::string(nl::kStageDomain));
  scene.play();
  CHECK(scene.outcomes() == Strings{"counters-stages skipped", "counters-kernels ok"});
  CHECK(scene.collector.order == Strings{"kernels anywhere"});
  CHECK(scene.kernel("_Zk").ncu.size() == 1);
  CHECK(scene.verdict.problems().empty());
  CHECK(scene.evidence.adaptations == std::vector<Remark>{{Code::kStagesLeftOut, {"the workload marks none"}}});
}

TEST_CASE("counters: without permission the trace stands, the fix is said, and no second pass is tried") {
  Scene scene;
  scene.collector.note = kDenied;
  scene.play();
  CHECK(scene.collector.order == Strings{"stages"});
  CHECK(scene.captured_by() == "nsys");
  REQUIRE(scene.verdict.problems().size() == 1);
  CHECK(scene.verdict.failure() == ErrorKind::kTool);  // as where ncu is not permitted
  CHECK(status_of(scene.verdict.problems(), true) == RunStatus::kPartial);
  CHECK(scene.verdict.problems()[0].code == Code::kCountersDenied);
  CHECK(scene.missing() == Code::kCountersDenied);
  CHECK(scene.run.provenance.counters_missing->code == Code::kCountersDenied);
  CHECK(scene.verdict.problems()[0].fix.find("NVreg_RestrictProfilingToAdminUsers=0") != std::string::npos);
  CHECK(scene.why("_Zk") == "CUPTI may not read the GPU's performance counters.");
  CHECK(scene.why("_Zg").starts_with("It runs only inside CUDA graphs"));
  CHECK_FALSE(scene.stage("prefill").counters);
  CHECK(scene.evidence.passes[0].detail == "CUPTI may not read the GPU's performance counters.");
}

TEST_CASE("counters: who holds them is named, and that is a capture problem") {
  Scene scene;
  scene.config.capture.stage_counters = false;
  scene.collector.note = "another CUPTI client holds this process (CUPTI-Kineto): counters are not measured. Run without it";
  scene.play();
  CHECK(scene.collector.order == Strings{"kernels"});
  CHECK(scene.verdict.failure() == ErrorKind::kCapture);
  CHECK(scene.missing() == Code::kCountersBusy);
  CHECK(scene.why("_Zj") == "Another profiler holds the GPU's performance counters (CUPTI-Kineto).");
}

TEST_CASE("counters: a workload that fails under them leaves what was counted, and the trace") {
  Scene scene;
  scene.collector.status = 3;
  scene.play();
  CHECK(scene.outcomes() == Strings{"counters-stages failed", "counters-kernels failed"});
  CHECK(scene.kernel("_Zk").ncu.size() == 1);
  CHECK(scene.stage("prefill").counters);
  REQUIRE(scene.verdict.problems().size() == 2);
  CHECK(scene.verdict.problems()[0].what == "The workload ended with status 3 in the counters-stages pass.");
  CHECK(status_of(scene.verdict.problems(), true) == RunStatus::kPartial);
  Scene nothing;
  nothing.collector.status = 139;
  nothing.collector.writes = false;
  nothing.play();
  CHECK(nothing.why("_Zk") == "The GPU's performance counters could not be measured: the collector wrote no file.");
  CHECK(nothing.run.kernels->size() == 3);
}

TEST_CASE("counters: an interrupted or overlong pass ends the counting") {
  Scene scene;
  const bool timeout = GENERATE(false, true);
  (timeout ? scene.collector.time_out_at : scene.collector.interrupt_at) = 0;
  scene.play();
  CHECK(scene.collector.order == Strings{"stages"});
  CHECK(scene.outcomes() == Strings{timeout ? "counters-stages timeout" : "counters-stages interrupted", "counters-kernels skipped"});
  CHECK(scene.verdict.stopped());
  CHECK(scene.why("_Zk") == "The run was ended before the counters were measured.");
  CHECK(scene.stage("prefill").counters);  // what was there by then
  if (timeout) CHECK(scene.verdict.problems()[0].fix == "Raise the limit: --set ncu.timeout_s=14400");
}

TEST_CASE("counters: nothing is started after a failed or interrupted trace") {
  Scene interrupted;
  interrupted.verdict.interrupted(15);
  interrupted.play();
  CHECK(interrupted.collector.order.empty());
  CHECK(interrupted.why("_Zk") == "The run was ended before the counters were measured.");
  Scene failed;
  failed.verdict.add(Error(ErrorKind::kWorkload, "crashed"));
  failed.play();
  CHECK(failed.collector.order.empty());
  CHECK(failed.why("_Zk").find("the workload failed in the traced pass") != std::string::npos);
}

TEST_CASE("counters: kernels that talk to other GPUs are left alone, and that is said") {
  Scene scene;
  for (auto& shape : scene.trace.shapes)
    if (std::string_view(scene.trace.strings[shape.name]) == "_Zk")
      shape.mangled_name = scene.trace.strings.intern("_Z31ncclDevKernel_AllReduce_Sum_f16");
  scene.play();
  CHECK(scene.collector.names == Strings{"_Zj"});
  CHECK(scene.why("_Zk").starts_with("It talks to other GPUs"));
}

TEST_CASE("counters: all in graphs, the kernels pass is not started") {
  Scene scene;
  for (auto& kernel : scene.trace.kernels) kernel.in_graph = 1;
  scene.play();
  CHECK(scene.collector.order == Strings{"stages"});
  CHECK(scene.verdict.problems().empty());
  CHECK(scene.why("_Zk").starts_with("It runs only inside CUDA graphs"));
}

TEST_CASE("counters: a damaged file is counted, a foreign one is a problem, and neither loses the trace") {
  Scene scene;
  Foreign foreign;
  scene.play(foreign);
  CHECK_FALSE(scene.verdict.problems().empty());
  CHECK(scene.run.kernels->size() == 3);
  CHECK(scene.kernel("_Zk").ncu_note);
}

TEST_CASE("counters: a bundle that cannot be written to is a problem, and what was counted before stays") {
  Scene scene;
  fs::create_directories(scene.bundle.path() / "counters/kernels.txt/in the way");
  scene.play();
  CHECK(scene.collector.order == Strings{"stages"});
  CHECK(scene.verdict.failure() == ErrorKind::kOutput);
  CHECK(scene.stage("prefill").counters);
  CHECK(scene.kernel("_Zk").ncu_note);
}

TEST_CASE("counters: why they are missing, whole, for each way that the passes end") {
  const auto told = [](const Scene& scene) { return test::whole_problems(scene.verdict.problems()); };
  SECTION("denied") {
    Scene scene;
    scene.collector.note = kDenied;
    scene.play();
    CHECK(told(scene) == Strings{"counters-denied: CUPTI may not read the GPU's performance counters. | counters/cmd.txt"});
    CHECK(test::whole_records(scene.evidence.passes) ==
          Strings{"counters-stages ok 0 [counters/stages] CUPTI may not read the GPU's performance counters."});
  }
  SECTION("the stages were counted, the kernels were not") {
    Scene scene;
    struct Half : Collector {
      ProcessResult launch(const ProcessSpec& process) override {
        note = process.env.at("NL_STAGE_COUNTERS") == "stages" ? "" : "counters are not measured: it broke.";
        return Collector::launch(process);
      }
    } half;
    scene.play(half);
    CHECK(half.order == Strings{"stages", "kernels"});
    CHECK(told(scene) == Strings{"kernel-counters-failed: The counters of the stages were measured, those of the kernels were not: it "
                                 "broke. | counters/cmd.txt"});
    CHECK(scene.evidence.counters_missing == Remark{Code::kCountersFailed, {"it broke"}});
    CHECK(scene.stage("prefill").counters);
    CHECK(scene.captured_by() == "nsys+CUPTI counters");
  }
  SECTION("some of the kernels, wherever they are launched") {
    Scene scene;
    struct OnlyOne : Collector {
      ProcessResult launch(const ProcessSpec& process) override {
        const ProcessResult result = Collector::launch(process);
        if (process.env.at("NL_STAGE_COUNTERS") == "stages") return result;
        CounterFile file;
        file.thread(7).thread(0).set(2, MetricUse::kKernel, kInPlace).name(1, "_Zk").kernel(2, 1, 2000, {905, 2, 5});
        std::ofstream(fs::path(process.env.at("NL_STAGE_TRACE_DIR")) / "nvtx-100.nltrace", std::ios::binary) << file.whole();
        return result;
      }
    } one;
    const bool named = GENERATE(true, false);
    if (!named) scene.config.run.stages.clear();
    scene.play(one);
    CHECK(one.order == (named ? Strings{"stages", "kernels"} : Strings{"kernels anywhere"}));
    CHECK(told(scene) == Strings{"counters-partly: CUPTI measured 2 of the 3 chosen kernels. Missing: _Zj. | counters/kernels.txt"});
    CHECK(scene.why("_Zj") ==
          (named ? "It was not launched inside the chosen ranges of the counter pass." : "It was not launched in the counter passes."));
  }
  SECTION("no window of the stages, and the kernels all the same") {
    Scene scene;
    struct NoWindow : Collector {
      ProcessResult launch(const ProcessSpec& process) override {
        writes = process.env.at("NL_STAGE_COUNTERS") != "stages";
        const ProcessResult result = Collector::launch(process);
        if (!writes)
          std::ofstream(fs::path(process.env.at("NL_STAGE_TRACE_DIR")) / "nvtx-100.nltrace", std::ios::binary)
              << CounterFile().thread(7).whole();
        return result;
      }
    } none;
    scene.play(none);
    CHECK(none.order == Strings{"stages", "kernels"});
    CHECK(told(scene) == Strings{"stages-not-counted: No window of the stages was counted (stages: prefill, decode). | "});
    CHECK(scene.kernel("_Zk").ncu.size() == 1);
    CHECK_FALSE(scene.missing());
  }
  SECTION("the workload fails in both passes, before a kernel is met") {
    Scene scene;
    scene.collector.status = 3;
    scene.collector.only_anywhere = true;
    scene.play();
    CHECK(scene.collector.order == Strings{"stages", "kernels"});
    CHECK(
        told(scene) ==
        Strings{"counter-pass-failed: The workload ended with status 3 in the counters-stages pass. | logs/counters-stages.stderr.log",
                "counter-pass-failed: The workload ended with status 3 in the counters-kernels pass. | logs/counters-kernels.stderr.log"});
    CHECK(scene.missing() == Code::kFailedWhileCounted);
    CHECK(test::whole_records(scene.evidence.passes) ==
          Strings{"counters-stages failed 3 [counters/stages] the workload ended with status 3",
                  "counters-kernels failed 3 [counters/kernels] the workload ended with status 3"});
  }
  SECTION("the workload fails, and the collector writes nothing") {
    Scene scene;
    scene.collector.status = 3;
    scene.collector.writes = false;
    scene.play();
    CHECK(scene.evidence.passes.at(0).detail ==
          "the workload ended with status 3; The GPU's performance counters could not be measured: the collector wrote no file.");
    CHECK(told(scene).back() ==
          "counters-failed: The GPU's performance counters could not be measured: the collector wrote no file. | counters/cmd.txt");
    CHECK(scene.collector.order.size() == 2);  // the stages' failure says nothing of the kernels
  }
  SECTION("a foreign file") {
    Scene scene;
    scene.config.capture.stage_counters = false;
    Foreign foreign;
    scene.play(foreign);
    REQUIRE(scene.verdict.problems().size() == 1);
    CHECK(scene.missing() == Code::kCountersFailed);
    CHECK(scene.evidence.counters_missing->details.at(0) == scene.verdict.problems()[0].what);
  }
  SECTION("a bundle that cannot be written to") {
    Scene scene;
    fs::create_directories(scene.bundle.path() / "counters/kernels.txt/in the way");
    scene.play();
    REQUIRE(scene.verdict.problems().size() == 1);
    CHECK(scene.evidence.counters_missing == Remark{Code::kCountersFailed, {scene.verdict.problems()[0].what}});
  }
}
