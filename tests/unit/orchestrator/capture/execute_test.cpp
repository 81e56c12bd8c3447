// The collector's capture, with a collector that is played: what it says in its trace, and what becomes of it.
#include "orchestrator/capture/capture.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "model/words.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/read.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/capture/pass_words.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"
#include "tests/unit/parsers/collector/counter_file.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::orchestrator;
using nl::test::CounterFile;
using Strings = std::vector<std::string>;
using trace_format::NoteCode;

namespace {

struct TwoMeters : PowerMeter {
  explicit TwoMeters(std::atomic<int>& reads) : reads_(reads) {}
  std::vector<PowerSample> read(bool) override {
    ++reads_;
    std::vector<PowerSample> samples(2);
    samples[1].device = 1;
    return samples;
  }
  std::vector<std::string> uuids() const override { return {"GPU-a", "GPU-b"}; }
  std::atomic<int>& reads_;
};

struct CollectorScene {
  test::FakeTree tree;
  Config config = test::config_for({"./w"});
  Toolset tools;
  Verdict verdict;
  Plan plan;
  Capture capture;
  Evidence evidence;
  std::vector<ProcessSpec> started;
  std::atomic<int> reads = 0;
  PowerSource power;
  Bundle bundle = Bundle::create({tree.root() / "runs", {}, "x", "light"}, std::chrono::system_clock::now());
  CounterFile file;
  bool gpu = true;  // its GPU half came to work
  bool writes = true;
  std::string bytes;  // instead of the file
  ProcessResult ends;

  CollectorScene() {
    tools.collector = "/lib/libnl_collector.so";
    tools.gpus = {"NVIDIA H200"};
    config.ncu.enabled = false;
    file.thread(7).string(1, "LLM").string(2, "prefill").push(2, 1500, 1).pop(9000, 1).thread(0);
  }
  CollectorScene& note(NoteCode code, const std::string& words) {
    file.note(words, code);
    return *this;
  }
  void play(const ProcessSpec& process, ProcessResult& result) const {
    result = ends;
    const bool sampled = power.sampler && process.env.at("NL_STAGE_TRACE_DIR").find("perturbation") == std::string::npos;
    for (int i = 0, before = reads; sampled && i < 1000 && reads == before; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CounterFile whole = file;
    if (gpu) whole.add(trace_format::Kind::kGpuSession, trace_format::GpuSession{{}, 900, 1, 1}, 130001);
    const fs::path folder = process.env.at("NL_STAGE_TRACE_DIR");
    if (writes) std::ofstream(folder / "w.7.nltrace", std::ios::binary) << (bytes.empty() ? whole.whole() : bytes);
  }
  Strings run() {
    plan = make_plan(config, tools, bundle.path());
    test::PlayedLauncher launcher([this](const ProcessSpec& process, ProcessResult& result) { play(process, result); });
    PassRunner runner(launcher, bundle, verdict, nl::orchestrator::Echo::kNothing);
    runner.sample_power(power.sampler.get());
    capture = execute(plan, runner);
    started = launcher.started;
    return test::whole_problems(verdict.problems());
  }
  Strings records() const { return test::whole_records(capture.passes); }
  // The capture is gone then.
  Run analysed() {
    evidence = read(plan, std::move(capture), power, bundle, verdict);
    return analysis::analyse(evidence, {{}, {}, analysis_options(config)});
  }
};

}  // namespace

TEST_CASE("collector: a good pass leaves its files, a trace and the workload's status") {
  CollectorScene scene;
  CHECK(scene.run() == Strings{});
  CHECK(scene.records() == Strings{"collector ok 0 [collector]"});
  CHECK(scene.capture.collector_files == std::vector<fs::path>{scene.bundle.path() / "collector/w.7.nltrace"});  // not its cmd.txt
  CHECK(scene.capture.workload_exit == 0);
  CHECK(scene.capture.trace.has_kernel_data);
  CHECK(scene.capture.trace.ranges.size() == 1);
  CHECK(fs::exists(scene.bundle.path() / "collector/run.sqlite"));
  CHECK(scene.capture.adaptations == std::vector<Remark>{{Code::kTracedByCollector, {"nsys was not found"}}});
  scene.analysed();
  CHECK(scene.evidence.adaptations == scene.plan.adaptations);
}

TEST_CASE("collector: what kept CUPTI from recording is a problem, in its own words") {
  CollectorScene scene;
  scene.gpu = false;
  const std::string words = "kernels, copies and CUDA calls are not recorded: libcupti.so was not found";
  scene.note(NoteCode::kOther, "something else").note(NoteCode::kNotRecorded, words + ".");
  SECTION("where there is a GPU") {
    scene.config.ncu.enabled = true;  // without kernels nothing is counted, which needs no further word
    scene.tools.ncu.emplace().path = "/opt/ncu";
    CHECK(scene.run() == Strings{"cupti-silent: CUPTI recorded no kernel: " + words + ". | collector/"});
    CHECK(scene.verdict.failure() == ErrorKind::kCapture);
    CHECK(scene.started.size() == 1);
    CHECK_FALSE(scene.capture.counters_missing);
    CHECK(scene.analysed().kernels_note == Remark{Code::kNotRecorded, {words}});
  }
  SECTION("not where there is none") {
    scene.tools.gpus.clear();
    CHECK(scene.run() == Strings{});
    CHECK(scene.analysed().kernels_note == Remark{Code::kNoGpu, {""}});
  }
  SECTION("nor where kernels were recorded all the same") {
    scene.gpu = true;
    CHECK(scene.run() == Strings{});
  }
}

TEST_CASE("collector: without a file it recorded nothing, which a workload that failed explains") {
  CollectorScene scene;
  scene.writes = false;
  if (GENERATE(false, true)) scene.tools.gpus.clear();
  SECTION("ended well") { CHECK(scene.run() == Strings{"collector-silent: The collector recorded nothing. | collector/"}); }
  SECTION("failed") {
    scene.ends.exit_status = 2;
    CHECK(scene.run() == Strings{"workload-failed: ./w ended with status 2. | logs/collector.stderr.log"});
    CHECK(scene.records() == Strings{"collector failed 2 [collector] the workload ended with status 2"});
  }
  CHECK_FALSE(scene.capture.any());
}

TEST_CASE("collector: a file that is none of its own is a problem") {
  CollectorScene scene;
  scene.bytes = "no trace of ours, but long enough to be looked at";
  REQUIRE(scene.run().size() == 1);
  CHECK(scene.verdict.problems()[0].code == Code::kError);
  CHECK(scene.verdict.failure() == ErrorKind::kInput);
  CHECK(scene.capture.any());
}

TEST_CASE("collector: sampling that was asked for and did not work is a problem") {
  CollectorScene scene;
  const NoteCode activity = GENERATE(NoteCode::kActivityDenied, NoteCode::kActivityFailed);
  const NoteCode stalls = GENERATE(NoteCode::kStallsDenied, NoteCode::kStallsFailed);
  scene.note(activity, "activity is not sampled: why").note(stalls, "stalls are not sampled: why");
  const std::string no_activity = activity == NoteCode::kActivityDenied ? "activity-denied" : "activity-failed";
  const std::string no_stalls = stalls == NoteCode::kStallsDenied ? "stalls-denied" : "stalls-failed";
  const auto codes = [&] {
    scene.run();
    Strings keys;
    for (const Problem& problem : scene.verdict.problems()) keys.emplace_back(key_of(problem.code));
    return keys;
  };
  SECTION("neither") { CHECK(codes() == Strings{}); }
  SECTION("activity") {
    scene.config.capture.sampling_us = 500;
    CHECK(codes() == Strings{no_activity});
  }
  SECTION("stalls") {
    scene.config.capture.pc_sampling = 18;
    CHECK(codes() == Strings{no_stalls});
  }
  SECTION("both: the GPU does one, the plan says so") {
    scene.config.capture.sampling_us = 500;
    scene.config.capture.pc_sampling = 18;
    CHECK(codes() == Strings{no_stalls});
  }
  SECTION("activity, of which there is some") {
    scene.config.capture.sampling_us = 500;
    scene.file.set(900001, trace_format::MetricUse::kSamples, {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"})
        .samples(900001, {{1600, 500, {12}}});
    CHECK(codes() == Strings{});
  }
  SECTION("stalls, of which there are some") {
    scene.config.capture.pc_sampling = 18;
    scene.file.name(5, "_Zk").text(trace_format::Kind::kStallReason, 1, "smsp__pcsamp_warps_issue_stalled_wait").stalls(5, {{1, 5}});
    CHECK(codes() == Strings{});
  }
}

TEST_CASE("collector: where a launch failed while graph nodes were traced, tracing whole graphs is advised") {
  const auto advised = [](const std::function<void(CollectorScene&)>& change) {
    CollectorScene scene;
    scene.ends.exit_status = 1;
    scene.ends.stderr_text = "CUDA error: unspecified launch failure";
    change(scene);
    scene.run();
    return scene.verdict.problems().at(0).fix.find("--set capture.cuda_graphs=graph") != std::string::npos;
  };
  CHECK(advised([](CollectorScene&) {}));
  CHECK_FALSE(advised([](CollectorScene& scene) { scene.config.capture.cuda_graphs = "graph"; }));
  CHECK_FALSE(advised([](CollectorScene& scene) { scene.config.capture.pc_sampling = 18; }));  // stalls need the nodes
  CHECK_FALSE(advised([](CollectorScene& scene) { scene.tools.gpus.clear(); }));
}

TEST_CASE("collector: the meters are read during the traced and the unprofiled passes, and kept apart") {
  CollectorScene scene;
  scene.power.sampler = std::make_unique<PowerSampler>(std::make_unique<TwoMeters>(scene.reads), 1);
  scene.power.note = "a note";
  scene.config.perturbation.repeats = 2;
  SECTION("both") {
    scene.run();
    CHECK(scene.started.size() == 4);
    CHECK_FALSE(scene.capture.power.empty());
    CHECK(scene.capture.repeats.unprofiled_power.size() == 2);
    for (const auto& pass : scene.capture.repeats.unprofiled_power) CHECK_FALSE(pass.samples.empty());
    const std::size_t readings = scene.capture.power.size();
    scene.analysed();
    CHECK(scene.evidence.power.size() == readings);
    CHECK(scene.evidence.repeats.unprofiled_power.size() == 2);
  }
  SECTION("an unprofiled pass that failed leaves none") {
    scene.ends.exit_status = 1;
    scene.run();
    CHECK(scene.capture.repeats.unprofiled_power.empty());
    scene.analysed();
  }
  SECTION("those of an unprofiled pass that was interrupted do not pass for those of the trace, which was not made") {
    scene.ends.interrupted = true;
    scene.ends.interrupt_signal = SIGINT;
    scene.run();
    CHECK(scene.started.size() == 1);
    CHECK(scene.capture.repeats.unprofiled_power.empty());
    CHECK(scene.capture.power.empty());
    scene.analysed();
  }
  CHECK(scene.evidence.meter_uuids == Strings{"GPU-a", "GPU-b"});
  CHECK(scene.evidence.power_note == "a note");
}

TEST_CASE("evidence: what the plan, the bundle and the capture say, each in its place") {
  CollectorScene scene;
  scene.config.run.name = "the name";
  scene.config.run.mode = "light";
  scene.config.model.name = "the model";
  scene.config.model.attributes = {{"layers", "3"}};
  scene.config.workload.working_directory = scene.tree.root();
  scene.tools.driver_version = "580.1";
  scene.tools.gpu_trouble = "";
  scene.ends.exit_status = 4;
  scene.run();
  const Run run = scene.analysed();
  const Evidence& evidence = scene.evidence;
  CHECK(evidence.run_id == scene.bundle.run_id());
  CHECK(evidence.created_at == scene.bundle.created_at());
  CHECK(evidence.name == "the name");
  CHECK(evidence.mode == "light");
  CHECK(evidence.model.name == "the model");
  CHECK(evidence.model.attributes == scene.config.model.attributes);
  CHECK(evidence.workload.command == Strings{"./w"});
  CHECK(evidence.workload.working_directory == scene.tree.root());
  CHECK(evidence.workload.exit_status == 4);
  CHECK(evidence.tracer == Tracer::kCupti);
  CHECK(evidence.meter == Meter::kNone);
  CHECK(evidence.hardware.driver_version == "580.1");
  CHECK(evidence.captured_any);
  CHECK(evidence.trace.ranges.size() == 1);
  CHECK(evidence.overhead_note == "no unprofiled pass was run (perturbation.repeats is 0); --set perturbation.repeats=3 runs some");
  CHECK_FALSE(evidence.no_kernels_note);
  CHECK_FALSE(evidence.meter_uuids);
  CHECK(evidence.counters_missing->code == Code::kCountersOff);
  CHECK(test::outcomes_of(evidence.passes) == Strings{"collector failed"});
  CHECK(evidence.problems == scene.verdict.problems());
  CHECK(evidence.problems.size() == 1);
  CHECK(evidence.software.nsys_version.empty());
  CHECK(evidence.software.ncu_version.empty());

  CHECK(run.run_id == evidence.run_id);
  CHECK(run.created_at == evidence.created_at);
  CHECK(run.name == "the name");
  CHECK(run.mode == "light");
  CHECK(run.model.name == "the model");
  CHECK(run.workload.exit_status == 4);
  CHECK(run.hardware.driver_version == "580.1");
  CHECK(run.software.nl_stage_version == evidence.software.nl_stage_version);
  CHECK(run.provenance.tracer == Tracer::kCupti);
  CHECK(run.provenance.meter == Meter::kNone);
  CHECK(run.provenance.passes.size() == 1);
  CHECK(run.provenance.adaptations == evidence.adaptations);
  CHECK(run.provenance.counters_missing->code == Code::kCountersOff);
  CHECK(run.problems.at(0) == evidence.problems[0]);
  CHECK(run.status == RunStatus::kFailed);
  CHECK(run.perturbation.note == evidence.overhead_note);
}

TEST_CASE("evidence: the versions of the tools that were used, and why there is no overhead or kernel") {
  CollectorScene scene;
  Strings notes;
  std::vector<PassRecord> passes;
  Verdict verdict;
  const auto read_it = [&] {
    Capture capture;
    capture.repeats.notes = notes;
    capture.passes = passes;
    const Plan plan = make_plan(scene.config, scene.tools, scene.bundle.path());
    return read(plan, std::move(capture), {}, scene.bundle, verdict);
  };
  scene.config.perturbation.repeats = 3;
  CHECK(read_it().overhead_note == "no unprofiled pass was run");
  notes = {"one", "two"};
  CHECK(read_it().overhead_note == "one");
  CHECK(read_it().repeats.notes.size() == 2);
  CHECK(read_it().workload.working_directory == fs::current_path().string());
  scene.tools.gpus.clear();
  scene.tools.gpu_trouble = "no driver";
  CHECK(read_it().overhead_note == "overhead not measured: the capture itself ran unprofiled");
  CHECK(read_it().no_kernels_note == Remark{Code::kNoGpu, {" (no driver)"}});
  CHECK_FALSE(read_it().captured_any);

  scene.tools.nsys.emplace().version = {2025, 3, 1};
  scene.tools.ncu.emplace().version = {2025, 2, 0};
  scene.tools.gpus = {"NVIDIA H200"};
  scene.config.ncu.enabled = true;
  CHECK(read_it().software.nsys_version == "2025.3.1");
  CHECK(read_it().software.ncu_version == "");
  CHECK_FALSE(read_it().no_kernels_note);
  passes.resize(1);
  passes[0].kind = PassKind::kNcu;
  passes[0].outcome = PassOutcome::kSkipped;
  CHECK(read_it().software.ncu_version == "");
  passes[0].outcome = PassOutcome::kFailed;
  CHECK(read_it().software.ncu_version == "2025.2.0");
  CHECK(read_it().meter == Meter::kNcu);
  verdict.add(Code::kNsysKilled, {"9"});
  verdict.add(Code::kPassTimeout, {"nsys", "1", "x", "4"});
  CHECK(read_it().no_kernels_note == Remark{Code::kNote, {"nsys was killed by signal 9."}});
  scene.tools.collector.reset();
  CHECK(read_it().overhead_note == "the collector, which times the unprofiled passes, was not found (nl-stage doctor)");
}

TEST_CASE("collector: native stacks stand beside the facts, and are joined to the trace by its own clock") {
  CollectorScene scene;
  scene.ends.stacks.files = {{100, "nl-stage stacks\t1\nsampler\tperf\nf\t0\t0\tsteer\t/srv/w\t\t0\t\nk\t0\t0\ns\t2500\t7\t0\n"},
                             {8, "nl-stage stacks\t1\nsampler\tperf\nf\t0\t0\tother\t/srv/w\t\t0\t\nk\t0\t0\ns\t2600\t8\t0\n"}};
  CHECK(scene.run() == Strings{});
  CHECK(fs::exists(scene.bundle.path() / "facts/stacks-100.txt"));
  CHECK(scene.capture.adaptations.size() == 1);  // no word on them
  const Ns start_ns = *scene.capture.trace.monotonic_start_ns;
  scene.analysed();
  const HostSamples& host = scene.evidence.trace.host;
  CHECK(host.sampler == HostSampler::kPerf);
  REQUIRE(host.samples.size() == 1);  // process 8 is not in the trace
  CHECK(host.samples[0].time_ns == 2500 - start_ns);
  CHECK(host.frames.at(0).function == "steer");
  CHECK(find_first(scene.evidence.trace.stats.notes, {Code::kStacksNotJoined}) == nullptr);
}

TEST_CASE("collector: a kernel that does not let us sample is noted once, with what would allow it, unless Python sampled itself") {
  CollectorScene scene;
  scene.ends.stacks.error = EPERM;
  const bool python = GENERATE(false, true);
  fs::create_directories(scene.bundle.path() / "facts");
  if (python) std::ofstream(scene.bundle.path() / "facts/facts-7.json") << "{}";
  CHECK(scene.run() == Strings{});
  CHECK(scene.verdict.failure() == std::nullopt);
  std::size_t notes = 0;
  for (const Remark& note : scene.capture.adaptations) {
    if (note.code != Code::kStacksRefused) continue;
    ++notes;
    CHECK(test::has(text_of(note), "perf_event_open is forbidden"));
    CHECK(note.details.size() == 2);
  }
  CHECK(notes == (python ? 0 : 1));
}

TEST_CASE("collector: samples that failed for another reason are incomplete, and the run goes on") {
  CollectorScene scene;
  scene.ends.stacks.error = EMFILE;
  CHECK(scene.run() == Strings{});
  CHECK(scene.capture.adaptations.back() == Remark{Code::kStacksFailed, {"perf_event_open failed: Too many open files"}});
}
