#include "orchestrator/live/live_runs.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/catch.h"
#include "tests/unit/files.h"

using nl::orchestrator::live_runs, nl::orchestrator::LiveNote, nl::orchestrator::stop_live_run;
namespace fs = std::filesystem;

namespace {

// A folder of this test's own in place of the user's.
struct RuntimeFolder : nl::test::Folder {
  RuntimeFolder() { setenv("XDG_RUNTIME_DIR", path.c_str(), 1); }
  ~RuntimeFolder() { unsetenv("XDG_RUNTIME_DIR"); }
  fs::path live() const { return path / "nl-stage/live"; }
};

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& run : live_runs())
    if (run.name.starts_with("test-")) names.push_back(run.name + ": " + run.progress);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("live runs: a run is listed while it goes on, with what it does") {
  const RuntimeFolder folder;
  CHECK(names().empty());
  {
    LiveNote note("run-1", "test-a", "bundle");
    CHECK(names() == Names{"test-a: starting"});
    note.say("[2/5] nsys trace");
    CHECK(names() == Names{"test-a: [2/5] nsys trace"});
    LiveNote second("run-2", "test-b \xff\"", "bundle");
    CHECK(names().size() == 2);
    struct stat about = {};
    REQUIRE(::stat(folder.live().c_str(), &about) == 0);
    CHECK((about.st_mode & 0777) == 0700);
    for (const auto& entry : fs::directory_iterator(folder.live())) {
      REQUIRE(::stat(entry.path().c_str(), &about) == 0);
      CHECK((about.st_mode & 0777) == 0600);
    }
  }
  CHECK(names().empty());
  CHECK(fs::is_empty(folder.live()));
}

TEST_CASE("live runs: one whose process is gone is dropped, and odd files are no runs") {
  const RuntimeFolder folder;
  const LiveNote note("run-1", "test-a", "bundle");
  const std::string text = nl::test::read_text(fs::directory_iterator(folder.live())->path());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    return changed.replace(changed.find(from), from.size(), to);
  };
  std::ofstream(folder.live() / "later.json") << with("\"started_ticks\":", "\"started_ticks\":9");  // our pid, given to another process
  std::ofstream(folder.live() / "gone.json") << with("\"pid\":", "\"pid\":99");
  std::ofstream(folder.live() / "init.json") << with("\"pid\":" + std::to_string(::getpid()), "\"pid\":1");
  std::ofstream(folder.live() / "broken.json") << "{\"pid\": ";
  std::ofstream(folder.live() / "deep.json") << std::string(10'000, '[');
  fs::create_symlink("/etc/passwd", folder.live() / "link.json");
  CHECK(names() == Names{"test-a: starting"});
  CHECK_FALSE(fs::exists(folder.live() / "later.json"));
  CHECK_FALSE(fs::exists(folder.live() / "gone.json"));
}

TEST_CASE("live runs: a folder that others may write to is not believed") {
  const RuntimeFolder folder;
  const LiveNote note("run-1", "test-a", "bundle");
  fs::permissions(folder.live(), fs::perms::all);
  CHECK(names().empty());
  fs::permissions(folder.live(), fs::perms::owner_all);
  CHECK(names().size() == 1);
}

TEST_CASE("live runs: a stop is a Ctrl-C to that process alone") {
  const RuntimeFolder folder;
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    ::signal(SIGINT, SIG_DFL);  // not the test framework's
    const LiveNote note("run-child", "test-child", "bundle");
    [[maybe_unused]] const auto written = write(ready[1], "x", 1);
    pause();
    _exit(1);
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  CHECK_FALSE(stop_live_run("run-other"));
  CHECK(stop_live_run("run-child"));
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGINT));
  CHECK_FALSE(stop_live_run("run-child"));  // its file was left behind
  CHECK(names().empty());
}
