#include "orchestrator/capture/pass_runner.h"

#include <unistd.h>

#include <fstream>

#include "model/words.h"
#include "orchestrator/bundle/provenance.h"
#include "orchestrator/capture/count.h"
#include "orchestrator/capture/trace_nsys.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/orchestrator/capture/pass_words.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::orchestrator;
using nl::test::Folder;

namespace {

struct ScriptedLauncher : Launcher {
  std::vector<ProcessSpec> launched;
  ProcessResult next;
  std::string writes;  // into stdout_log
  ProcessResult launch(const ProcessSpec& process) override {
    launched.push_back(process);
    std::ofstream(process.stdout_log) << writes;
    return next;
  }
};

NcuDiagnosis diagnose_text(const std::string& text, bool report, int status = 0) {
  const fs::path log = fs::temp_directory_path() / ("nl_ncu_" + std::to_string(getpid()) + ".log");
  std::ofstream(log) << text;
  ProcessResult result;
  result.exit_status = status;
  auto diagnosis = diagnose_ncu(result, {log}, report);
  fs::remove(log);
  return diagnosis;
}

}  // namespace

TEST_CASE("the Generated: list of nsys is read") {
  CHECK(generated_files("hello\nGenerated:\n\t/tmp/a b.nsys-rep\n    /tmp/b.sqlite\nbye\n  /no\n") ==
        std::vector<fs::path>{"/tmp/a b.nsys-rep", "/tmp/b.sqlite"});
  CHECK(generated_files("Generating '/tmp/x.qdstrm'\n").empty());
}

TEST_CASE("a session is found by the pid of the nsys that began it") {
  const std::string list =
      "              ID         TIME                       STATE LAUNCH NAME\n"
      "          112613        00:03                  Collection      1 profile-sleep-2606\n"
      "          112614        00:04                  Collection      1 profile-sleep-606\n";
  CHECK(session_of(list, 606) == "profile-sleep-606");
  CHECK(session_of(list, 2606) == "profile-sleep-2606");
  CHECK(session_of(list, 6).empty());
}

TEST_CASE("a pass is recorded: argv, outcome, outputs, detail") {
  Folder folder;
  const Bundle bundle = Bundle::create({folder.path, {}, "x", "deep"}, std::chrono::system_clock::now());
  ScriptedLauncher launcher;
  Verdict verdict;
  PassRunner passes(launcher, bundle, verdict, nl::orchestrator::Echo::kNothing);
  const auto& records = passes.records();
  Pass pass;
  pass.kind = PassKind::kNcuExportRaw;
  pass.process.argv = {"ncu", "--import", "a b", "LLM\\@prefill/"};
  pass.outputs = {"ncu/raw.csv"};
  pass.process.stdout_log = bundle.path() / "ncu/raw.csv";

  SECTION("a good one: its standard output becomes its result") {
    launcher.writes = "1,2,3\n";
    REQUIRE(passes.run(pass));
    CHECK(launcher.launched.at(0).stdout_log == bundle.path() / "ncu/raw.csv.partial");
    CHECK(fs::exists(bundle.path() / "ncu/raw.csv"));
    CHECK_FALSE(fs::exists(bundle.path() / "ncu/raw.csv.partial"));
    CHECK(records.at(0).outcome == PassOutcome::kOk);
    CHECK(records.at(0).outputs == std::vector<std::string>{"ncu/raw.csv"});
    std::ifstream cmd(bundle.path() / "ncu/cmd.txt");
    std::string line;
    std::getline(cmd, line);
    CHECK(line == "ncu --import 'a b' 'LLM\\@prefill/'");
  }
  SECTION("a failed one leaves no half result") {
    launcher.writes = "1,2";
    launcher.next.exit_status = 1;
    REQUIRE(passes.run(pass));
    CHECK_FALSE(fs::exists(bundle.path() / "ncu/raw.csv"));
    CHECK(records.at(0).outcome == PassOutcome::kFailed);
  }
  SECTION("a timeout is a problem with the key that raises it, and stops what follows") {
    launcher.next.timed_out = true;
    pass.process.timeout_s = 5;
    REQUIRE(passes.run(pass));
    CHECK(verdict.failure() == ErrorKind::kTimeout);
    CHECK(verdict.problems().at(0).fix == "Raise the limit: --set ncu.export_timeout_s=20");
    CHECK_FALSE(passes.run(pass));
    CHECK(records.at(1).outcome == PassOutcome::kSkipped);
    pass.even_if_stopped = true;
    CHECK(passes.run(pass));
    CHECK(launcher.launched.size() == 2);
  }
  SECTION("a log that was cut short is an output problem") {
    launcher.next.log_error = "logs/x: No space left on device";
    REQUIRE(passes.run(pass));
    CHECK(verdict.failure() == ErrorKind::kOutput);
    CHECK_FALSE(fs::exists(bundle.path() / "ncu/raw.csv"));
  }
}

TEST_CASE("the gravest problem decides the exit status, and the status of the run") {
  Verdict verdict;
  const auto status = [&](bool captured) { return status_of(verdict.problems(), captured); };
  CHECK(status(true) == RunStatus::kComplete);
  verdict.add(Error(ErrorKind::kCapture, "some kernels are missing"));
  CHECK(status(true) == RunStatus::kPartial);
  CHECK(status(false) == RunStatus::kFailed);
  verdict.add(Error(ErrorKind::kWorkload, "crashed"));
  CHECK(verdict.failure() == ErrorKind::kWorkload);
  CHECK(status(true) == RunStatus::kFailed);
  verdict.interrupted(2);
  verdict.interrupted(15);
  CHECK(verdict.failure() == ErrorKind::kInterrupted);
  CHECK(verdict.interrupt_signal() == 2);
  CHECK(status(true) == RunStatus::kInterrupted);
  CHECK(verdict.problems().size() == 3);
}

TEST_CASE("what ncu said is understood although its status is 0") {
  const auto code_of_text = [](const NcuDiagnosis& diagnosis) {
    return diagnosis.trouble ? std::optional(diagnosis.trouble->code) : std::nullopt;
  };
  const auto none = diagnose_text("==PROF== Connected to process 1\n==WARNING== No kernels were profiled.\n", false);
  CHECK(code_of_text(none) == Code::kNcuNoMatch);
  CHECK(none.retry == Retry::kWider);
  const auto denied =
      diagnose_text("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters\n", false);
  CHECK(code_of_text(denied) == Code::kCountersDenied);
  CHECK(denied.retry == Retry::kNo);
  CHECK(fix_of(*denied.trouble).find("NVreg_RestrictProfilingToAdminUsers=0") != std::string::npos);
  CHECK(diagnose_text("==ERROR== Profiling failed because a driver resource was unavailable.\n", false).retry == Retry::kSame);
  CHECK_FALSE(diagnose_text("", true).trouble);
  CHECK(code_of_text(diagnose_text("", false, 1)) == Code::kNcuFailed);
  const auto failed = diagnose_text("==ERROR== The application returned an error code (3).\n", true, 3);
  CHECK_FALSE(failed.trouble);
  CHECK(failed.application_failed);
  // The workload may print such words itself.
  CHECK_FALSE(diagnose_text("No kernels were profiled\n", true).trouble);
}

TEST_CASE("a package's version is read from its folder, without running Python") {
  Folder folder;
  fs::create_directories(folder.path / "bin");
  fs::create_directories(folder.path / "lib/python3.11/site-packages/torch-2.5.1+cu124.dist-info");
  std::ofstream(folder.path / "bin/python3") << "#!/bin/sh\n";
  fs::permissions(folder.path / "bin/python3", fs::perms::owner_all);
  const std::vector<std::string> command = {(folder.path / "bin/python3").string(), "x.py"};
  CHECK(python_package_version(command, "torch") == "2.5.1+cu124");
  CHECK(python_package_version(command, "transformers").empty());
  CHECK(python_package_version({"./workload"}, "torch").empty());
}

TEST_CASE("a file is moved with its content, into a folder that need not be there") {
  const fs::path folder = fs::temp_directory_path() / ("nl_move_" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "from") << "all of it";
  nl::orchestrator::move_file(folder / "from", folder / "new" / "to");
  CHECK_FALSE(fs::exists(folder / "from"));
  std::ifstream moved(folder / "new" / "to");
  CHECK(std::string(std::istreambuf_iterator<char>(moved), {}) == "all of it");
  try {
    nl::orchestrator::move_file(folder / "from", folder / "new" / "again");
    FAIL("there is nothing to move");
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kOutput);
    CHECK(error.where.find((folder / "from").string()) == 0);
  }
  CHECK_FALSE(fs::exists(folder / "new" / "again"));
  fs::remove_all(folder);
}

namespace {

struct RunnerScene {
  Folder folder;
  Bundle bundle = Bundle::create({folder.path, {}, "x", "deep"}, std::chrono::system_clock::now());
  ScriptedLauncher launcher;
  Verdict verdict;
  Pass pass;
  std::vector<PassRecord> records;

  RunnerScene() { pass.process.argv = {"./w", "a b"}; }
  std::optional<ProcessResult> run(nl::orchestrator::Echo echo = nl::orchestrator::Echo::kNothing) {
    PassRunner runner(launcher, bundle, verdict, echo);
    const auto result = runner.run(pass);
    records = runner.records();
    return result;
  }
  std::vector<std::string> told() const { return nl::test::whole_records(records); }
};

}  // namespace

TEST_CASE("each kind of pass: where its command is noted, whether its output is shown, which key gives it more time") {
  struct Kind {
    PassKind kind;
    const char *folder, *key, *title;
    bool shown, environment;
  };
  const char *const trace = "nsys.timeout_s", *const trace_export = "nsys.export_timeout_s", *const count = "ncu.timeout_s",
                    *const count_export = "ncu.export_timeout_s";
  for (const Kind& each :
       {Kind{PassKind::kNsys, "nsys", trace, "nsys trace", true, false},
        Kind{PassKind::kNsysExport, "nsys", trace_export, "nsys export", false, false},
        Kind{PassKind::kNsysRepeat, "nsys", trace, "", false, false},
        Kind{PassKind::kNsysRepeatExport, "nsys", trace_export, "", false, false},
        Kind{PassKind::kNcu, "ncu", count, "ncu counters", false, false},
        Kind{PassKind::kNcuExportRaw, "ncu", count_export, "ncu export", false, false},
        Kind{PassKind::kNcuExportDetails, "ncu", count_export, "ncu export", false, false},
        Kind{PassKind::kCollector, "collector", trace, "collector trace", true, true},
        Kind{PassKind::kCollectorRepeat, "collector", trace, "", false, true},
        Kind{PassKind::kStageCounters, "counters", count, "", false, true},
        Kind{PassKind::kKernelCounters, "counters", count, "", false, true},
        Kind{PassKind::kUnprofiled, "unprofiled", trace, "", false, true}, Kind{PassKind::kOperators, "operators", trace, "", false, true},
        Kind{PassKind::kOperatorsExport, "operators", trace_export, "", false, false}}) {
    const std::string name(key_of(each.kind));
    INFO(name);
    RunnerScene scene;
    scene.pass.kind = each.kind;
    scene.pass.process.env = {{"A", "1"}};
    scene.pass.outputs = {"made/here"};
    REQUIRE(scene.run(nl::orchestrator::Echo::kWorkload));
    const ProcessSpec& started = scene.launcher.launched.at(0);
    CHECK(started.forward_output == each.shown);
    CHECK(started.label == (*each.title == 0 ? name : each.title));
    CHECK(started.hide_chatter);
    CHECK(started.stdout_log == scene.bundle.path() / "logs" / (name + ".stdout.log"));
    CHECK(started.stderr_log == scene.bundle.path() / "logs" / (name + ".stderr.log"));
    CHECK(timeout_key(each.kind) == each.key);
    CHECK(fs::exists(scene.bundle.path() / "made"));
    CHECK(fs::exists(scene.bundle.path() / "made/here") == each.environment);
    const std::string command = each.environment ? "env A=1 ./w 'a b'\n" : "./w 'a b'\n";
    const fs::path noted = scene.bundle.path() / each.folder / "cmd.txt";
    CHECK(nl::test::read_text(noted) == command);
    scene.run();
    CHECK_FALSE(scene.launcher.launched.at(1).forward_output);
    CHECK(nl::test::read_text(noted) == command + command);
  }
}

TEST_CASE("a pass is recorded with its status, its time and what came up") {
  RunnerScene scene;
  scene.pass.kind = PassKind::kCollector;
  scene.pass.outputs = {"collector", "not/made.txt"};
  scene.pass.process.label = "a label";
  scene.pass.process.stdout_log = scene.bundle.path() / "logs/own.log";
  scene.launcher.next.exit_status = 3;
  scene.launcher.next.duration_ns = 77;
  scene.launcher.next.leftovers_killed = {"4711 worker", "4712 other"};
  SECTION("in full") {
    scene.run();
    CHECK(scene.told() ==
          std::vector<std::string>{"collector failed 3 [collector not/made.txt] ended what outlived it: 4711 worker, 4712 other"});
    CHECK(scene.records[0].argv == scene.pass.process.argv);
    CHECK(scene.records[0].duration_ns == 77);
    CHECK(scene.launcher.launched[0].label == "a label");
    CHECK(scene.launcher.launched[0].stdout_log == scene.bundle.path() / "logs/own.log");
    CHECK(scene.verdict.problems().empty());
  }
  SECTION("a file that is not there is no output") {
    scene.pass.kind = PassKind::kNsys;
    scene.run();
    CHECK(scene.records[0].outputs.empty());
  }
  SECTION("an optional one that takes too long fails nothing") {
    scene.pass.optional = true;
    scene.pass.process.timeout_s = 7.4;
    scene.launcher.next.timed_out = true;
    scene.run();
    CHECK(scene.told() == std::vector<std::string>{"collector timeout 3 [collector not/made.txt] ended after 7 s"});
    CHECK(scene.verdict.problems().empty());
  }
  SECTION("interrupted counts for more than timed out") {
    scene.launcher.next.timed_out = scene.launcher.next.interrupted = true;
    scene.launcher.next.interrupt_signal = 15;
    scene.pass.optional = true;
    scene.run();
    CHECK(scene.records[0].outcome == PassOutcome::kInterrupted);
    CHECK(scene.verdict.interrupt_signal() == 15);
    CHECK(scene.verdict.problems().size() == 1);
  }
  SECTION("a log that was cut short is named with the space that is left") {
    scene.launcher.next.log_error = "logs/own.log: No space left on device";
    scene.run();
    CHECK(nl::test::whole_problems(scene.verdict.problems()) ==
          std::vector<std::string>{"log-cut-short: A log could not be written to its end. | logs/own.log: No space left on device"});
    CHECK(scene.verdict.problems()[0].fix.find("MiB free") != std::string::npos);
  }
}

TEST_CASE("a program that cannot be started is a problem, except of a pass that may fail") {
  struct Gone : Launcher {
    ProcessResult launch(const ProcessSpec&) override { throw Error(ErrorKind::kTool, "it is gone", "/opt/x"); }
  } gone;
  RunnerScene scene;
  scene.pass.optional = GENERATE(false, true);
  PassRunner runner(gone, scene.bundle, scene.verdict, nl::orchestrator::Echo::kNothing);
  CHECK_FALSE(runner.run(scene.pass));
  CHECK(nl::test::whole_records(runner.records()) == std::vector<std::string>{"nsys failed - [] it is gone"});
  CHECK(nl::test::whole_problems(scene.verdict.problems()) ==
        (scene.pass.optional ? std::vector<std::string>{} : std::vector<std::string>{"error: it is gone | /opt/x"}));
}

TEST_CASE("a pass that is not begun is recorded with its command and why") {
  RunnerScene scene;
  scene.verdict.interrupted(2);
  CHECK_FALSE(scene.run());
  CHECK(scene.told() == std::vector<std::string>{"nsys skipped - [] an earlier pass was ended early"});
  CHECK(scene.records[0].argv == scene.pass.process.argv);
  CHECK(scene.launcher.launched.empty());
}

TEST_CASE("a result on standard output stays away where its log was cut short or the pass ended early") {
  RunnerScene scene;
  scene.pass.outputs = {"ncu/raw.csv"};
  scene.pass.process.stdout_log = scene.bundle.path() / "ncu/raw.csv";
  const int trouble = GENERATE(0, 1, 2);
  if (trouble == 0) scene.launcher.next.timed_out = true;
  if (trouble == 1) scene.launcher.next.interrupted = true;
  if (trouble == 2) scene.launcher.next.log_error = "full";
  scene.run();
  CHECK(scene.records[0].outputs.empty());
  CHECK(fs::exists(scene.bundle.path() / "ncu"));
  CHECK_FALSE(fs::exists(scene.bundle.path() / "ncu/raw.csv"));
  CHECK_FALSE(fs::exists(scene.bundle.path() / "ncu/raw.csv.partial"));
}

TEST_CASE("a pass ends well by its status, and by nobody's ending it") {
  ProcessResult result;
  CHECK(ended_well(&result));
  CHECK_FALSE(ended_well(nullptr));
  result.exit_status = 1;
  CHECK_FALSE(ended_well(&result));
  result = {};
  result.timed_out = true;
  CHECK_FALSE(ended_well(&result));
  result = {};
  result.interrupted = true;
  CHECK_FALSE(ended_well(&result));
}

TEST_CASE("the collector's files of a folder, by name, without its command and folders") {
  Folder folder;
  for (const char* name : {"b.7.nltrace", "cmd.txt", "a.8.nltrace"}) folder.file(name, "x");
  fs::create_directories(folder / "below");
  CHECK(collector_files(folder.path) == std::vector<fs::path>{folder / "a.8.nltrace", folder / "b.7.nltrace"});
  CHECK(collector_files(folder / "none").empty());
}
