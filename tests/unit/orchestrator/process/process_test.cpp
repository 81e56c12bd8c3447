#include "orchestrator/process/process.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "orchestrator/process/interrupts.h"
#include "orchestrator/process/tree.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

namespace fs = std::filesystem;
using nl::orchestrator::ProcessResult;
using nl::orchestrator::ProcessSpec;
using nl::orchestrator::run_process;
using nl::test::Folder;
using nl::test::read_text;

namespace {

ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c", script};
  spec.grace_s = 1;
  return spec;
}

double elapsed_s(const std::function<void()>& work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Sends us a signal while run_process() waits.
struct SignalLater {
  std::thread thread;
  SignalLater(int number, int after_ms, int times = 1, int apart_ms = 300) {
    thread = std::thread([=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(after_ms));
      for (int i = 0; i < times; ++i) {
        kill(getpid(), number);
        std::this_thread::sleep_for(std::chrono::milliseconds(apart_ms));
      }
    });
  }
  ~SignalLater() { thread.join(); }
};

}  // namespace

TEST_CASE("run_process tells exit status and output apart") {
  auto result = run_process(shell("echo out; echo err >&2; exit 3"));
  CHECK(result.exit_status == 3);
  CHECK(result.stdout_text == "out\n");
  CHECK(result.stderr_text == "err\n");
  CHECK(result.duration_ns > 0);
  CHECK_FALSE(result.timed_out);
  CHECK_FALSE(result.interrupted);
  CHECK(result.leftovers_killed.empty());
}

TEST_CASE("run_process reports a signal as 128 + its number") {
  CHECK(run_process(shell("kill -SEGV $$")).exit_status == 128 + SIGSEGV);
  CHECK(run_process(shell("kill -KILL $$")).exit_status == 128 + SIGKILL);
}

TEST_CASE("run_process passes arguments untouched, never through a shell") {
  ProcessSpec spec;
  spec.argv = {"printf", "%s|", "a b", "$HOME", "'", "", "ü\n"};
  CHECK(run_process(spec).stdout_text == "a b|$HOME|'||ü\n|");
}

TEST_CASE("run_process sets, unsets and inherits the environment") {
  setenv("NL_TEST_KEPT", "kept", 1);
  setenv("NL_TEST_GONE", "gone", 1);
  auto spec = shell("echo $NL_TEST_KEPT,$NL_TEST_GONE,$NL_TEST_NEW; pwd");
  spec.env = {{"NL_TEST_NEW", "new"}};
  spec.unset_env = {"NL_TEST_GONE"};
  spec.working_directory = "/";
  CHECK(run_process(spec).stdout_text == "kept,,new\n/\n");
}

TEST_CASE("run_process gives the child an empty standard input") {
  ProcessSpec spec;
  spec.argv = {"cat"};
  CHECK(run_process(spec).exit_status == 0);
}

TEST_CASE("run_process keeps whole logs and the tail in memory") {
  Folder folder;
  auto spec = shell("i=0; while [ $i -lt 20000 ]; do echo line-$i-0123456789; i=$((i+1)); done");
  spec.stdout_log = folder.path / "out.log";
  spec.stderr_log = folder.path / "err.log";
  auto result = run_process(spec);
  const auto log = read_text(spec.stdout_log);
  CHECK(std::count(log.begin(), log.end(), '\n') == 20000);
  CHECK(result.stdout_text.size() <= 64 * 1024);
  CHECK(result.stdout_text.ends_with("line-19999-0123456789\n"));
  CHECK(read_text(spec.stderr_log).empty());
  CHECK(result.log_error.empty());
}

TEST_CASE("run_process writes the log as it comes, so that a kill loses nothing") {
  Folder folder;
  auto spec = shell("echo first; sleep 0.3; cat " + (folder.path / "out.log").string() + " >&2");
  spec.stdout_log = folder.path / "out.log";
  CHECK(run_process(spec).stderr_text == "first\n");
}

TEST_CASE("run_process says when a log cannot be written and goes on") {
  auto spec = shell("echo hello");
  spec.stdout_log = "/dev/full";
  auto result = run_process(spec);
  CHECK(result.exit_status == 0);
  CHECK(result.stdout_text == "hello\n");
  CHECK(result.log_error.find("No space left") != std::string::npos);
}

TEST_CASE("run_process refuses what cannot be started, with the kind it was told") {
  Folder folder;
  ProcessSpec spec;
  spec.argv = {"nl-stage-no-such-program"};
  try {
    run_process(spec);
    FAIL("started");
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kWorkload);
    CHECK(error.message.find("nl-stage-no-such-program was not found") != std::string::npos);
  }
  spec.argv = {"./missing"};
  spec.not_found = nl::ErrorKind::kTool;
  try {
    run_process(spec);
    FAIL("started");
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kTool);
  }
  const auto data = folder.path / "data.txt";
  std::ofstream(data) << "text";
  spec.argv = {data.string()};
  CHECK_THROWS_AS(run_process(spec), nl::Error);  // not executable
  fs::permissions(data, fs::perms::owner_all);
  CHECK_THROWS_AS(run_process(spec), nl::Error);  // executable, but no program: exec fails
  CHECK(nl::orchestrator::descendants().empty());
}

TEST_CASE("run_process finds a relative program in the working directory") {
  Folder folder;
  const auto script = folder.path / "here.sh";
  std::ofstream(script) << "#!/bin/sh\necho found\n";
  fs::permissions(script, fs::perms::owner_all);
  ProcessSpec spec;
  spec.argv = {"./here.sh"};
  spec.working_directory = folder.path;
  CHECK(run_process(spec).stdout_text == "found\n");
}

TEST_CASE("a timeout asks politely and keeps what the program then writes") {
  auto spec = shell("trap 'echo saved; exit 0' INT; echo started; while :; do sleep 0.05; done");
  spec.timeout_s = 0.5;
  spec.grace_s = 10;
  ProcessResult result;
  CHECK(elapsed_s([&] { result = run_process(spec); }) < 5);
  CHECK(result.timed_out);
  CHECK(result.exit_status == 0);
  CHECK(result.stdout_text == "started\nsaved\n");
  CHECK(nl::orchestrator::descendants().empty());
}

TEST_CASE("a timeout ends a tree that ignores every polite signal") {
  auto spec = shell("trap '' INT TERM; (trap '' INT TERM; while :; do sleep 1; done) & while :; do sleep 1; done");
  spec.timeout_s = 0.3;
  spec.grace_s = 0.3;
  ProcessResult result;
  CHECK(elapsed_s([&] { result = run_process(spec); }) < 10);
  CHECK(result.timed_out);
  CHECK(result.exit_status == 128 + SIGKILL);
  CHECK(nl::orchestrator::descendants().empty());
}

TEST_CASE("children that outlive their parent are ended, in other sessions too, and named") {
  auto spec = shell("setsid sleep 4000 & (setsid sh -c 'sleep 4001 & sleep 4002' &) ; echo done");
  auto result = run_process(spec);
  CHECK(result.exit_status == 0);
  CHECK(result.stdout_text == "done\n");
  CHECK(result.leftovers_killed.size() >= 3);
  CHECK(nl::orchestrator::descendants().empty());
}

TEST_CASE("children may outlive their parent where they are waited for") {
  auto spec = shell("(sleep 0.5; echo late) & echo early");
  spec.wait_for_tree = true;
  auto result = run_process(spec);
  CHECK(result.stdout_text == "early\nlate\n");
  CHECK(result.leftovers_killed.empty());
}

TEST_CASE("waiting for children ends at the timeout") {
  auto spec = shell("sleep 4003 & exit 4");
  spec.wait_for_tree = true;
  spec.timeout_s = 0.5;
  auto result = run_process(spec);
  CHECK(result.timed_out);
  CHECK(result.exit_status == 4);
  CHECK(nl::orchestrator::descendants().empty());
}

TEST_CASE("Ctrl-C reaches argv[0] alone and lets it finish") {
  auto spec = shell("trap 'sleep 0.3; echo saved; exit 0' INT; while :; do sleep 0.05; done");
  spec.grace_s = 10;
  SignalLater later(SIGINT, 300);
  auto result = run_process(spec);
  CHECK(result.interrupted);
  CHECK(result.interrupt_signal == SIGINT);
  CHECK(result.stdout_text == "saved\n");
}

TEST_CASE("Ctrl-C reaches what a shell waits for, where the whole group is signalled") {
  auto spec = shell("sleep 4006; echo not reached");
  spec.signal_group = true;
  spec.grace_s = 60;
  SignalLater later(SIGINT, 300);
  CHECK(elapsed_s([&] { CHECK(run_process(spec).interrupted); }) < 10);
}

TEST_CASE("SIGTERM to us ends a tree and is told apart from Ctrl-C") {
  SignalLater later(SIGTERM, 300);
  auto result = run_process(shell("sleep 4004 & sleep 4005"));
  CHECK(result.interrupted);
  CHECK(result.interrupt_signal == SIGTERM);
  CHECK(nl::orchestrator::descendants().empty());
}

TEST_CASE("a second Ctrl-C skips the grace") {
  auto spec = shell("trap 'echo ignored' INT; while :; do sleep 0.05; done");
  spec.grace_s = 60;
  SignalLater later(SIGINT, 300, 2);
  CHECK(elapsed_s([&] { CHECK(run_process(spec).interrupted); }) < 10);
  CHECK(nl::orchestrator::descendants().empty());
}

TEST_CASE("a profiler whose target does not end is rid of it, and writes its report") {
  Folder folder;
  const fs::path nsys = folder.path / "nsys";
  std::ofstream(nsys) << "#!/bin/sh\ntrap : INT\nsleep 4010 & child=$!\n"
                         "while kill -0 $child 2>/dev/null; do wait $child; done\necho report written\n";
  fs::permissions(nsys, fs::perms::owner_all);
  ProcessSpec spec;
  spec.argv = {nsys.string()};
  spec.timeout_s = 0.3;
  spec.grace_s = 1;
  spec.profiler = true;
  const auto result = run_process(spec);
  CHECK(result.timed_out);
  CHECK(result.exit_status == 0);
  CHECK(result.stdout_text == "report written\n");
  CHECK(nl::orchestrator::descendants().empty());
}

TEST_CASE("the previous signal handlers come back") {
  struct sigaction before = {}, after = {};
  sigaction(SIGINT, nullptr, &before);
  run_process(shell("true"));
  sigaction(SIGINT, nullptr, &after);
  CHECK(before.sa_handler == after.sa_handler);
}

TEST_CASE("a signal that was ignored stays ignored") {
  std::signal(SIGHUP, SIG_IGN);
  {
    nl::orchestrator::Interrupts interrupts;
    raise(SIGHUP);
    CHECK(nl::orchestrator::Interrupts::signal() == 0);
  }
  std::signal(SIGHUP, SIG_DFL);
}
