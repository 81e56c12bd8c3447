#include "orchestrator/process/own_verb.h"

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/files.h"

namespace {

using nl::orchestrator::OwnVerb, nl::orchestrator::OwnVerbEnd, nl::orchestrator::run_own_verb;

// A shell in the place of this program: what it is told and what it prints is what is looked at.
OwnVerb own_shell(const std::string& script) { return {.words = {"-c", script}, .program = "/bin/sh"}; }

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("own verb: what it prints, and how it ends") {
  const OwnVerbEnd end = run_own_verb(own_shell("echo out; echo err >&2; exit 7"));
  CHECK(end.out == "out\n");
  CHECK(end.err == "err\n");
  CHECK(end.exit_status == 7);
  CHECK(run_own_verb(own_shell("kill -SEGV $$")).exit_status == 128 + SIGSEGV);
  OwnVerb none = own_shell("");
  none.program = "/no/such/program";
  CHECK(run_own_verb(none).exit_status == 126);
}

TEST_CASE("own verb: it runs where it is told, with an empty input and no descriptor of ours") {
  const nl::test::Folder folder;
  OwnVerb verb = own_shell("pwd; cat; ls /proc/self/fd | wc -l");
  verb.directory = folder.path;
  // 0, 1, 2, the pipe for progress, and that of ls itself
  CHECK(run_own_verb(verb).out == std::filesystem::canonical(folder.path).string() + "\n5\n");
}

TEST_CASE("own verb: steps are told while it runs") {
  OwnVerb verb = own_shell("echo first >&$NL_STAGE_PROGRESS_FD; sleep 0.2; echo 'second step' >&$NL_STAGE_PROGRESS_FD; echo done");
  std::vector<std::string> told;
  verb.progress = [&](std::string_view what) { told.emplace_back(what); };
  CHECK(run_own_verb(verb).out == "done\n");
  CHECK(told == std::vector<std::string>{"first", "second step"});
}

TEST_CASE("own verb: asked to stop it gets one SIGINT, and may still print what it has") {
  std::stop_source stop;
  OwnVerb verb = own_shell(
      "trap 'n=$((n+1)); sleep 0.5; echo stopped $n; exit 130' INT; echo ready >&$NL_STAGE_PROGRESS_FD; while :; do sleep 0.05; done");
  verb.stop = stop.get_token();
  verb.progress = [&](std::string_view) { stop.request_stop(); };
  const OwnVerbEnd end = run_own_verb(verb);
  CHECK(end.out == "stopped 1\n");
  CHECK(end.exit_status == 130);
}

TEST_CASE("own verb: one that does not end is ended after the grace") {
  std::stop_source stop;
  OwnVerb verb = own_shell("trap '' INT; echo ready >&$NL_STAGE_PROGRESS_FD; while :; do sleep 0.05; done");
  verb.stop = stop.get_token();
  verb.grace_s = 0.3;
  verb.progress = [&](std::string_view) { stop.request_stop(); };
  const auto begin = std::chrono::steady_clock::now();
  CHECK(run_own_verb(verb).exit_status == 128 + SIGKILL);
  CHECK(seconds_since(begin) < 10);
}

TEST_CASE("own verb: more output than it may print ends it, and is not kept") {
  OwnVerb verb = own_shell("yes | head -c 100000000");
  verb.most_bytes = 1 << 20;
  const OwnVerbEnd end = run_own_verb(verb);
  CHECK(end.too_long);
  CHECK(end.out.empty());
  CHECK(run_own_verb(own_shell("yes | head -c 1000000")).out.size() == 1000000);
}

TEST_CASE("own verb: Ctrl-C reaches it where we ignore it") {
  std::stop_source stop;
  // A shell that is asked to end while it starts its last command waits for that command.
  OwnVerb verb = own_shell("while :; do sleep 0.05; done");
  verb.stop = stop.get_token();
  const auto before = ::signal(SIGINT, SIG_IGN);
  stop.request_stop();
  const auto begin = std::chrono::steady_clock::now();
  CHECK(run_own_verb(verb).exit_status == 128 + SIGINT);
  CHECK(seconds_since(begin) < 10);
  ::signal(SIGINT, before);
}

TEST_CASE("own verb: a descendant that holds its output open does not keep us") {
  const auto begin = std::chrono::steady_clock::now();
  CHECK(run_own_verb(own_shell("sleep 5 & echo done")).out == "done\n");
  CHECK(seconds_since(begin) < 4);
}

TEST_CASE("own verb: several run beside each other") {
  std::vector<OwnVerbEnd> ends(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < ends.size(); ++i)
      threads.emplace_back([&ends, i] { ends[i] = run_own_verb(own_shell("sleep 0.1; echo " + std::to_string(i))); });
  }
  for (std::size_t i = 0; i < ends.size(); ++i) CHECK(ends[i].out == std::to_string(i) + "\n");
}
