// What befalls programs that record: they are killed or stopped, disks are full, and others than their user ask.

#include <sys/stat.h>

#include "model/error.h"
#include "orchestrator/recorder/process_link.h"
#include "tests/unit/orchestrator/recorder/recorded.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::orchestrator;
using namespace nl::test;
using std::chrono::milliseconds;

TEST_CASE("recorder: a second window at once is refused, and the first goes on") {
  Recorded program("20000");
  std::this_thread::sleep_for(milliseconds(100));
  std::uint64_t first = 0;
  std::thread taking([&] { first = window_of(program, of_steps(150)).steps(); });
  REQUIRE(
      within(milliseconds(5'000), [&] { return fs::exists(program.folder() / "windows") && !fs::is_empty(program.folder() / "windows"); }));
  std::this_thread::sleep_for(milliseconds(50));
  CHECK_THROWS_AS(window_of(program, of_steps(3)), Error);
  taking.join();
  CHECK(first == 150);
}

TEST_CASE("recorder: a process that is killed in a window leaves what it wrote") {
  Recorded program("20000");
  std::this_thread::sleep_for(milliseconds(100));
  std::thread killer([&] {
    std::this_thread::sleep_for(milliseconds(1'000));
    kill(program.pid(), SIGKILL);
  });
  const pid_t pid = program.pid();
  WindowRequest request = of_steps(100'000);
  const Window window = window_of(program, request);
  killer.join();
  CHECK(process(window, pid).trouble.find("ended inside the window") != std::string::npos);
  const Trace trace = parsers::read_collector_traces(window.files());
  CHECK(trace.kernels.size() > 50);  // flushed every quarter of a second
  CHECK(trace.ranges.size() > trace.kernels.size());
}

TEST_CASE("recorder: a program that ends in a window closes it") {
  Recorded program("1500");
  std::this_thread::sleep_for(milliseconds(100));
  const pid_t pid = program.pid();
  const Window window = window_of(program, of_steps(100'000));
  const WindowProcess& steps = process(window, pid);
  CHECK(steps.trouble.empty());
  CHECK(steps.steps > 100);
  const Trace trace = parsers::read_collector_traces(window.files());
  CHECK(trace.kernels.size() >= steps.steps);
}

TEST_CASE("recorder: a process that is stopped in a window costs the window of the other nothing") {
  Recorded program("60000 child");
  REQUIRE(within(milliseconds(5'000), [&] { return program.recorder().pids.size() == 2; }));
  const std::vector<int> pids = program.recorder().pids;
  const int child = pids[0] == program.pid() ? pids[1] : pids[0];
  std::this_thread::sleep_for(milliseconds(200));
  std::thread stopper([&] {
    std::this_thread::sleep_for(milliseconds(600));
    kill(child, SIGSTOP);
  });
  WindowRequest request = of_steps(0);
  request.most_ns = 1'000'000'000;
  const Window window = window_of(program, request);
  stopper.join();
  kill(child, SIGKILL);
  CHECK(process(window, child).trouble == "it did not say that its window is closed");
  CHECK(process(window, program.pid()).trouble.empty());
  CHECK(process(window, program.pid()).steps > 100);
  const Trace trace = parsers::read_collector_traces(window.files());
  CHECK(trace.processes.size() == 2);  // what the stopped one had written is there
}

TEST_CASE("recorder: a process that is stopped does not hold up the others") {
  Recorded program("20000 child");
  REQUIRE(within(milliseconds(5'000), [&] { return program.recorder().pids.size() == 2; }));
  const std::vector<int> pids = program.recorder().pids;
  const int child = pids[0] == program.pid() ? pids[1] : pids[0];
  kill(child, SIGSTOP);
  std::this_thread::sleep_for(milliseconds(100));
  const Window window = window_of(program, of_steps(5));
  kill(child, SIGKILL);
  CHECK(process(window, child).trouble == "it did not answer");
  CHECK(process(window, program.pid()).steps == 5);
}

TEST_CASE("recorder: children that come and go in a window take nothing of it away") {
  Recorded program("20000 forks");
  std::this_thread::sleep_for(milliseconds(200));
  for (int i = 0; i < 2; ++i) {
    const Window window = window_of(program, of_steps(60));
    CHECK(process(window, program.pid()).steps == 60);
    CHECK(process(window, program.pid()).trouble.empty());
    const Trace trace = parsers::read_collector_traces(window.files());
    CHECK(trace.stats.rows_damaged.empty());
  }
  CHECK(fs::exists(program.socket()));
}

TEST_CASE("recorder: a disk that is full costs what comes then, and the next window is whole") {
  Recorded program("20000 busy", {}, true, "ulimit -f 400; ");  // 200 KiB a file, in the units of dash
  std::this_thread::sleep_for(milliseconds(100));
  const Window full = window_of(program, of_steps(100'000));
  CHECK(process(full, program.pid()).trouble.find("the disk may be full") != std::string::npos);
  const Trace cut = parsers::read_collector_traces(full.files());
  const auto stopped = [](const Remark& note) { return note.code == Code::kCaptureStopped; };
  CHECK(std::any_of(cut.stats.notes.begin(), cut.stats.notes.end(), stopped));
  CHECK(cut.ranges.size() > 100);
  const Window next = window_of(program, of_steps(50));
  const Trace whole = parsers::read_collector_traces(next.files());
  CHECK(whole.ranges.size() >= 50);
}

TEST_CASE("recorder: a program that ended leaves neither socket nor ring") {
  Recorded program("300");
  CHECK(program.end(0) == 0);
  CHECK(program.ring().empty());
  CHECK_FALSE(fs::exists(program.socket()));
}

TEST_CASE("recorder: who was killed leaves its ring, and is found no more") {
  Recorded program("20000");
  std::this_thread::sleep_for(milliseconds(100));
  program.end(SIGKILL);
  CHECK_FALSE(program.ring().empty());
  CHECK(parsers::read_collector_traces(program.ring()).ranges.size() > 10);
  CHECK_THROWS_AS(program.recorder(), Error);
}

TEST_CASE("recorder: a child whose parent was killed goes on, is found and has windows") {
  Recorded program("20000 child");
  REQUIRE(within(milliseconds(5'000), [&] { return program.recorder().pids.size() == 2; }));
  const pid_t parent = program.pid();
  const std::vector<int> pids = program.recorder().pids;
  const int child = pids[0] == parent ? pids[1] : pids[0];
  program.end(SIGKILL);
  const Recorder left = program.recorder();
  CHECK(left.pids == std::vector<int>{child});
  CHECK_FALSE(fs::exists(program.folder() / fmt::format("{}.sock", parent)));
  const Window window = take_window(left, of_steps(5), {});
  CHECK(process(window, child).steps == 5);
  kill(child, SIGKILL);
}

TEST_CASE("recorder: a client that goes away before its window opens leaves the program free") {
  Recorded program("20000");
  {
    ProcessLink link(program.folder(), program.pid());
    link.send("arm window=gone steps=5");
    CHECK(within(milliseconds(2'000), [&] {
      const auto line = link.next();
      return line && line->says == RecorderSays::kArmed;
    }));
  }
  REQUIRE(within(milliseconds(2'000), [&] { return !fs::exists(program.folder() / "windows" / "gone"); }));
  CHECK(window_of(program, of_steps(5)).steps() == 5);
}

TEST_CASE("recorder: a window goes on to its end where the client goes away meanwhile") {
  Recorded program("20000");
  std::this_thread::sleep_for(milliseconds(100));
  {
    ProcessLink link(program.folder(), program.pid());
    link.send("arm window=left steps=200");
    link.send("open");
    CHECK(within(milliseconds(5'000), [&] {
      const auto line = link.next();
      return line && line->says == RecorderSays::kOpened;
    }));
  }
  CHECK_THROWS_AS(window_of(program, of_steps(5)), Error);  // it is open
  std::this_thread::sleep_for(milliseconds(1'500));
  CHECK(window_of(program, of_steps(5)).steps() == 5);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(program.folder() / "windows" / "left")) files.push_back(entry.path());
  CHECK(parsers::read_collector_traces(files).kernels.size() >= 200);
}

TEST_CASE("recorder: sockets and folders are this user's alone") {
  Recorded program("20000");
  struct stat about = {};
  REQUIRE(stat(program.socket().c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0600);
  REQUIRE(stat(program.folder().c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0700);
  for (const fs::path& file : program.ring()) {
    REQUIRE(stat(file.c_str(), &about) == 0);
    CHECK((about.st_mode & 0777) == 0600);
  }
}

TEST_CASE("recorder: another user is refused by the socket itself") {
  if (geteuid() != 0) NL_SKIP("needs root, to be another user");
  Recorded program("20000");
  chmod(program.folder().parent_path().c_str(), 0755);
  chmod(program.folder().c_str(), 0755);
  chmod(program.socket().c_str(), 0666);  // as if somebody had opened all doors
  const pid_t child = fork();
  if (child == 0) {
    if (setuid(65534) != 0) _exit(10);
    ProcessLink link(program.folder(), program.pid());
    for (int i = 0; i < 200; ++i, usleep(10'000))
      if (const auto line = link.next()) _exit(line->says == RecorderSays::kError && line->rest == "another user" ? 0 : 1);
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("recorder: a folder that others may enter is not used") {
  std::string name = (fs::temp_directory_path() / "nl-recorder-open-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  chmod(name.c_str(), 0755);
  Recorded program("100", {{"NL_STAGE_RECORD_DIR", name}}, false);
  CHECK(program.end(0) == 0);  // the program does not suffer
  CHECK(program.err().find("no folder of this user alone") != std::string::npos);
  CHECK(fs::is_empty(name));
  fs::remove_all(name);
}

TEST_CASE("recorder: nonsense on the socket is answered, and nothing comes of it") {
  Recorded program("20000");
  ProcessLink link(program.folder(), program.pid());
  for (const char* line : {"", "open", "close", "arm", "arm window=../../etc steps=3", "arm window=.", "what is this"}) link.send(line);
  int errors = 0;
  within(milliseconds(2'000), [&] {
    while (const auto line = link.next()) errors += line->says == RecorderSays::kError;
    return errors >= 7;
  });
  CHECK(errors == 7);
  link.send(std::string(5'000, 'x'));  // a line without an end
  CHECK(within(milliseconds(2'000), [&] { return !link.next() && link.fd() < 0; }));
  CHECK(window_of(program, of_steps(3)).steps() == 3);
}
