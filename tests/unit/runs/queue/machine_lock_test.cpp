#include "runs/queue/machine_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

namespace fs = std::filesystem;
using nl::runs::kLockHolderVariable;
using nl::runs::lock_holder;
using nl::runs::MachineLock;
using nl::test::Folder;
using nl::test::read_text;

namespace {

// A process that holds the lock until it is killed.
struct HolderProcess {
  explicit HolderProcess(const std::filesystem::path& file) {
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    pid = fork();
    if (pid == 0) {
      const auto lock = MachineLock::try_take(file, "suite attention.yaml");
      [[maybe_unused]] const auto told = write(ready[1], lock ? "y" : "n", 1);
      while (true) pause();
    }
    char answer = 0;
    REQUIRE(read(ready[0], &answer, 1) == 1);
    REQUIRE(answer == 'y');
    close(ready[0]);
    close(ready[1]);
  }
  ~HolderProcess() { end(); }
  void end() {
    if (pid <= 0) return;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    pid = 0;
  }
  pid_t pid = 0;
};

}  // namespace

TEST_CASE("lock: while one process holds it another gets none, and learns who it is") {
  Folder folder;
  const HolderProcess other(folder / "lock");
  CHECK_FALSE(MachineLock::try_take(folder / "lock", "queue"));
  const auto owner = MachineLock::owner(folder / "lock");
  REQUIRE(owner);
  CHECK(owner->pid == other.pid);
  CHECK(owner->purpose == "suite attention.yaml");
  CHECK(owner->since.size() >= std::string("2026-11-16T17:30:00Z").size());
}

TEST_CASE("lock: kill -9 frees it, and the next holder learns who was killed") {
  Folder folder;
  HolderProcess other(folder / "lock");
  const pid_t pid = other.pid;
  other.end();
  CHECK(nl::test::has(read_text(folder / "lock"), "suite attention.yaml"));  // the file stays, and blocks nothing
  const auto lock = MachineLock::try_take(folder / "lock", "queue");
  REQUIRE(lock);
  REQUIRE(lock->killed_owner());
  CHECK(lock->killed_owner()->pid == pid);
  CHECK(MachineLock::owner(folder / "lock")->pid == getpid());
}

TEST_CASE("lock: its file has one line, as it always had") {
  Folder folder;
  const auto lock = MachineLock::try_take(folder / "lock", "suite \"a b\".yaml");
  REQUIRE(lock);
  const auto owner = MachineLock::owner(folder / "lock");
  REQUIRE(owner);
  CHECK(read_text(folder / "lock") ==
        "{\"pid\":" + std::to_string(getpid()) + ",\"since\":\"" + owner->since + "\",\"purpose\":\"suite \\\"a b\\\".yaml\"}\n");
}

TEST_CASE("lock: who gives it back leaves no name behind") {
  Folder folder;
  {
    REQUIRE(MachineLock::try_take(folder / "lock", "queue"));
  }
  CHECK_FALSE(MachineLock::owner(folder / "lock"));
  const auto lock = MachineLock::try_take(folder / "lock", "queue");
  REQUIRE(lock);
  CHECK_FALSE(lock->killed_owner());
}

TEST_CASE("lock: no other user may write its file, whatever the umask, and one who may not write it can hold it") {
  const Folder folder;
  const fs::path file = folder / "lock";
  const mode_t before = umask(0);
  {
    const auto held = MachineLock::try_take(file, "suite");
  }
  umask(before);
  CHECK(fs::status(file).permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read | fs::perms::others_read));
  if (geteuid() != 0) NL_SKIP("only root can become another user");
  fs::permissions(folder.path, fs::perms::all);
  const pid_t other = fork();
  if (other == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    const auto held = MachineLock::try_take(file, "mine");
    if (!held || held->killed_owner()) _exit(1);
    _exit(open(file.c_str(), O_WRONLY | O_CLOEXEC) < 0 ? 0 : 3);
  }
  int status = -1;
  waitpid(other, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("lock: a file of any content blocks nothing") {
  Folder folder;
  const std::string text = GENERATE("", "{\"pid\": 1", "[]", "4711", "{\"pid\": \"one\"}", R"({"pid": null, "since": "", "purpose": ""})");
  folder.file("lock", text);
  CHECK_FALSE(MachineLock::owner(folder / "lock"));
  CHECK(MachineLock::try_take(folder / "lock", "queue"));
}

TEST_CASE("lock: what the holder has started does not wait for it; anything else does") {
  Folder folder;
  const HolderProcess other(folder / "lock");
  setenv(kLockHolderVariable, lock_holder(other.pid, folder / "lock").c_str(), 1);
  auto lock = MachineLock::try_take(folder / "lock", "suite inner.yaml");
  REQUIRE(lock);
  CHECK(lock->held_above_us());
  setenv(kLockHolderVariable, lock_holder(other.pid, folder / "another").c_str(), 1);
  CHECK_FALSE(MachineLock::try_take(folder / "lock", "suite inner.yaml"));
  setenv(kLockHolderVariable, lock_holder(other.pid + 1, folder / "lock").c_str(), 1);
  CHECK_FALSE(MachineLock::try_take(folder / "lock", "suite inner.yaml"));
  unsetenv(kLockHolderVariable);
}

TEST_CASE("lock: a file that cannot be opened is named, with the variable that chooses another") {
  Folder folder;
  std::filesystem::create_symlink(folder / "elsewhere", folder / "lock");  // in a folder that all may write to
  try {
    MachineLock::try_take(folder / "lock", "queue");
    FAIL("it followed a symbolic link");
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kOutput);
    CHECK(error.where == (folder / "lock").string());
    CHECK(nl::test::has(error.fix, "NL_STAGE_LOCK"));
  }
}
