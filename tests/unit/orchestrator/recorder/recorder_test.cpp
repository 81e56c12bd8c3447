#include "model/error.h"
#include "tests/unit/orchestrator/recorder/recorded.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::orchestrator;
using namespace nl::test;
using std::chrono::milliseconds;

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
