#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <thread>
#include "tests/catch.h"

#include "model/error.h"
#include "orchestrator/recorder/folders.h"
#include "orchestrator/recorder/process_link.h"
#include "orchestrator/recorder/window.h"
#include "parsers/collector/trace.h"
#include "tests/unit/files.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::orchestrator;
using std::chrono::milliseconds;

namespace {

constexpr const char* kCollector = NL_BUILD_ROOT "/collector/libnl_collector.so";
constexpr const char* kFakeCupti = NL_BUILD_ROOT "/tests/unit/collector/libfake_cupti.so";
constexpr const char* kProgram = NL_BUILD_ROOT "/tests/unit/orchestrator/recorder/recorded_program";

using Variables = std::map<std::string, std::string>;

template <typename Done>
bool within(milliseconds time, Done done) {
  for (const auto end = std::chrono::steady_clock::now() + time; !done(); std::this_thread::sleep_for(milliseconds(5)))
    if (std::chrono::steady_clock::now() > end) return false;
  return true;
}

// A recorded program, and the folder of its recorder.
class Recorded {
 public:
  // `before`: what a shell does before the program takes its place.
  explicit Recorded(const std::string& words, const Variables& more = {}, bool wait = true, const std::string& before = {})
      : before_(before) {
    std::string name = (fs::temp_directory_path() / "nl-recorder-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder_ = name;
    Variables variables = {{"NL_STAGE_RECORD", "1"},
                           {"NL_STAGE_RECORD_DIR", folder().string()},
                           {"NVTX_INJECTION64_PATH", kCollector},
                           {"CUDA_INJECTION64_PATH", kCollector},
                           {"FAKE_CUPTI", kFakeCupti},
                           {"NL_STAGE_CUPTI", kFakeCupti}};
    for (const auto& [key, value] : more) variables[key] = value;
    pid_ = fork();
    if (pid_ == 0) start(words, variables);
    REQUIRE(pid_ > 0);
    if (wait) REQUIRE(within(milliseconds(20'000), [&] { return out().find("ready") != std::string::npos && fs::exists(socket()); }));
  }
  ~Recorded() {
    end(SIGKILL);
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  fs::path folder() const { return folder_ / "recorder"; }
  fs::path socket() const { return folder() / fmt::format("{}.sock", pid_); }
  pid_t pid() const { return pid_; }
  std::string out() const { return test::read_text(folder_ / "out"); }
  std::string err() const { return test::read_text(folder_ / "err"); }
  Recorder recorder() const { return find_recorder(folder().string()); }
  int end(int signal) {
    if (pid_ <= 0) return -1;
    if (signal != 0) kill(pid_, signal);
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }
  std::vector<fs::path> ring() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder()))
      if (entry.path().extension() == ".nltrace") files.push_back(entry.path());
    return files;
  }

 private:
  [[noreturn]] void start(const std::string& words, const Variables& variables) {
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    dup2(open((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    dup2(open((folder_ / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    const std::string command = fmt::format("{}exec {} {}", before_, kProgram, words);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }

  std::string before_;
  fs::path folder_;
  pid_t pid_ = 0;
};

Window window_of(const Recorded& program, const WindowRequest& request = {}) { return take_window(program.recorder(), request, {}); }

WindowRequest of_steps(std::uint32_t steps) {
  WindowRequest request;
  request.steps = steps;
  return request;
}

const WindowProcess& process(const Window& window, int pid) {
  const auto found = std::find_if(window.processes.begin(), window.processes.end(), [&](const auto& each) { return each.pid == pid; });
  REQUIRE(found != window.processes.end());
  return *found;
}

// Ranges whose name begins so, between two times of CLOCK_MONOTONIC.
std::size_t ranges_between(const Trace& trace, std::string_view begins, Ns from_ns, Ns to_ns) {
  return static_cast<std::size_t>(std::count_if(trace.ranges.begin(), trace.ranges.end(), [&](const Range& range) {
    const Ns start_ns = range.start_ns + *trace.monotonic_start_ns;
    return trace.strings[range.name].starts_with(begins) && start_ns >= from_ns && start_ns < to_ns;
  }));
}

// Of one process, from the beginning of its window to the end.
std::size_t steps_of(const Trace& trace, const WindowProcess& process) {
  return static_cast<std::size_t>(std::count_if(trace.ranges.begin(), trace.ranges.end(), [&](const Range& range) {
    const Ns start_ns = range.start_ns + *trace.monotonic_start_ns;
    return trace.processes[trace.threads[range.thread].process].pid == static_cast<std::uint32_t>(process.pid) &&
           trace.strings[range.name].starts_with("execute_") && start_ns >= *process.opened_ns && start_ns < *process.closed_ns;
  }));
}

std::set<std::string> step_marks(const Trace& trace) {
  std::set<std::string> texts;
  for (const Mark& mark : trace.marks)
    if (trace.strings[mark.name].starts_with("step index=")) texts.insert(trace.strings[mark.name]);
  return texts;
}

}  // namespace

TEST_CASE("recorder: a window has its steps, their kernels, and the ranges of before") {
  Recorded program("20000");
  REQUIRE(within(milliseconds(10'000), [&] { return program.ring().size() >= 1; }));
  std::this_thread::sleep_for(milliseconds(300));
  const Window window = window_of(program);
  const WindowProcess& steps = process(window, program.pid());
  CHECK(steps.trouble.empty());
  CHECK(steps.steps == 20);
  CHECK(steps.idle_steps == 0);
  CHECK(steps.launches == 20);
  CHECK(window.opening == WindowOpening::kMark);
  REQUIRE(steps.first_step);
  CHECK(*steps.first_step > 0);

  const Trace trace = parsers::read_collector_traces(window.files());
  REQUIRE(trace.processes.size() == 1);
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(ranges_between(trace, "execute_context_0(0)_generation_8(8)", *steps.opened_ns, *steps.closed_ns) == 20);
  CHECK(ranges_between(trace, "execute_", 0, *steps.opened_ns) > 20);
  CHECK(trace.kernels.size() >= 20);
  for (const Kernel& kernel : trace.kernels) {
    CHECK(kernel.start_ns + *trace.monotonic_start_ns > *steps.opened_ns - 100'000'000);
    CHECK(trace.strings[trace.shapes[kernel.shape].name].find("gemm") != std::string::npos);
  }
  CHECK(
      step_marks(trace).contains(fmt::format("step index={} requests=1:decode:1,2:decode:1,3:decode:1,4:decode:1,5:decode:1,6:decode:1,"
                                             "7:decode:1,8:decode:1",
                                             *steps.first_step)));
}

TEST_CASE("recorder: windows follow each other, each with definitions of its own") {
  Recorded program("20000");
  std::this_thread::sleep_for(milliseconds(100));
  for (int i = 0; i < 3; ++i) {
    const Window window = window_of(program, of_steps(5));
    CHECK(window.steps() == 5);
    const Trace trace = parsers::read_collector_traces(window.files());
    CHECK(trace.stats.rows_damaged.empty());
    CHECK(trace.kernels.size() >= 5);
    for (const Kernel& kernel : trace.kernels) CHECK(kernel.shape < trace.shapes.size());
  }
}

TEST_CASE("recorder: turns of the loop without a launch are no steps") {
  Recorded program("20000 idle");
  std::this_thread::sleep_for(milliseconds(100));
  const Window window = window_of(program, of_steps(10));
  const WindowProcess& steps = process(window, program.pid());
  CHECK(steps.steps == 10);
  CHECK(steps.idle_steps >= 9);
  CHECK(steps.idle_steps <= 11);
  WindowRequest all = of_steps(10);
  all.count_idle = true;
  CHECK(process(window_of(program, all), program.pid()).idle_steps == 0);
}

TEST_CASE("recorder: a window begins with a batch that is large enough") {
  Recorded program("20000 small");
  WindowRequest request = of_steps(3);
  request.min_batch = 8;
  const WindowProcess steps = process(window_of(program, request), program.pid());
  REQUIRE(steps.first_step);
  CHECK(*steps.first_step >= 100);
}

TEST_CASE("recorder: a window begins after a slow step") {
  Recorded program("20000 slow");
  std::this_thread::sleep_for(milliseconds(100));
  WindowRequest request = of_steps(3);
  request.when = slow_step_of("step > 3*median");
  const WindowProcess by_median = process(window_of(program, request), program.pid());
  REQUIRE(by_median.first_step);
  CHECK(*by_median.first_step % 40 <= 3);  // the slow one is the 39th, and opening takes a step or two
  request.when = slow_step_of("step > 20ms");
  const WindowProcess by_time = process(window_of(program, request), program.pid());
  CHECK(*by_time.first_step % 40 <= 3);
}

TEST_CASE("recorder: conditions on a step are read, or refused") {
  CHECK(slow_step_of("step > 3*median").factor == 3);
  CHECK(slow_step_of("step>1.5*median").factor == 1.5);
  CHECK(slow_step_of("step > 50ms").longer_than_ns == 50'000'000);
  CHECK(slow_step_of("step > 0.5 s").longer_than_ns == 500'000'000);
  for (const char* wrong : {"", "step", "step > ", "step > 3", "step > 0.5*median", "step < 3*median", "step > -1ms", "step > nan*median"})
    CHECK_THROWS_AS(slow_step_of(wrong), Error);
}

TEST_CASE("recorder: no step that opens the window is said, and the program is free again") {
  Recorded program("20000 small");
  WindowRequest request = of_steps(3);
  request.min_batch = 100;
  request.within_ns = 200'000'000;
  try {
    window_of(program, request);
    FAIL("it opened");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kTimeout);
  }
  CHECK(window_of(program, of_steps(3)).steps() == 3);
}

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

TEST_CASE("recorder: a program without steps has windows by time, and one without work says so") {
  Recorded program("20000 quiet");
  WindowRequest request = of_steps(0);
  request.most_ns = 150'000'000;
  const Window window = window_of(program, request);
  const WindowProcess& quiet = process(window, program.pid());
  CHECK(window.opening == WindowOpening::kTime);
  CHECK_FALSE(quiet.has_steps);
  CHECK(window.steps() == 0);
  CHECK(window.launches() == 0);
  REQUIRE(quiet.closed_ns);
  CHECK(*quiet.closed_ns - *quiet.opened_ns >= 150'000'000);
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

TEST_CASE("recorder: a step that does not end in its window is said, with what was launched") {
  Recorded program("20000 hangs");
  WindowRequest request = of_steps(20);
  request.most_ns = 100'000'000;
  const Window window = window_of(program, request);
  const WindowProcess& steps = process(window, program.pid());
  CHECK(steps.trouble.empty());
  CHECK(steps.steps == 0);
  REQUIRE(steps.closed_ns);
  CHECK(*steps.closed_ns - *steps.opened_ns < 2'000'000'000);  // it is closed all the same
  const std::vector<Remark> remarks = remarks_on(window);
  REQUIRE(remarks.size() == 1);
  CHECK(remarks[0].code == Code::kNoStepEnded);
  CHECK(remarks[0].details[0] == fmt::format("{} launches", window.launches()));
  CHECK(parsers::read_collector_traces(window.files()).kernels.size() > 50);
}

TEST_CASE("recorder: only a window in which work was launched and no step ended is said to have none") {
  WindowProcess hangs;
  hangs.has_steps = true;
  hangs.launches = 1;
  hangs.opened_ns = 10;
  hangs.closed_ns = 5'000'010;
  Window window;
  window.processes = {hangs};
  REQUIRE(remarks_on(window).size() == 1);
  CHECK(remarks_on(window)[0].details == std::vector<std::string>{"1 launch", "5"});
  window.processes[0].steps = 1;
  CHECK(remarks_on(window).empty());
  window.processes = {hangs};
  window.processes[0].idle_steps = 1;
  CHECK(remarks_on(window).empty());
  window.processes = {hangs};
  window.processes[0].launches = 0;  // nothing ran: that is another thing to say
  CHECK(remarks_on(window).empty());
  window.processes = {hangs};
  window.processes[0].has_steps = false;
  CHECK(remarks_on(window).empty());
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

TEST_CASE("recorder: a child of fork records by itself, and both open at the same step") {
  Recorded program("20000 child");
  REQUIRE(within(milliseconds(5'000), [&] { return program.recorder().pids.size() == 2; }));
  std::this_thread::sleep_for(milliseconds(200));
  const Window window = window_of(program, of_steps(10));
  REQUIRE(window.processes.size() == 2);
  CHECK(window.opening == WindowOpening::kMark);
  CHECK(window.processes[0].first_step == window.processes[1].first_step);
  const Trace trace = parsers::read_collector_traces(window.files());
  CHECK(trace.processes.size() == 2);
  // One clock for both: the steps of each lie between the times that it said, to the nanosecond.
  for (const WindowProcess& each : window.processes) CHECK(steps_of(trace, each) == 10);
}

TEST_CASE("recorder: steps without a mark open at the same number of collectives") {
  Recorded program("20000 child unmarked nccl");
  REQUIRE(within(milliseconds(5'000), [&] { return program.recorder().pids.size() == 2; }));
  std::this_thread::sleep_for(milliseconds(200));
  for (const bool waits : {false, true}) {
    WindowRequest request = of_steps(10);
    if (waits) request.min_batch = 8;
    const Window window = window_of(program, request);
    REQUIRE(window.processes.size() == 2);
    CHECK(window.opening == WindowOpening::kCollective);
    REQUIRE(window.processes[0].first_collective);
    CHECK(window.processes[0].first_collective == window.processes[1].first_collective);
    CHECK(*window.processes[0].first_collective % 3 == 0);
    CHECK_FALSE(window.processes[0].first_step);
    CHECK(window_json(window, request).find("\"opened_by\": \"collective\"") != std::string::npos);
    // The step before the window's first has called the last of them, in either process.
    const Trace trace = parsers::read_collector_traces(window.files());
    for (const WindowProcess& each : window.processes) {
      CHECK(each.steps == 10);
      CHECK(ranges_between(trace, "ncclAllReduce", *each.opened_ns, INT64_MAX) >= 30);
    }
  }
}

TEST_CASE("recorder: processes that do not call the same collectives open at one time, and it is said") {
  for (const char* words : {"ahead", "stage"}) {
    INFO(words);
    Recorded program(std::string("20000 child unmarked nccl ") + words);
    REQUIRE(within(milliseconds(5'000), [&] { return program.recorder().pids.size() == 2; }));
    std::this_thread::sleep_for(milliseconds(400));
    const Window window = window_of(program, of_steps(5));
    REQUIRE(window.processes.size() == 2);
    CHECK(window.opening == WindowOpening::kTime);
    for (const WindowProcess& each : window.processes) CHECK(each.steps == 5);
  }
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

TEST_CASE("recorder: the ring keeps the last seconds, in files that stand alone") {
  Recorded program("20000", {{"NL_STAGE_RECORD_SECONDS", "1"}});
  std::this_thread::sleep_for(milliseconds(2'500));
  CHECK(program.ring().size() <= 5);  // three of the past, the one in hand, and one that is being made
  WindowRequest request = of_steps(5);
  const Window window = window_of(program, request);
  const WindowProcess& steps = process(window, program.pid());
  const Trace trace = parsers::read_collector_traces(window.files());
  CHECK(trace.stats.rows_damaged.empty());
  const std::size_t before = ranges_between(trace, "execute_", 0, *steps.opened_ns);
  CHECK(before > 200);  // a second of steps of 2 ms, and some; a machine that is busy makes fewer
  CHECK(before < 1'500);
  // Texts are those of the files that are left: no mark is without its name.
  CHECK(step_marks(trace).size() + 2 >= ranges_between(trace, "execute_", 0, INT64_MAX));
  CHECK(*step_marks(trace).begin() != "step index=0 requests=1:decode:1");
}

TEST_CASE("recorder: the ring takes no more memory than it may") {
  Recorded program("20000 busy", {{"NL_STAGE_RECORD_MB", "1"}});
  std::uintmax_t most = 0;
  for (int i = 0; i < 40; ++i, std::this_thread::sleep_for(milliseconds(25))) {
    std::uintmax_t sum = 0;
    std::error_code gone;
    for (const fs::path& file : program.ring())
      if (const std::uintmax_t size = fs::file_size(file, gone); !gone) sum += size;
    most = std::max(most, sum);
  }
  CHECK(most > (512 << 10));
  CHECK(most <= (1 << 20) + (512 << 10));  // the file in hand may grow to twice its share until the next one begins
  CHECK(window_of(program, of_steps(100)).steps() == 100);
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

TEST_CASE("recorder: a signal takes a window, too") {
  Recorded program("20000", {{"NL_STAGE_RECORD_SIGNAL", "USR2"}});
  std::this_thread::sleep_for(milliseconds(200));
  kill(program.pid(), SIGUSR2);
  const fs::path folder = program.folder() / "windows" / "signal-1";
  REQUIRE(within(milliseconds(5'000), [&] { return fs::exists(folder); }));
  std::this_thread::sleep_for(milliseconds(600));
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  CHECK(parsers::read_collector_traces(files).kernels.size() >= 20);
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

TEST_CASE("recorder: a program that is started with an empty environment is recorded, too") {
#ifdef __SANITIZE_ADDRESS__
  NL_SKIP("AddressSanitizer must be the first library of a program");
#endif
  Recorded program("20000 cleared", {{"LD_PRELOAD", kCollector}});
  CHECK(within(milliseconds(10'000), [&] { return program.recorder().pids.size() == 2; }));
  const auto refused = [&] { return program.err(); };
  CHECK(refused().empty());
}

TEST_CASE("recorder: the library alone is enough") {
#ifdef __SANITIZE_ADDRESS__
  NL_SKIP("AddressSanitizer must be the first library of a program");
#endif
  std::string runtime = (fs::temp_directory_path() / "nl-recorder-run-XXXXXX").string();
  REQUIRE(mkdtemp(runtime.data()) != nullptr);
  Recorded program("20000",
                   {{"LD_PRELOAD", kCollector}, {"NL_STAGE_RECORD_DIR", ""}, {"NVTX_INJECTION64_PATH", ""}, {"XDG_RUNTIME_DIR", runtime}},
                   false);
  const fs::path folder = fs::path(runtime) / "nl-stage" / "recorders" / fmt::format("pid-{}", program.pid());
  const bool there = within(milliseconds(10'000), [&] { return fs::exists(folder / fmt::format("{}.sock", program.pid())); });
  INFO(program.err());
  CHECK(there);
  program.end(SIGKILL);
  fs::remove_all(runtime);
}
