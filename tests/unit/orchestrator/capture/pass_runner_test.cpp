#include "orchestrator/capture/pass_runner.h"

#include <unistd.h>

#include <fstream>

#include "model/words.h"
#include "orchestrator/capture/ncu_diagnosis.h"
#include "orchestrator/capture/trace_nsys.h"
#include "orchestrator/bundle/provenance.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

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
  PassRunner passes(launcher, bundle, verdict, true);
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
  const auto code_of_text = [](const NcuDiagnosis& diagnosis) { return diagnosis.trouble ? std::optional(diagnosis.trouble->code) : std::nullopt; };
  const auto none = diagnose_text("==PROF== Connected to process 1\n==WARNING== No kernels were profiled.\n", false);
  CHECK(code_of_text(none) == Code::kNcuNoMatch);
  CHECK(none.retry == Retry::kWider);
  const auto denied = diagnose_text(
      "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters\n",
      false);
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

TEST_CASE("inputs.yaml counts and lists") {
  CHECK(inputs_yaml({"a.txt", "b: c"}) == "count: 2\ninputs:\n  - path: a.txt\n  - path: \"b: c\"\n");
  CHECK(inputs_yaml({}).find("count: 0") != std::string::npos);
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
