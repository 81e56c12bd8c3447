#include "orchestrator/process/process.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
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

TEST_CASE("run_process notes the ranks that a launcher tells its processes, where it is asked to, and nothing else of them") {
  // As torchrun does it: the worker is told its rank, what it starts itself has it, too; the launcher has that of its node.
  ProcessSpec spec = shell("for rank in 0 1; do RANK=$rank WORLD_SIZE=2 TOKEN=hunter2 sleep 1 & echo $!; done; wait");
  spec.env = {{"SLURM_PROCID", "5"}};
  spec.unset_env = {"RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_RANK"};
  CHECK(run_process(spec).ranks.empty());
  spec.note_ranks = true;
  const ProcessResult result = run_process(spec);
  std::istringstream pids(result.stdout_text);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    pid_t pid = 0;
    pids >> pid;
    REQUIRE(result.ranks.contains(pid));
    CHECK(result.ranks.at(pid).rank == rank);
    CHECK(result.ranks.at(pid).world_size == 2u);
  }
  CHECK(result.ranks.size() == 3);  // the shell is told what srun told it
}

TEST_CASE("run_process puts a value before what a variable has") {
  ::setenv("NL_TEST_PATH", "/theirs", 1);
  ProcessSpec spec = shell("echo $NL_TEST_PATH; echo $NL_TEST_NEW; echo $NL_TEST_SET");
  spec.env["NL_TEST_SET"] = "/set";
  spec.prepend_env = {{"NL_TEST_PATH", "/ours"}, {"NL_TEST_NEW", "/ours"}, {"NL_TEST_SET", "/ours"}};
  CHECK(run_process(spec).stdout_text == "/ours:/theirs\n/ours\n/ours:/set\n");
  ::unsetenv("NL_TEST_PATH");
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
  REQUIRE(result.leftovers_killed.size() >= 3);
  for (const auto& each : result.leftovers_killed) CHECK((each.ends_with(" sleep") || each.ends_with(" sh")));
  CHECK(nl::orchestrator::descendants().empty());
}

TEST_CASE("children may outlive their parent where they are waited for") {
  auto spec = shell("(sleep 0.5; echo late) & echo early");
  spec.wait_for_tree = true;
  auto result = run_process(spec);
  CHECK(result.stdout_text == "early\nlate\n");
  CHECK(result.leftovers_killed.empty());
}

TEST_CASE("children that do nothing are ended after a while, and the status stays") {
  auto spec = shell("setsid sleep 4004 & exit 3");
  spec.wait_for_tree = true;
  spec.leftover_s = 0.5;
  spec.timeout_s = 60;
  auto result = run_process(spec);
  CHECK(result.exit_status == 3);
  CHECK_FALSE(result.timed_out);
  CHECK_FALSE(result.interrupted);
  REQUIRE(result.leftovers_killed.size() == 1);
  CHECK(result.leftovers_killed[0].ends_with(" sleep"));
  CHECK(nl::orchestrator::descendants().empty());
}

TEST_CASE("children that do nothing at the timeout are ended, and the status stays") {
  auto spec = shell("setsid sleep 4005 & exit 0");
  spec.wait_for_tree = true;
  spec.timeout_s = 0.7;
  auto result = run_process(spec);
  CHECK(result.exit_status == 0);
  CHECK_FALSE(result.timed_out);
  CHECK(result.leftovers_killed.size() == 1);
}

TEST_CASE("children that work are waited for, however long what does nothing may stay") {
  auto spec = shell("(i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done; echo late) & echo early");
  spec.wait_for_tree = true;
  spec.leftover_s = 0.6;
  auto result = run_process(spec);
  CHECK(result.stdout_text == "early\nlate\n");
  CHECK(result.leftovers_killed.empty());
}

TEST_CASE("waiting for children ends at the timeout") {
  auto spec = shell("(while :; do :; done) & exit 4");
  spec.wait_for_tree = true;
  spec.timeout_s = 2;
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

namespace {

nl::Error not_started(const std::string& name, const fs::path& directory, const std::string& search_path) {
  try {
    nl::orchestrator::find_executable(name, directory, nl::ErrorKind::kTool, search_path);
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kTool);
    return error;
  }
  FAIL("it was found");
  throw 0;
}

}  // namespace

TEST_CASE("programs are found along the path that they are started with, and what is not says why") {
  Folder folder;
  fs::create_directories(folder / "a");
  fs::create_directories(folder / "b");
  for (const char* file : {"a/tool", "b/tool"}) {
    std::ofstream(folder / file) << "#!/bin/sh\necho " << file << "\n";
    fs::permissions(folder / file, fs::perms::owner_all);
  }
  std::ofstream(folder / "a/data") << "text";
  const std::string path = (folder / "none").string() + ":" + (folder / "b").string() + ":" + (folder / "a").string();
  CHECK(nl::orchestrator::find_executable("tool", {}, nl::ErrorKind::kTool, path) == folder / "b/tool");
  ProcessSpec spec;
  spec.argv = {"tool"};
  spec.env = {{"PATH", path}};
  CHECK(run_process(spec).stdout_text == "b/tool\n");
  const fs::path before = fs::current_path();
  fs::current_path(folder / "a");
  const fs::path here = nl::orchestrator::find_executable("tool", {}, nl::ErrorKind::kTool, "/none:");  // nothing between colons: here
  fs::current_path(before);
  CHECK(fs::canonical(here) == fs::canonical(folder / "a/tool"));
  const auto none = not_started("", {}, "");
  CHECK(none.message == "no program was given to run");
  CHECK(none.fix == "give the command after --");
  const auto data = not_started("./data", folder / "a", "");
  CHECK(data.message == "./data is not an executable file");
  CHECK(data.where == (folder / "a/./data").string());
  CHECK(data.fix == "chmod +x ./data, or start its interpreter: python3 ./data");
  const auto missing = not_started("./missing", folder / "a", "");
  CHECK(missing.message == "./missing was not found");
  CHECK(missing.fix == "check the path; it is taken relative to the working directory");
  const auto unknown = not_started("data", {}, path);  // there, but no program
  CHECK(unknown.message == "data was not found in PATH");
  CHECK(unknown.where == "data");
  CHECK(unknown.fix == "give its full path");
}

TEST_CASE("a program that the kernel refuses is not started, and says so") {
  Folder folder;
  const auto file = folder.file("odd", "no program");
  fs::permissions(file, fs::perms::owner_all);
  ProcessSpec spec;
  spec.argv = {file.string()};
  try {
    run_process(spec);
    FAIL("started");
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kWorkload);
    CHECK(error.message.starts_with(file.string() + " could not be started: "));
    CHECK(error.where == file.string());
    CHECK(error.fix == "check that it is built for this machine and that its interpreter exists");
  }
}

TEST_CASE("a process group of its own, the signals as a shell expects them, and only the signal that ended it") {
  std::signal(SIGPIPE, SIG_IGN);
  const auto plain = run_process(shell("ps -o pgid= -p $$ | tr -d ' '; echo $$; kill -PIPE $$; echo not reached"));
  std::signal(SIGPIPE, SIG_DFL);
  CHECK(plain.term_signal == SIGPIPE);
  CHECK(plain.exit_status == 128 + SIGPIPE);
  const auto cut = plain.stdout_text.find('\n');
  CHECK(plain.stdout_text == plain.stdout_text.substr(0, cut + 1) + plain.stdout_text.substr(0, cut + 1));
  CHECK(run_process(shell("exit 200")).term_signal == 0);
}

TEST_CASE("output goes on to our standard error where that is asked for, and into both logs") {
  Folder folder;
  const auto capture = folder / "stderr";
  const int kept = ::dup(STDERR_FILENO);
  std::FILE* file = std::fopen(capture.c_str(), "w");
  ::dup2(::fileno(file), STDERR_FILENO);
  auto spec = shell("echo out; echo err >&2");
  spec.stdout_log = folder / "out.log";
  spec.stderr_log = folder / "err.log";
  spec.label = "no terminal, no progress";
  run_process(spec);
  const auto silent = read_text(capture);
  spec.forward_output = true;
  run_process(spec);
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
  std::fclose(file);
  CHECK(silent == "");
  const auto shown = read_text(capture);
  CHECK((shown == "out\nerr\n" || shown == "err\nout\n"));
  CHECK(read_text(spec.stdout_log) == "out\n");
  CHECK(read_text(spec.stderr_log) == "err\n");
}

TEST_CASE("a log that cannot be made, of either stream, is named") {
  auto spec = shell("echo out");
  spec.stderr_log = "/no/such/err.log";
  CHECK(run_process(spec).log_error == "/no/such/err.log: No such file or directory");
  spec.stdout_log = "/no/such/out.log";
  CHECK(run_process(spec).log_error == "/no/such/out.log: No such file or directory");
}

TEST_CASE("the last 64 KiB are kept, to the byte") {
  const auto tail = run_process(shell("head -c 300000 /dev/zero | tr '\\0' a; printf 'b%.0s' 1 2 3")).stdout_text;
  CHECK(tail.size() == 64 * 1024);
  CHECK(tail.ends_with("abbb"));
  CHECK(run_process(shell("head -c 65536 /dev/zero")).stdout_text.size() == 64 * 1024);
}

TEST_CASE("where argv[0] is killed and its children live, they can be saved once") {
  int calls = 0, pid = 0;
  auto spec = shell("sleep 60 & kill -KILL $$");
  spec.wait_for_tree = true;
  spec.on_orphaned = [&](int of) {
    ++calls, pid = of;
    for (const auto& left : nl::orchestrator::descendants()) kill(left.pid, SIGTERM);
  };
  const auto result = run_process(spec);
  CHECK(calls == 1);
  CHECK(pid > 0);
  CHECK(result.term_signal == SIGKILL);
  CHECK(result.leftovers_killed.empty());
  calls = 0;
  spec.argv = {"/bin/sh", "-c", "sleep 0.1 & exit 3"};  // it was not killed
  CHECK(run_process(spec).exit_status == 3);
  spec.argv = {"/bin/sh", "-c", "kill -KILL $$"};  // nothing is left
  CHECK(run_process(spec).term_signal == SIGKILL);
  CHECK(calls == 0);
}

TEST_CASE("processes of nsys and ncu are told by their names and by where they lie") {
  const nl::orchestrator::TreeProcess self{getpid(), "orchestrator_te"};
  CHECK_FALSE(nl::orchestrator::is_profiler(self));
  for (const char* name : {"nsys", "nsys-launcher", "ncu", "QdstrmImporter"}) CHECK(nl::orchestrator::is_profiler({getpid(), name}));
  CHECK_FALSE(nl::orchestrator::is_profiler({getpid(), "my-nsys"}));
  Folder folder;
  fs::create_directories(folder / "nsight-compute");
  const fs::path tool = folder / "nsight-compute/helper";
  fs::copy_file(fs::canonical("/bin/sleep"), tool);
  ProcessSpec spec;
  spec.argv = {tool.string(), "0.3"};
  bool seen = false;
  std::thread watch([&] {
    for (int i = 0; i < 500 && !seen; ++i) {
      for (const auto& process : nl::orchestrator::descendants())  // a process that becomes the tool just now has our name still
        seen = seen || (process.name == "helper" && nl::orchestrator::is_profiler(process));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  run_process(spec);
  watch.join();
  CHECK(seen);
}

// The output is closed before: only the signal of its end wakes us.
TEST_CASE("process: the end of a process is seen at once") {
  nl::Ns quickest_ns = 1'000'000'000;  // of five: a busy machine may be late once
  for (int i = 0; i < 5; ++i) quickest_ns = std::min(quickest_ns, run_process(shell("exec >&- 2>&-; exec sleep 0.05")).duration_ns);
  CHECK(quickest_ns < 150'000'000);  // asked every 200 ms it would be those
}
