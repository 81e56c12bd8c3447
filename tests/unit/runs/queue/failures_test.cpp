#include "runs/queue/failures.h"

#include <fstream>

#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl::runs;

namespace {

// A queue whose commands run for real, with a lock of its own.
struct FailingQueue : nl::test::Folder {
  CommandQueue queue{path / "queue"};
  QueueFailures failures{queue};

  QueueResult run(int retry_failed) {
    return run_queue(queue, {.gpu_wait_s = 0, .stall_s = 0, .retry_failed = retry_failed, .look_s = 0.02, .lock = path / "lock"}, nullptr);
  }
};

}  // namespace

TEST_CASE("queue failures: what failed is remembered with its last error, until it ends well") {
  FailingQueue scene;
  scene.queue.add("echo first; echo 'CUDA error: out of memory' >&2; test -e ok || exit 3", scene.path);
  scene.queue.add("true", scene.path);
  CHECK_FALSE(scene.run(0).all_ok());
  auto known = scene.failures.list();
  REQUIRE(known.size() == 1);
  CHECK(known[0].entry.number == 1);
  CHECK(known[0].failures == 1);
  CHECK(known[0].exit_status == 3);
  CHECK(known[0].outcome == "failed");
  CHECK(known[0].error == "CUDA error: out of memory");
  CHECK(known[0].log == (scene.queue.folder() / "logs/000001-1.log").string());
  SECTION("not retried where that is not asked for") {
    CHECK(scene.run(0).attempts.empty());
    CHECK(scene.failures.list().size() == 1);
  }
  SECTION("retried, and forgotten when it ends well") {
    scene.file("ok", "");
    const QueueResult again = scene.run(1);
    REQUIRE(again.attempts.size() == 1);
    CHECK(again.all_ok());
    CHECK(again.attempts[0].entry.attempts == 2);
    CHECK(scene.failures.list().empty());
  }
  SECTION("dropped by hand") {
    CHECK(scene.failures.forget_all() == 1);
    CHECK(scene.failures.list().empty());
  }
}

TEST_CASE("queue failures: a command is tried again as often as asked for, whatever --attempts says of disturbances") {
  FailingQueue scene;
  scene.queue.add("echo x >> tries; exit 4", scene.path);
  const QueueResult result = scene.run(4);
  CHECK(result.attempts.size() == 5);
  CHECK_FALSE(result.all_ok());
  CHECK(nl::test::read_text(scene.path / "tries") == "x\nx\nx\nx\nx\n");
  CHECK(scene.failures.of(1)->failures == 5);
  CHECK(scene.run(4).attempts.empty());
  CHECK(scene.run(5).attempts.size() == 1);
}

TEST_CASE("queue failures: a damaged memory stops nothing") {
  FailingQueue scene;
  std::filesystem::create_directories(scene.queue.folder() / "failed");
  std::ofstream(scene.queue.folder() / "failed/000007.json") << "{";
  CHECK(scene.failures.list().empty());
  CHECK(scene.run(3).attempts.empty());
}
