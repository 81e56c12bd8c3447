// The passes that count, with an ncu that is played: what each way of ending leaves, what is tried again, what is said.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>

#include "analysis/figures/counters/join_counters.h"
#include "orchestrator/capture/count.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"
#include "tests/unit/files.h"
#include "tests/unit/orchestrator/capture/pass_words.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::orchestrator;
using Strings = std::vector<std::string>;

namespace {

// Three kernels in a prefill, the longest first.
Trace three_kernels() {
  TraceBuilder builder;
  builder.stage("prefill", 1000, 9000);
  for (const auto& [name, start, duration] : {std::tuple("_Za", 1200, 900), std::tuple("_Zb", 2200, 800), std::tuple("_Zc", 3200, 700)})
    builder.kernel(name, start, static_cast<std::uint64_t>(duration), builder.call(start - 50));
  for (auto& shape : builder.trace.shapes) {
    shape.grid = {4, 1, 1};
    shape.block = {32, 1, 1};
  }
  return std::move(builder.trace);
}

std::string page_of(const Strings& kernels) {
  std::string text =
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"gpu__time_duration.sum\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ns\"\n";
  for (std::size_t i = 0; i < kernels.size(); ++i)
    text += "\"" + std::to_string(i) + "\",\"100\",\"" + kernels[i] + "\",\"(32, 1, 1)\",\"(4, 1, 1)\",\"0\",\"9.0\",\"905\"\n";
  return text;
}

ProcessResult ended(int status, int signal = 0) {
  ProcessResult result;
  result.exit_status = status;
  result.term_signal = signal;
  return result;
}

// One try of ncu, and its exports.
struct NcuTry {
  std::string log = {};  // ncu's own lines
  bool report = true;
  Strings measured = {};  // in the raw page
  ProcessResult profiled = {}, exported = {};
  bool pages = true;
  std::string page = {};   // instead of the raw one
  std::string error = {};  // it cannot be started
};

struct NcuScene {
  test::FakeTree tree;
  Config config = test::config_for({"./w"});
  Toolset tools;
  Verdict verdict;
  Capture capture;
  std::vector<NcuTry> tries;
  std::vector<ProcessSpec> started;
  std::vector<PassRecord> records;
  Bundle bundle = Bundle::create({tree.root() / "runs", {}, "x", "deep"}, std::chrono::system_clock::now());

  NcuScene() {
    tools.nsys.emplace().path = "/opt/nsys";
    tools.ncu.emplace().path = "/opt/ncu";
    tools.gpus = {"NVIDIA H200"};
    capture.trace = three_kernels();
  }
  void play(const ProcessSpec& process, ProcessResult& result) {
    const bool exporting = process.argv.at(1) == "--import";
    if (!exporting) ++at_;
    const NcuTry& now = tries.at(static_cast<std::size_t>(at_));
    result = exporting ? now.exported : now.profiled;
    if (exporting) {
      if (now.pages) std::ofstream(process.stdout_log) << (now.page.empty() ? page_of(now.measured) : now.page);
      else result.exit_status = 1;
      return;
    }
    if (!now.error.empty()) throw Error(ErrorKind::kTool, now.error, "ncu");
    std::ofstream(process.stdout_log) << "the workload's own words\n" << now.log;
    if (now.report) std::ofstream(bundle.path() / "ncu/profile.ncu-rep") << "report " << at_;
  }
  Strings run() {
    const Plan plan = make_plan(config, tools, bundle.path());
    capture.adaptations = plan.adaptations;
    test::PlayedLauncher launcher([this](const ProcessSpec& process, ProcessResult& result) { play(process, result); });
    PassRunner runner(launcher, bundle, verdict, nl::orchestrator::Echo::kNothing);
    const auto counting = std::find_if(plan.passes.begin(), plan.passes.end(),
                                       [](const Pass& pass) { return pass.kind != PassKind::kNsys && pass.kind != PassKind::kNsysExport; });
    count(plan, {counting, plan.passes.end()}, runner, capture);
    started = launcher.started;
    records = runner.records();
    return test::whole_problems(verdict.problems());
  }
  Strings outcomes() const { return test::outcomes_of(records); }
  std::string argument(std::size_t process, const std::string& option) const {
    const auto& argv = started.at(process).argv;
    const auto found = std::find(argv.begin(), argv.end(), option);
    return found == argv.end() || found + 1 == argv.end() ? "" : *(found + 1);
  }
  std::size_t measured() const {
    std::size_t launches = 0;
    for (const NcuReport& report : capture.ncu) launches += report.launches.size();
    return launches;
  }
  Strings bundled() const {  // in its ncu folder
    Strings names;
    for (const auto& entry : fs::directory_iterator(bundle.path() / "ncu")) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  int at_ = -1;
};

const Strings kAll = {"_Za", "_Zb", "_Zc"};
const Strings kOneTry = {"ncu ok", "ncu-export-raw ok", "ncu-export-details ok"};

}  // namespace

TEST_CASE("ncu: the chosen kernels are measured in one try") {
  NcuScene scene;
  scene.tries = {{.measured = kAll}};
  CHECK(scene.run() == Strings{});
  CHECK(scene.outcomes() == kOneTry);
  CHECK(scene.argument(0, "--kernel-name") == "regex:^(_Za|_Zb|_Zc)$");
  CHECK(scene.argument(0, "--kernel-name-base") == "mangled");
  CHECK(scene.argument(1, "--page") == "raw");
  CHECK(scene.argument(2, "--page") == "details");
  CHECK(scene.measured() == 3);
  CHECK_FALSE(scene.capture.counters_missing);
  CHECK(scene.bundled() == Strings{"cmd.txt", "details.csv", "profile.ncu-rep", "raw.csv"});
}

TEST_CASE("ncu: names are compared as the configuration asks") {
  NcuScene scene;
  scene.config.ncu.kernel_name_base = "demangled";
  scene.config.run.top_n_kernels = 2;
  scene.tries = {{.measured = kAll}};
  CHECK(scene.run() == Strings{});
  CHECK(scene.argument(0, "--kernel-name-base") == "demangled");
  CHECK(scene.argument(0, "--kernel-name") == "regex:^(_Za|_Zb)$");
}

TEST_CASE("ncu: a workload that fails after all was measured is a problem") {
  NcuScene scene;
  scene.tries = {{.log = "==ERROR== The application returned an error code (3).\n", .measured = kAll, .profiled = ended(3)}};
  CHECK(
      scene.run() ==
      Strings{"ncu-ended-with-error: The workload ended with an error under ncu, after its kernels were measured. | logs/ncu.stderr.log"});
  CHECK(scene.outcomes().at(0) == "ncu failed");
  CHECK_FALSE(scene.capture.counters_missing);
}

TEST_CASE("ncu: where nothing matched it is tried once more, wherever the kernels are launched") {
  NcuScene scene;
  scene.tries = {{.log = "==WARNING== No kernels were profiled.\n", .report = false}, {.measured = kAll}};
  CHECK(scene.run() == Strings{});
  CHECK(test::whole_records(scene.records).at(0) == "ncu failed 0 [] ncu profiled no kernel: none matched its filters.");
  CHECK(scene.outcomes() == Strings{"ncu failed", "ncu ok", "ncu-export-raw ok", "ncu-export-details ok"});
  CHECK(scene.argument(0, "--nvtx-include") == "LLM@prefill/");
  CHECK(scene.argument(1, "--nvtx-include") == "");
  CHECK(scene.argument(1, "--kernel-name") == "regex:^(_Za|_Zb|_Zc)$");
  CHECK(scene.started[0].stdout_log == scene.bundle.path() / "logs/ncu.stdout.log");
  CHECK(scene.started[1].stdout_log == scene.bundle.path() / "logs/ncu-2.stdout.log");
  CHECK(scene.started[1].stderr_log == scene.bundle.path() / "logs/ncu-2.stderr.log");
  CHECK(scene.capture.adaptations == std::vector<Remark>{{Code::kWiderRanges, {"ncu"}}});
  CHECK_FALSE(scene.capture.counters_missing);
}

TEST_CASE("ncu: stages that no range marks are no filter, unless the configuration has one") {
  for (const Strings& include : {Strings{}, Strings{"mine/"}}) {
    NcuScene scene;
    scene.config.ncu.nvtx_include = include;
    scene.tries = {{.measured = kAll}};
    Trace& trace = scene.capture.trace;
    for (Range& range : trace.ranges) range.domain = trace.strings.intern(std::string(kStageDomain));
    REQUIRE_FALSE(trace.ranges.empty());
    CHECK(scene.run() == Strings{});
    CHECK(scene.outcomes() == kOneTry);
    CHECK(scene.argument(0, "--nvtx-include") == (include.empty() ? "" : "mine/"));
    CHECK(scene.capture.adaptations.empty());
  }
}

TEST_CASE("ncu: one that was killed is started the same way once more, and no third time") {
  NcuScene scene;
  const NcuTry killed = {.report = false, .profiled = ended(137, 9)};
  scene.tries = {killed, killed};
  CHECK(scene.run() == Strings{"ncu-killed: ncu was killed by signal 9. | ncu/cmd.txt"});
  CHECK(scene.outcomes() == Strings{"ncu failed", "ncu failed"});
  CHECK(scene.started[0].argv == scene.started[1].argv);
  CHECK(scene.capture.counters_missing == Remark{Code::kNcuKilled, {"9"}});
  CHECK(scene.capture.adaptations.empty());
}

TEST_CASE("ncu: without permission it is not tried again") {
  NcuScene scene;
  scene.tries = {{.log = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", .report = false}};
  CHECK(scene.run() == Strings{"counters-denied: ncu may not read the GPU's performance counters. | ncu: ERR_NVGPUCTRPERM"});
  CHECK(scene.started.size() == 1);
  CHECK(scene.capture.counters_missing == Remark{Code::kCountersDenied, {"ncu"}});
}

TEST_CASE("ncu: what the first try missed is tried once more, beside what it gave") {
  NcuScene scene;
  SECTION("and measured") {
    scene.tries = {{.measured = {"_Zb"}}, {.measured = {"_Za", "_Zc"}}};
    CHECK(scene.run() == Strings{});
    CHECK_FALSE(scene.capture.counters_missing);
    CHECK(scene.measured() == 3);
  }
  SECTION("and missed again, in part") {
    scene.tries = {{.measured = {"_Zb"}}, {.measured = {"_Zc"}}};
    CHECK(scene.run() == Strings{"counters-partly: ncu measured 2 of the 3 chosen kernels. Missing: _Za. | ncu/cmd.txt"});
    CHECK(scene.capture.counters_missing == Remark{Code::kNotLaunchedAgain, {"inside the chosen ranges of the second run"}});
  }
  SECTION("and denied") {
    scene.tries = {{.measured = {"_Zb"}}, {.log = "==ERROR== ERR_NVGPUCTRPERM - denied\n", .report = false}};
    CHECK(scene.run() == Strings{"counters-denied: ncu may not read the GPU's performance counters. | ncu: ERR_NVGPUCTRPERM"});
  }
  SECTION("and not written") {
    scene.tries = {{.measured = {"_Zb"}}, {.log = "==ERROR== Unable to write to file.\n", .report = false}};
    CHECK(scene.run() == Strings{"counters-partly: ncu measured 1 of the 3 chosen kernels. Missing: _Za, _Zc. | ncu/cmd.txt"});
    CHECK(scene.capture.counters_missing == Remark{Code::kNcuNotWritable});
  }
  CHECK(scene.argument(3, "--kernel-name") == "regex:^(_Za|_Zc)$");
  CHECK(scene.argument(3, "--nvtx-include") == "");
  CHECK(test::read_text(scene.bundle.path() / "ncu/first-profile.ncu-rep") == "report 0");
  CHECK(test::has(test::read_text(scene.bundle.path() / "ncu/first-raw.csv"), "_Zb"));
  CHECK(fs::exists(scene.bundle.path() / "ncu/first-details.csv"));
}

TEST_CASE("ncu: nothing measured in two tries") {
  NcuScene scene;
  const NcuTry none = {.log = "==WARNING== No kernels were profiled.\n", .report = false};
  scene.tries = {none, none};
  CHECK(scene.run() == Strings{"ncu-no-match: ncu profiled no kernel: none matched its filters. | ncu/cmd.txt"});
  CHECK(scene.capture.counters_missing == Remark{Code::kNcuNoMatch});
  CHECK(scene.started.size() == 2);
}

TEST_CASE("ncu: an export that fails is named; the page that is there is read") {
  NcuScene scene;
  scene.tries = {{.measured = kAll, .pages = false}};
  scene.tries[0].exported.stderr_text = "x\ny\nno such page\n";
  scene.tries.push_back(scene.tries[0]);
  const std::string raw =
      "ncu-export-failed: ncu could not export its report (ncu-export-raw): y\nno such page. | logs/ncu-export-raw.stderr.log";
  const std::string details =
      "ncu-export-failed: ncu could not export its report (ncu-export-details): y\nno such page. | logs/ncu-export-details.stderr.log";
  const Strings problems = scene.run();
  CHECK(Strings(problems.begin(), problems.begin() + 2) == Strings{raw, details});
  CHECK(scene.verdict.problems()[0].fix ==
        "The report is kept: nl-stage import --ncu " + (scene.bundle.path() / "ncu/profile.ncu-rep").string());
  CHECK(scene.capture.ncu.empty());
}

TEST_CASE("ncu: an export that is interrupted or takes too long is the last") {
  NcuScene scene;
  scene.tries = {{.measured = kAll}};
  if (GENERATE(true, false)) scene.tries[0].exported.timed_out = true;
  else scene.tries[0].exported.interrupted = true, scene.tries[0].exported.interrupt_signal = SIGINT;
  scene.run();
  CHECK(scene.started.size() == 2);
  CHECK(scene.verdict.stopped());
  CHECK(scene.verdict.problems().size() == 1);
  CHECK(scene.capture.counters_missing == Remark{Code::kCountersNotReached});
  CHECK(scene.capture.ncu.empty());
}

TEST_CASE("ncu: what a pass that was ended early had measured is exported, and none is begun after it") {
  NcuScene scene;
  scene.tries = {{.measured = {"_Za"}}};
  scene.tries[0].profiled.timed_out = true;
  CHECK(scene.run() == Strings{"pass-timeout: The ncu pass was ended after 3600 s. | "});
  CHECK(scene.outcomes() == Strings{"ncu timeout", "ncu-export-raw ok", "ncu-export-details ok"});
  CHECK(scene.measured() == 1);
  CHECK(scene.capture.counters_missing == Remark{Code::kCountersNotReached});
}

TEST_CASE("ncu: a page that cannot be read, and an ncu that cannot be started") {
  NcuScene scene;
  SECTION("read") {
    scene.tries = {{.page = "no page of ncu's\n"}, {.measured = kAll}};
    const Strings problems = scene.run();
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].starts_with("error: "));
    CHECK(problems[0].find("raw.csv") != std::string::npos);
    CHECK(scene.measured() == 3);  // by the second try
  }
  SECTION("start") {
    scene.tries = {{.error = "ncu is gone"}};
    const Strings problems = scene.run();
    REQUIRE_FALSE(problems.empty());
    CHECK(problems[0] == "error: ncu is gone | ncu");
    CHECK(scene.outcomes() == Strings{"ncu failed"});
    CHECK(scene.records[0].detail == "ncu is gone");
    CHECK(scene.capture.counters_missing);
  }
}

TEST_CASE("counters that cannot be measured: why, and whether that is a problem of the run") {
  NcuScene scene;
  scene.tries = {{.measured = kAll}};
  const std::string none = "no-kernel-to-measure: The trace has no kernel to measure: ";
  const auto skipped = [&](const std::string& why) {
    CHECK(scene.started.empty());
    const std::string each = " skipped - [] " + why;
    CHECK(test::whole_records(scene.records) == Strings{"ncu" + each, "ncu-export-raw" + each, "ncu-export-details" + each});
  };
  SECTION("the workload failed") {
    scene.verdict.add(Error(ErrorKind::kWorkload, "crashed"));
    CHECK(scene.run().size() == 1);
    CHECK(scene.capture.counters_missing == Remark{Code::kCountersAfterFailure});
    skipped("Counters were not measured, because the workload failed in the traced pass.");
  }
  SECTION("it was interrupted") {
    scene.verdict.interrupted(SIGTERM);
    CHECK(scene.run().size() == 1);
    CHECK(scene.capture.counters_missing == Remark{Code::kCountersNotReached});
    skipped("The run was ended before the counters were measured.");
  }
  SECTION("there is no kernel") {
    scene.capture.trace.kernels.clear();
    const int machine = GENERATE(0, 1, 2);
    if (machine == 1) {  // no GPU that it should have used
      scene.tools.gpus.clear();
      scene.tools.gpu_trouble = "no driver";
    }
    if (machine == 2) scene.verdict.add(Error(ErrorKind::kTool, "nsys failed"));
    const Strings problems = scene.run();
    CHECK(problems.size() == (machine == 1 ? 0 : 1));
    if (machine == 0) CHECK(problems[0] == none + "the workload ran none on the GPU. | ");
    if (machine == 0) CHECK(scene.verdict.problems()[0].fix == "Check that the workload uses the GPU.");
    skipped("The trace has no kernel to measure: the workload ran none on the GPU.");
  }
  SECTION("all are inside graphs") {
    scene.capture.trace.graph_runs.push_back({1200, 2000, 0, 0});
    scene.capture.trace.kernels.clear();
    if (GENERATE(false, true)) {
      scene.tools.gpus.clear();  // its graphs ran on one all the same
      scene.tools.gpu_trouble = "no driver";
    }
    CHECK(scene.run() == Strings{none + "CUDA graphs were captured at graph level (kernels inside not visible). | "});
    CHECK(scene.verdict.problems()[0].fix == "--set nsys.cuda_graph_trace=node, for the collector --set capture.cuda_graphs=node");
    skipped("The trace has no kernel to measure: CUDA graphs were captured at graph level (kernels inside not visible).");
  }
  SECTION("nobody can count") {
    scene.tools.ncu.reset();
    const bool failed = GENERATE(false, true), kernels = GENERATE(false, true);
    if (failed) scene.verdict.add(Error(ErrorKind::kTool, "nsys failed"));
    if (!kernels) scene.capture.trace.kernels.clear();
    const Strings problems = scene.run();
    if (!failed) CHECK(problems == (kernels ? Strings{"tool-not-found: ncu was not found. | "} : Strings{}));
    else CHECK(problems.size() == 1);
    CHECK(scene.capture.counters_missing == Remark{Code::kToolNotFound, {"ncu"}});
    CHECK(scene.records.empty());
  }
  SECTION("nobody shall") {
    scene.config.capture.counters = "off";
    CHECK(scene.run() == Strings{});
    CHECK(scene.capture.counters_missing == Remark{Code::kCountersOff, {"capture.counters is off"}});
  }
}

TEST_CASE("counters: that they depend on kernels is said no more when there are some") {
  NcuScene scene;
  scene.tools.gpus.clear();
  scene.tools.gpu_trouble = "no driver";
  scene.tries = {{.measured = kAll}};
  const bool kernels = GENERATE(true, false);
  if (!kernels) scene.capture.trace.kernels.clear();
  CHECK(scene.run() == Strings{});
  CHECK(scene.capture.adaptations == (kernels ? std::vector<Remark>{} : std::vector<Remark>{{Code::kCountersIfKernels, {" (no driver)"}}}));
}

TEST_CASE("kernels are named by their short names, five at most") {
  std::vector<KernelEntry> kernels(7);
  std::vector<const KernelEntry*> all;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].name = "long" + std::to_string(i);
    if (i != 1) kernels[i].short_name = "k" + std::to_string(i);
    all.push_back(&kernels[i]);
  }
  CHECK(nl::orchestrator::names_of({}) == "");
  CHECK(nl::orchestrator::names_of({all.begin(), all.begin() + 5}) == "k0, long1, k2, k3, k4");
  CHECK(nl::orchestrator::names_of(all) == "k0, long1, k2, k3, k4 and 2 more");
}

TEST_CASE("reports of one meter become one: all launches, the first page, the damage summed") {
  NcuReport first, second, third;
  second.page = "raw";
  third.page = "details";
  second.launches.resize(2);
  third.launches.resize(1);
  third.launches[0].kernel_name = "last";
  second.rows_damaged[{Code::kRowCut}] = 2;
  third.rows_damaged[{Code::kRowCut}] = 3;
  const NcuReport all = analysis::merged({first, second, third});
  CHECK(all.page == "raw");
  REQUIRE(all.launches.size() == 3);
  CHECK(all.launches[2].kernel_name == "last");
  CHECK(all.rows_damaged == DamagedRows{{{Code::kRowCut}, 5}});
}

TEST_CASE("what kept ncu from measuring, sign by sign") {
  test::FakeTree tree;
  const auto diagnosed = [&](const std::string& text, bool report, int status = 1, int signal = 0) {
    ProcessResult result;
    result.exit_status = status;
    result.term_signal = signal;
    const auto first = tree.write("out.log", "==PROF== Connected\n"), second = tree.write("err.log", text);
    return diagnose_ncu(result, {first, second}, report);
  };
  struct Case {
    const char* text;
    Code code;
    Strings details;
    Retry retry;
  };
  for (const Case& each : {Case{"==ERROR== ERR_NVGPUCTRPERM - denied\n", Code::kCountersDenied, {"ncu"}, Retry::kNo},
                           Case{"==ERROR== a driver resource was unavailable.\n", Code::kCountersBusy, {""}, Retry::kSame},
                           Case{"==ERROR== Unable to write to file\n", Code::kNcuNotWritable, {}, Retry::kNo},
                           Case{"==ERROR== w does not exist or is not an executable.\n", Code::kNcuNotStarted, {}, Retry::kNo},
                           Case{"==ERROR== The application returned an error code (3).\n", Code::kNcuWorkloadFailed, {"1"}, Retry::kNo},
                           Case{"==WARNING== one\n==ERROR== another.\n", Code::kNcuFailed, {"another"}, Retry::kSame},
                           Case{"nothing of ncu's own\n", Code::kNcuFailed, {"it ended with status 1"}, Retry::kSame}}) {
    INFO(each.text);
    const NcuDiagnosis found = diagnosed(each.text, false);
    REQUIRE(found.trouble);
    CHECK(*found.trouble == Remark{each.code, each.details});
    CHECK(found.retry == each.retry);
  }
  // With a report, what ncu said of a whole GPU still counts; what one of several processes may say does not.
  CHECK(diagnosed("==ERROR== ERR_NVGPUCTRPERM - denied\n", true).trouble->code == Code::kCountersDenied);
  CHECK_FALSE(diagnosed("==WARNING== No kernels were profiled.\n", true).trouble);
  CHECK_FALSE(diagnosed("==ERROR== another.\n", true).trouble);
  const NcuDiagnosis killed = diagnosed("==ERROR== The application returned an error code (3).\n", false, 137, 9);
  CHECK(*killed.trouble == Remark{Code::kNcuKilled, {"9"}});
  CHECK(killed.retry == Retry::kSame);
  CHECK(killed.application_failed);
  CHECK(killed.messages == Strings{"The application returned an error code (3)."});
}
