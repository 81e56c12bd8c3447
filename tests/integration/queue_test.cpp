// Processes that fight for the queue of one machine.
#include <signal.h>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

struct QueueScene : Scene {
  QueueScene() {
    env["XDG_STATE_HOME"] = (path / "state").string();
    env["NL_STAGE_LOCK"] = (path / "lock").string();
    env["NL_STAGE_NVML"] = "";
    env["DIR"] = path.string();
  }
  fs::path queue() const { return path / "state/nl-stage/queue"; }
  std::string log() const { return text(queue() / "queue.log"); }
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("queue: four processes that fight for it run every command once, one at a time") {
  QueueScene scene;
  // Each adds three commands and wants to run the queue; a command that meets another one says so.
  scene.prefix = {scene.script("four", "for i in 1 2 3 4; do \"$@\" & done; wait").string()};
  const std::string command = "mkdir $DIR/busy || echo two at once >> $DIR/met\nsleep 0.1\necho $$ >> $DIR/ran\nrmdir $DIR/busy";
  const Outcome outcome = scene.nl_stage({"suite", "--enqueue", command, "--enqueue", command, "--enqueue", command, "--run-queue"});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK_FALSE(fs::exists(scene.path / "met"));
  CHECK(count_of(scene.text(scene.path / "ran"), "\n") == 12);
  std::string order;
  const std::string log = scene.log();
  for (std::size_t at = 0; (at = log.find('Z', at)) != std::string::npos; ++at)
    if (log.compare(at, 8, "Z START ") == 0) order += "S";
    else if (log.compare(at, 6, "Z END ") == 0) order += "E";
  CHECK(order == "SESESESESESESESESESESESE");
  CHECK(count_of(log, "status=0 outcome=ok") == 12);
  CHECK(fs::is_empty(scene.queue() / "queued"));
}

TEST_CASE("queue: kill -9 of the runner frees the machine, and its command is run again") {
  QueueScene scene;
  const std::string command = "echo $$ >> $DIR/ran\ntest $(wc -l < $DIR/ran) = 1 && exec sleep 4249\ntrue";
  const Outcome killed = scene.nl_stage_signalled({"suite", "--enqueue", command, "--run-queue"}, scene.path / "ran", SIGKILL);
  CHECK(killed.status == 128 + SIGKILL);
  const Outcome next = scene.nl_stage({"suite", "--run-queue", "--json"}, 30);
  INFO(next.err);
  CHECK(next.status == 0);
  CHECK(count_of(scene.text(scene.path / "ran"), "\n") == 2);
  CHECK(scene.log().find("REQUEUE 000001 attempt=1 reason=\"its runner was killed\"") != std::string::npos);
  CHECK(nlohmann::json::parse(next.out)["runs"][0]["attempt"] == 2);
  CHECK(scene.still_running().empty());
}

TEST_CASE("queue: a file of several lines is one entry, and what is added meanwhile is run, too") {
  QueueScene scene;
  const fs::path file = scene.script(
      "sweep.sh", "cat <<END\nfirst line\nsecond line\nEND\n" NL_BUILD_ROOT "/cli/nl-stage suite --enqueue 'echo added meanwhile'");
  const Outcome added = scene.nl_stage({"suite", "--enqueue-file", file.string(), "--json"});
  CHECK(added.status == 0);
  CHECK(nlohmann::json::parse(added.out)["added"].size() == 1);
  const Outcome listed = scene.nl_stage({"suite", "--queue-status"});
  CHECK(listed.says("queued   000001  #!/bin/sh (and 5 more lines)"));
  const Outcome outcome = scene.nl_stage({"suite", "--run-queue"});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(scene.text(scene.queue() / "logs/000001-1.log").starts_with("first line\nsecond line\n"));
  CHECK(scene.text(scene.queue() / "logs/000002-1.log") == "added meanwhile\n");
  if (!gpu_is_here()) CHECK(outcome.says("the GPU is not watched"));
}

TEST_CASE("queue: a failed command is reported by status 5, and nothing to do by status 2") {
  QueueScene scene;
  CHECK(scene.nl_stage({"suite", "--enqueue", "exit 7", "--run-queue"}).status == 5);
  CHECK(scene.log().find("END 000001 attempt=1 status=7 outcome=failed") != std::string::npos);
  CHECK(scene.nl_stage({"suite"}).status == 2);
  CHECK(scene.nl_stage({"suite", "--enqueue", " \n"}).status == 2);
  CHECK(scene.nl_stage({"suite", "--enqueue-file", "/nonexistent"}).status == 3);
}

TEST_CASE("queue: another process on the GPU delays a run") {
  QueueScene scene;
  scene.env["NL_STAGE_NVML"] = NL_BUILD_ROOT "/tests/unit/orchestrator/libfake_nvml.so";
  scene.env["NL_FAKE_NVML_PROCESSES"] = (scene.path / "on-gpu").string();
  scene.script("leaves", "echo 1 > $DIR/on-gpu; (sleep 1; : > $DIR/on-gpu) & exec \"$@\"");
  scene.prefix = {(scene.path / "leaves").string()};
  const Outcome outcome = scene.nl_stage({"suite", "--enqueue", "test ! -s $DIR/on-gpu", "--run-queue"});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(scene.log().find("WAIT for the GPU: 1") != std::string::npos);
}
