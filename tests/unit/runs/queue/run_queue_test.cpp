#include "runs/queue/run_queue.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "model/error.h"
#include "runs/queue/machine_lock.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl::runs;
using nl::test::has;
using nl::test::read_text;

namespace {

// A GPU that reads as told; the last reading stays.
struct ToldGpu : GpuActivity {
  GpuReading read() override {
    const GpuReading reading = readings.front();
    if (readings.size() > 1) readings.erase(readings.begin());
    return reading;
  }
  bool names_processes() const override { return named; }
  std::vector<GpuReading> readings = {idle()};
  bool named = true;
  static GpuReading idle() { return {{}, true, 0.0}; }
  static GpuReading held_by(int pid) { return {{pid}, true, 0.9}; }
};

struct QueueScene {
  nl::test::Folder folder;
  CommandQueue queue{folder / "queue"};
  QueueOptions options{.stall_s = 0, .look_s = 0.1, .lock = folder / "lock"};
  ToldGpu gpu;

  void add(const std::string& command) { queue.add(command, folder.path); }
  QueueResult run() { return run_queue(queue, options, nullptr); }
  QueueResult run_on_gpu() { return run_queue(queue, options, &gpu); }
  std::string log() const { return read_text(queue.log_file()); }
};

}  // namespace

TEST_CASE("run queue: commands run one after another in their folder, with START and END lines") {
  QueueScene scene;
  scene.add("echo out; echo err >&2; pwd > where");
  scene.add("exit 3");
  const QueueResult result = scene.run();
  REQUIRE(result.attempts.size() == 2);
  CHECK(result.attempts[0].outcome == EntryOutcome::kOk);
  CHECK(result.attempts[1].outcome == EntryOutcome::kFailed);
  CHECK(result.attempts[1].exit_status == 3);
  CHECK_FALSE(result.all_ok());
  CHECK(read_text(result.attempts[0].log) == "out\nerr\n");
  CHECK(read_text(scene.folder / "where") == scene.folder.path.string() + "\n");
  const std::string log = scene.log();
  const std::string first_log = scene.queue.folder().string() + "/logs/000001-1.log";
  CHECK(has(log, "Z START 000001 attempt=1 log=" + first_log + " command=echo out; echo err >&2; pwd > where\n"));
  CHECK(has(log, "Z END 000001 attempt=1 status=0 outcome=ok seconds="));
  CHECK(has(log, "Z END 000002 attempt=1 status=3 outcome=failed seconds="));
  CHECK(log.find("END 000001") < log.find("START 000002"));
  CHECK(scene.queue.waiting().empty());
  CHECK(scene.queue.running().empty());
}

TEST_CASE("run queue: a folder that is gone fails its entry, and the next one runs") {
  QueueScene scene;
  scene.queue.add("true", scene.folder / "gone");
  scene.add("true");
  const QueueResult result = scene.run();
  REQUIRE(result.attempts.size() == 2);
  CHECK(result.attempts[0].outcome == EntryOutcome::kFailed);
  CHECK(result.attempts[1].outcome == EntryOutcome::kOk);
}

TEST_CASE("run queue: a run begins when the GPU is idle") {
  QueueScene scene;
  scene.add("true");
  scene.gpu.readings = {ToldGpu::held_by(1), {{}, true, 0.6}, ToldGpu::idle(), ToldGpu::held_by(1), ToldGpu::idle()};
  CHECK(scene.run_on_gpu().all_ok());
  CHECK(has(scene.log(), "WAIT for the GPU: 1 "));
  CHECK(scene.log().find("WAIT") < scene.log().find("START"));
}

TEST_CASE("run queue: the wait for an idle GPU may have an end, and the entry stays") {
  QueueScene scene;
  scene.add("true");
  scene.gpu.readings = {ToldGpu::held_by(1)};
  scene.options.gpu_wait_s = 0.1;
  const QueueResult result = scene.run_on_gpu();
  CHECK(result.gpu_stayed_busy);
  CHECK(result.attempts.empty());
  CHECK(scene.queue.waiting().size() == 1);
  scene.options.gpu_wait_s = 0;  // does not wait
  scene.options.attempts = 1;
  CHECK(scene.run_on_gpu().attempts.size() == 1);
}

TEST_CASE("run queue: a run that shared the GPU is run again, first in the queue") {
  QueueScene scene;
  scene.add("sleep 1");
  scene.add("echo later");
  scene.gpu.readings = {ToldGpu::idle(), ToldGpu::idle(), ToldGpu::held_by(1), ToldGpu::held_by(1), ToldGpu::idle()};
  const QueueResult result = scene.run_on_gpu();
  REQUIRE(result.attempts.size() == 3);
  CHECK(result.attempts[0].outcome == EntryOutcome::kOverlapped);
  CHECK(has(result.attempts[0].detail, "shared the GPU with 1"));
  CHECK(result.attempts[0].queued_again);
  CHECK(result.attempts[1].entry.number == 1);
  CHECK(result.attempts[1].entry.attempts == 2);
  CHECK(result.attempts[1].outcome == EntryOutcome::kOk);
  CHECK(result.attempts[2].entry.number == 2);
  CHECK(result.all_ok());
  CHECK(has(scene.log(), "REQUEUE 000001"));
}

TEST_CASE("run queue: a run that is disturbed each time is given up after so many attempts") {
  QueueScene scene;
  scene.options.gpu_wait_s = 0;
  scene.options.attempts = 2;
  scene.add("sleep 0.7");
  scene.gpu.readings = {{{1}, true, 0.9}};
  const QueueResult result = scene.run_on_gpu();
  REQUIRE(result.attempts.size() == 2);
  CHECK(result.attempts[1].outcome == EntryOutcome::kOverlapped);
  CHECK_FALSE(result.attempts[1].queued_again);
  CHECK_FALSE(result.all_ok());
  CHECK(scene.queue.waiting().empty());
}

TEST_CASE("run queue: process ids that mean nothing here are no overlap") {
  QueueScene scene;
  scene.options.gpu_wait_s = 0;
  scene.add("sleep 0.7");
  scene.gpu.named = false;
  scene.gpu.readings = {{{1}, true, 0.9}};
  const QueueResult result = scene.run_on_gpu();
  REQUIRE(result.attempts.size() == 1);
  CHECK(result.attempts[0].outcome == EntryOutcome::kOk);
}

TEST_CASE("run queue: a run without output, processor or GPU time is ended") {
  QueueScene scene;
  scene.options.stall_s = 0.6;
  scene.add("echo begun; sleep 4247");
  const auto began = std::chrono::steady_clock::now();
  const QueueResult result = scene.run();
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(15));
  REQUIRE(result.attempts.size() == 1);
  CHECK(result.attempts[0].outcome == EntryOutcome::kStalled);
  CHECK(has(scene.log(), "outcome=stalled"));
  CHECK(has(scene.log(), "no output, processor or GPU time for 1 s"));
  CHECK(scene.queue.waiting().empty());
}

TEST_CASE("run queue: output, processor time or GPU time each show that a run gets on") {
  QueueScene scene;
  scene.options.stall_s = 0.8;
  scene.options.gpu_wait_s = 0;
  SECTION("output") { scene.add("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.2; done"); }
  SECTION("processor time") { scene.add("timeout 1.6 sh -c 'while :; do :; done'; true"); }
  SECTION("GPU time") {
    scene.add("sleep 1.6");
    scene.gpu.named = false;
    scene.gpu.readings = {{{}, true, 0.5}};
  }
  const QueueResult result = scene.run_on_gpu();
  REQUIRE(result.attempts.size() == 1);
  CHECK(result.attempts[0].outcome == EntryOutcome::kOk);
}

TEST_CASE("run queue: Ctrl-C ends the run and leaves its entry in the queue") {
  QueueScene scene;
  scene.add("sleep 4248");
  scene.add("true");
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    kill(getpid(), SIGINT);
  });
  const QueueResult result = scene.run();
  later.join();
  CHECK(result.interrupt_signal == SIGINT);
  REQUIRE(result.attempts.size() == 1);
  CHECK(result.attempts[0].outcome == EntryOutcome::kInterrupted);
  CHECK(scene.queue.waiting().size() == 2);
}

TEST_CASE("run queue: an entry whose runner was killed too often is given up") {
  QueueScene scene;
  scene.options.attempts = 1;
  scene.add("true");
  scene.queue.take();  // and killed
  const QueueResult result = scene.run();
  REQUIRE(result.attempts.size() == 1);
  CHECK(result.attempts[0].outcome == EntryOutcome::kGivenUp);
  CHECK(scene.queue.waiting().empty());
}

TEST_CASE("run queue: an entry of a queue cannot run a queue") {
  QueueScene scene;
  const pid_t parent = fork();
  if (parent == 0) {
    const auto lock = MachineLock::try_take(scene.options.lock, "queue");
    while (true) pause();
  }
  while (!MachineLock::owner(scene.options.lock)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  setenv(kLockHolderVariable, lock_holder(parent, scene.options.lock).c_str(), 1);
  CHECK_THROWS_AS(scene.run(), nl::Error);
  unsetenv(kLockHolderVariable);
  kill(parent, SIGKILL);
}
