// The nsys pass and its export, with an nsys that is played: what each way of ending leaves, and what is said of it.
#include "orchestrator/capture/trace_nsys.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>
#include <csignal>
#include <fstream>

#include "orchestrator/capture/capture.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/orchestrator/capture/pass_words.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::orchestrator;
using Strings = std::vector<std::string>;

namespace {

const char* const kReportThere = "nsys/run.nsys-rep";

struct NsysScene {
  test::FakeTree tree;
  Config config = test::config_for({"./w"});
  Toolset tools;
  Verdict verdict;
  Capture capture;
  std::vector<ProcessSpec> started;
  Bundle bundle = Bundle::create({tree.root() / "runs", {}, "x", "light"}, std::chrono::system_clock::now());
  ProcessResult profiled, exported;               // how the two end
  std::string report = "a report", sqlite_bytes;  // what they write; nothing: no file
  bool real_export = true;
  std::function<void(const ProcessSpec&)> beside;

  NsysScene() {
    config.ncu.enabled = false;
    tools.nsys.emplace().path = "/opt/nsys";
  }
  fs::path path(const char* name) const { return bundle.path() / name; }
  void play(const ProcessSpec& process, ProcessResult& result) {
    const bool exporting = process.argv.at(1) == "export";
    result = exporting ? exported : profiled;
    if (exporting && real_export) {
      fs::copy_file(NL_FIXTURES "/h200-probe/probe_node.sqlite", path("nsys/run.sqlite"));
      fs::permissions(path("nsys/run.sqlite"), fs::perms::owner_write, fs::perm_options::add);
    } else if (exporting ? !sqlite_bytes.empty() : !report.empty()) {
      std::ofstream(path(exporting ? "nsys/run.sqlite" : kReportThere)) << (exporting ? sqlite_bytes : report);
    }
    if (beside) beside(process);
  }
  Strings run() {
    const Plan plan = make_plan(config, tools, bundle.path());
    test::PlayedLauncher launcher([this](const ProcessSpec& process, ProcessResult& result) { play(process, result); });
    PassRunner runner(launcher, bundle, verdict, nl::orchestrator::Echo::kNothing);
    capture = execute(plan, runner);
    started = launcher.started;
    return test::whole_problems(verdict.problems());
  }
  Strings records() const { return test::whole_records(capture.passes); }
};

}  // namespace

TEST_CASE("nsys: a good pass leaves report, export, trace and the workload's status") {
  NsysScene scene;
  CHECK(scene.run() == Strings{});
  CHECK(scene.records() == Strings{"nsys ok 0 [nsys/run.nsys-rep]", "nsys-export ok 0 [nsys/run.sqlite]"});
  CHECK(scene.capture.workload_exit == 0);
  CHECK(scene.capture.nsys_sqlite == scene.path("nsys/run.sqlite"));
  CHECK(scene.capture.trace.kernels.size() > 10);
  CHECK(scene.capture.any());
  CHECK(scene.capture.counters_missing == Remark{Code::kCountersOff, {"ncu.enabled is false"}});
  CHECK(scene.started.at(0).on_orphaned);
  CHECK_FALSE(scene.started.at(1).on_orphaned);
}

TEST_CASE("nsys: a workload that fails is named with its last words, and what was captured is kept") {
  NsysScene scene;
  scene.profiled.exit_status = 3;
  scene.profiled.stderr_text = "one\ntwo\nout of memory..\n\n";
  CHECK(scene.run() == Strings{"workload-failed: ./w ended with status 3: two\nout of memory. | logs/nsys.stderr.log"});
  CHECK(scene.verdict.failure() == ErrorKind::kWorkload);
  CHECK(scene.records() ==
        Strings{"nsys failed 3 [nsys/run.nsys-rep] the workload ended with status 3", "nsys-export ok 0 [nsys/run.sqlite]"});
  CHECK(scene.capture.workload_exit == 3);
  CHECK(scene.capture.trace.kernels.size() > 10);
}

TEST_CASE("nsys: the workload's failure is named by its cause, with the line, and without a traceback's decoration") {
  NsysScene scene;
  scene.profiled.exit_status = 1;
  const std::string head = "Traceback (most recent call last):\n  File \"/home/me/serve.py\", line 12, in step\n    grow(n)\n    ^^^^^^^\n";
  scene.profiled.stderr_text =
      head +
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 TiB. GPU 0 has a total capacity of 139.80 "
      "GiB of which 137.01 GiB is free.\n";
  CHECK(scene.run() ==
        Strings{"workload-out-of-memory: ./w ran out of GPU memory: 2.00 TiB asked for, 137.01 GiB of 139.80 GiB free on GPU 0, at "
                "serve.py:12 in step. | logs/nsys.stderr.log"});
  CHECK(scene.verdict.failure() == ErrorKind::kWorkload);

  NsysScene crashed;
  crashed.profiled.exit_status = 134;
  crashed.profiled.stderr_text = "terminate called after throwing an instance of 'std::runtime_error'\n  what():  no such head\n";
  CHECK(crashed.run() == Strings{"workload-exception: ./w ended with std::runtime_error: no such head. | logs/nsys.stderr.log"});

  NsysScene cut;  // only the end of a traceback: no exception is in it
  cut.profiled.exit_status = 1;
  cut.profiled.stderr_text = "cannot go on\n    x = f(y)\n        ^^^^\n----------\n";
  CHECK(cut.run() == Strings{"workload-failed: ./w ended with status 1: cannot go on\n    x = f(y). | logs/nsys.stderr.log"});
}

TEST_CASE("nsys: a failure's message has no value of the environment, unless the bundle keeps them") {
  for (const bool kept : {false, true}) {
    NsysScene scene;
    scene.config.artifacts.keep_env = kept;
    scene.config.workload.env["SERVICE_KEY"] = "open-sesame-1";
    scene.profiled.exit_status = 1;
    scene.profiled.stderr_text =
        "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\nPermissionError: open-sesame-1 is refused\n";
    CHECK(scene.run() == Strings{std::string("workload-exception: ./w ended with PermissionError: ") + (kept ? "open-sesame-1" : "…") +
                                 " is refused, at a.py:1. | logs/nsys.stderr.log"});
  }
}

TEST_CASE("nsys: a status above 128 is a signal, as far as there are signals") {
  struct Case {
    int status;
    const char *what, *detail;
  };
  for (const Case& each : {Case{128, "workload-failed: ./w ended with status 128.", "the workload ended with status 128"},
                           Case{129, "workload-crashed: ./w crashed: signal 1 (SIGHUP).", "the workload was ended by SIGHUP"},
                           Case{137, "workload-killed: ./w was killed by signal 9 (SIGKILL).", "the workload was ended by SIGKILL"},
                           Case{139, "workload-crashed: ./w crashed: signal 11 (SIGSEGV).", "the workload was ended by SIGSEGV"},
                           Case{192, "workload-crashed: ./w crashed: signal 64.", "the workload was ended by SIG64"},
                           Case{193, "workload-failed: ./w ended with status 193.", "the workload ended with status 193"}}) {
    NsysScene scene;
    scene.profiled.exit_status = each.status;
    CHECK(scene.run() == Strings{std::string(each.what) + " | logs/nsys.stderr.log"});
    CHECK(scene.capture.passes.at(0).detail == each.detail);
  }
}

TEST_CASE("nsys: where a launch failed while graph nodes were traced, tracing whole graphs is advised") {
  const auto advice = [](const std::string& words, const std::function<void(NsysScene&)>& change, int status = 1) {
    NsysScene scene;
    scene.profiled.exit_status = status;
    scene.profiled.stderr_text = words;
    change(scene);
    scene.run();
    const std::string& fix = scene.verdict.problems().at(0).fix;
    const std::string always = "What was captured until then is kept.";
    REQUIRE(fix.find(always) != std::string::npos);
    return fix.substr(fix.find(always) + always.size());
  };
  const auto as_it_is = [](NsysScene&) {};
  const std::string by_nsys =
      " If it ends well alone, tracing its CUDA graphs at node level may break it: --set nsys.cuda_graph_trace=graph";
  for (const char* words : {"x: unspecified launch failure", "cudaErrorLaunchFailure at", "CUDA_ERROR_LAUNCH_FAILED"}) {
    CHECK(advice(words, as_it_is) == by_nsys);
    CHECK(advice(words, as_it_is, 134) == by_nsys);
  }
  CHECK(advice("out of memory", as_it_is) == "");
  const char* const failure = "unspecified launch failure";
  CHECK(advice(failure, [](NsysScene& scene) { scene.config.nsys.cuda_graph_trace = "graph"; }) == "");
  CHECK(advice(failure, [](NsysScene& scene) { scene.tools.nsys->help_options = {"--trace"}; }) == "");
}

TEST_CASE("nsys: an interrupted or overlong pass blames no workload, and its report is still exported") {
  NsysScene scene;
  scene.profiled.exit_status = 130;
  SECTION("interrupted") {
    scene.profiled.interrupted = true;
    scene.profiled.interrupt_signal = SIGINT;
    CHECK(scene.run().at(0).starts_with("interrupted: "));
    CHECK(scene.records() == Strings{"nsys interrupted 130 [nsys/run.nsys-rep]", "nsys-export ok 0 [nsys/run.sqlite]"});
  }
  SECTION("timed out") {
    scene.profiled.timed_out = true;
    scene.config.nsys.timeout_s = 7.5;
    CHECK(scene.run() == Strings{"pass-timeout: The nsys pass was ended after 7.5 s. | "});
    CHECK(scene.verdict.problems()[0].fix == "Raise the limit: --set nsys.timeout_s=30");
    CHECK(scene.records() == Strings{"nsys timeout 130 [nsys/run.nsys-rep]", "nsys-export ok 0 [nsys/run.sqlite]"});
  }
  SECTION("interrupted, with a signal that ended nsys") {
    scene.profiled.interrupted = true;
    scene.profiled.interrupt_signal = scene.profiled.term_signal = SIGTERM;
    scene.run();
    CHECK(scene.verdict.problems().at(0).code == Code::kEndedFromOutside);
    CHECK(scene.capture.workload_exit == 130);
  }
  SECTION("interrupted before there was a report") {
    scene.profiled.interrupted = true;
    scene.profiled.interrupt_signal = SIGINT;
    scene.report.clear();
    scene.run();
    CHECK(scene.records() == Strings{"nsys interrupted 130 []"});
    CHECK_FALSE(scene.capture.any());
  }
  CHECK(scene.verdict.problems().size() == 1);
  CHECK(scene.verdict.stopped());
}

TEST_CASE("nsys: a report that it wrote elsewhere is brought into the bundle") {
  NsysScene scene;
  scene.report.clear();
  const fs::path other = scene.tree.write("tmp/other.nsys-rep", "moved"), empty = scene.tree.write("tmp/empty.nsys-rep", "");
  const fs::path sqlite = scene.tree.write("tmp/other.sqlite", "no report");
  (GENERATE(true, false) ? scene.profiled.stdout_text : scene.profiled.stderr_text) =
      "Generated:\n    " + sqlite.string() + "\n    " + empty.string() + "\n    " + other.string() + "\n";
  CHECK(scene.run() == Strings{});
  CHECK(test::read_text(scene.path(kReportThere)) == "moved");
  CHECK_FALSE(fs::exists(other));
  CHECK(scene.records().at(0) ==
        "nsys ok 0 [nsys/run.nsys-rep] nsys wrote its report to " + other.string() + "; it was moved into the bundle");
  CHECK(scene.capture.any());
}

TEST_CASE("nsys: one that was killed is named, with its report and without") {
  NsysScene scene;
  scene.profiled.exit_status = 137;
  scene.profiled.term_signal = 9;
  SECTION("its agent wrote the report") {
    CHECK(scene.run() == Strings{"nsys-killed: nsys was killed by signal 9. | its agent could still be asked for the report"});
    CHECK(scene.records().size() == 2);
    CHECK(scene.capture.any());
  }
  SECTION("no report") {
    scene.report.clear();
    CHECK(scene.run() == Strings{"nsys-killed: nsys was killed by signal 9. | nsys"});
    CHECK(scene.records() == Strings{"nsys failed 137 []"});
    CHECK_FALSE(scene.capture.any());
  }
  CHECK_FALSE(scene.capture.workload_exit);
}

TEST_CASE("nsys: without a report it is said what nsys said last, and nothing is exported") {
  NsysScene scene;
  scene.report.clear();
  scene.profiled.stdout_text = "a\nb\nc\n";
  scene.profiled.stderr_text = "d\n";
  SECTION("a failure") {
    scene.profiled.exit_status = 2;
    CHECK(scene.run() == Strings{"nsys-failed: nsys ended with status 2 and wrote no report: b\nc\nd. | logs/nsys.stderr.log"});
  }
  SECTION("none that its status tells") {
    CHECK(scene.run() == Strings{"nsys-no-report: nsys ended well but wrote no report: b\nc\nd. | logs/nsys.stderr.log"});
  }
  SECTION("an empty file is no report") {
    scene.beside = [&](const ProcessSpec&) { std::ofstream(scene.path(kReportThere)).flush(); };
    CHECK(scene.run().at(0).starts_with("nsys-no-report: "));
  }
  CHECK(scene.started.size() == 1);
  CHECK_FALSE(scene.capture.any());
}

TEST_CASE("nsys: a raw capture that its importer could not read is kept, and the importer's trouble named") {
  NsysScene scene;
  scene.report.clear();
  const fs::path raw = scene.tree.write("tmp/run.qdstrm", "raw"), empty = scene.tree.write("tmp/empty.qdstrm", "");
  scene.profiled.exit_status = 1;
  scene.profiled.stdout_text = "Generated:\n\t" + empty.string() + "\n\t" + raw.string() + "\n";
  scene.profiled.stderr_text = "x\nImporter error\nstatus 4.\n";
  const std::string sentence = "nsys-not-imported: nsys captured, but its importer could not turn the capture into a report",
                    place = ". | logs/nsys.stderr.log";
  SECTION("by the libraries that it lacks") {
    scene.tools.nsys->missing_libraries = {"libdw.so.1", "libpfm.so.4"};
    CHECK(scene.run() == Strings{sentence + ": missing libdw.so.1, libpfm.so.4" + place});
  }
  SECTION("by what doctor found") {
    scene.tools.nsys->importer_trouble = "it does not start";
    CHECK(scene.run() == Strings{sentence + ": it does not start" + place});
  }
  SECTION("by its last words") { CHECK(scene.run() == Strings{sentence + ": Importer error\nstatus 4" + place}); }
  CHECK(test::read_text(scene.path("nsys/run.qdstrm")) == "raw");
  CHECK_FALSE(fs::exists(raw));
}

TEST_CASE("nsys: an export that failed leaves no file, and the report is kept") {
  NsysScene scene;
  scene.real_export = false;
  scene.sqlite_bytes = "half of it";
  const std::string report = scene.path(kReportThere).string();
  SECTION("by its status") {
    scene.exported.exit_status = 1;
    scene.exported.stderr_text = "a\nb\nc\n";
    CHECK(scene.run() == Strings{"nsys-export-failed: nsys could not export its report to SQLite: b\nc. | logs/nsys-export.stderr.log"});
    CHECK(scene.verdict.problems()[0].fix == "The report is kept: nl-stage import --nsys " + report);
    CHECK(scene.records().at(1) == "nsys-export failed 1 []");
  }
  SECTION("by a file that is empty") {
    scene.sqlite_bytes.clear();
    scene.beside = [&](const ProcessSpec& process) {
      if (process.argv[1] == "export") std::ofstream(scene.path("nsys/run.sqlite")).flush();
    };
    CHECK(scene.run() == Strings{"nsys-export-failed: nsys could not export its report to SQLite. | logs/nsys-export.stderr.log"});
  }
  SECTION("by a full disk") {
    scene.exported.exit_status = 1;
    const int sign = GENERATE(0, 1, 2);
    if (sign == 0) scene.exported.stderr_text = "write: No space left on device";
    if (sign == 1) scene.exported.stdout_text = "write: No space left on device";
    if (sign == 2) scene.exported.term_signal = SIGXFSZ;
    const Strings problems = scene.run();
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].starts_with("disk-full: The disk was full while nsys exported its report ("));
    CHECK(problems[0].ends_with(" | " + scene.path("nsys/run.sqlite").string()));
    CHECK(test::has(problems[0], " free"));
    CHECK(scene.verdict.problems()[0].fix == "The report is kept: nl-stage import --nsys " + report);
  }
  SECTION("by an interrupt") {
    scene.exported.interrupted = true;
    scene.exported.interrupt_signal = SIGINT;
    CHECK(scene.run().at(0).starts_with("interrupted: "));
  }
  SECTION("by a timeout") {
    scene.exported.timed_out = true;
    CHECK(scene.run() == Strings{"pass-timeout: The nsys-export pass was ended after 900 s. | "});
    CHECK(scene.verdict.problems()[0].fix == "Raise the limit: --set nsys.export_timeout_s=3600");
  }
  CHECK(scene.verdict.problems().size() == 1);
  CHECK(scene.capture.passes.at(1).outputs.empty());
  CHECK_FALSE(fs::exists(scene.path("nsys/run.sqlite")));
  CHECK(fs::exists(report));
  CHECK_FALSE(scene.capture.any());
  CHECK(scene.capture.workload_exit == 0);
}

TEST_CASE("nsys: an export that is none of SQLite's is a problem, and stays only where its environment may") {
  NsysScene scene;
  scene.real_export = false;
  scene.sqlite_bytes = "no database, but long enough to be taken for one at first sight";
  scene.config.artifacts.keep_env = GENERATE(false, true);
  CHECK(scene.run().size() == 1);
  CHECK(scene.verdict.failure());
  CHECK(fs::exists(scene.path("nsys/run.sqlite")) == scene.config.artifacts.keep_env);
  CHECK(scene.capture.any() == scene.config.artifacts.keep_env);
  CHECK(scene.capture.passes.at(1).outputs.empty() != scene.config.artifacts.keep_env);
  CHECK(scene.capture.trace.kernels.empty());
}

TEST_CASE("nsys: the environment is blanked in the export, unless it is to be kept") {
  NsysScene scene;
  scene.config.artifacts.keep_env = GENERATE(false, true);
  scene.beside = [&](const ProcessSpec& process) {
    if (process.argv[1] != "export") return;
    SQLite::Database capture(scene.path("nsys/run.sqlite").string(), SQLite::OPEN_READWRITE);
    capture.exec(
        "INSERT INTO StringIds SELECT max(id) + 1, 'PATH=/bin' || char(0) || 'API_TOKEN=hunter2' || char(0) || 'HOME=/root' FROM "
        "StringIds");
  };
  CHECK(scene.run() == Strings{});
  CHECK(test::has(test::read_text(scene.path("nsys/run.sqlite")), "hunter2") == scene.config.artifacts.keep_env);
}

TEST_CASE("nsys: an export that is not wanted goes when it is read, unless something went wrong") {
  NsysScene scene;
  scene.config.nsys.sqlite = false;
  SECTION("all well") {
    CHECK(scene.run() == Strings{});
    CHECK_FALSE(fs::exists(scene.path("nsys/run.sqlite")));
    CHECK(scene.records() ==
          Strings{"nsys ok 0 [nsys/run.nsys-rep]", "nsys-export ok 0 [] read, and not kept (nsys.export.sqlite: false)"});
  }
  SECTION("the workload failed") {
    scene.profiled.exit_status = 1;
    scene.run();
    CHECK(fs::exists(scene.path("nsys/run.sqlite")));
    CHECK(scene.records().at(1) == "nsys-export ok 0 [nsys/run.sqlite]");
  }
  CHECK(scene.capture.trace.kernels.size() > 10);
}

TEST_CASE("nsys: the agent of one that was killed is asked for its report") {
  NsysScene scene;
  const bool known = GENERATE(true, false);
  const fs::path log = scene.tree.root() / "asked";
  scene.tools.nsys->path =
      scene.tree.program("nsys", "#!/bin/sh\necho \"$@ $MINE\" >> " + log.string() +
                                     "\n[ $1 = sessions ] && echo ' 112613 00:03 Collection 1 profile-w-4711'\nexit 0\n");
  scene.tools.nsys->env = {{"MINE", "set"}};
  scene.beside = [&](const ProcessSpec& process) {
    if (process.on_orphaned) process.on_orphaned(known ? 4711 : 711);
  };
  scene.run();
  CHECK(test::read_text(log) ==
        (known ? "sessions list set\nstop --session=profile-w-4711 set\nshutdown --session=profile-w-4711 set\n" : "sessions list set\n"));
}

TEST_CASE("the last words of a program are its last lines, without the full stop") {
  CHECK(last_words("", 2) == "");
  CHECK(last_words("\n \r\n", 2) == "");
  CHECK(last_words("...", 2) == "");
  CHECK(last_words("one", 2) == ": one");
  CHECK(last_words("one\ntwo\nthree.\n", 1) == ": three");
  CHECK(last_words("one\ntwo\nthree\r\n \n", 2) == ": two\nthree");
  CHECK(last_words("one\ntwo\nthree", 3) == ": one\ntwo\nthree");
  CHECK(last_words("one\n\nthree", 2) == ": three");
}
