// The loop itself, over a CUDA driver that stands in for the real one. What only a GPU can show is in tests/manual/calibration.
#include "orchestrator/machine/launch_loop.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

using namespace nl;
using namespace nl::orchestrator;

namespace {

const std::filesystem::path kLoopDriver = NL_BUILD_ROOT "/tests/unit/orchestrator/libfake_driver.so";

double loop_median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct DriverVariable {
  const char* name;
  explicit DriverVariable(const char* set) : name(set) { setenv(set, "1", 1); }
  ~DriverVariable() { unsetenv(name); }
};

}  // namespace

TEST_CASE("launch loop: each kind of call is timed by blocks, and the slower call takes longer") {
  const LaunchLoops loops = time_launch_loops(kLoopDriver);
  CHECK(loops.cuda_driver_version == 13000);
  REQUIRE(loops.loops.size() == 3);
  CHECK(loops.loops[0].call == CalibratedCall::kLaunch);
  CHECK(loops.loops[1].call == CalibratedCall::kLaunchAmidCode);
  CHECK(loops.loops[2].call == CalibratedCall::kCopy);
  for (const TimedLoop& loop : loops.loops) CHECK(loop.blocks_ns.size() == 120);
  const double launch = loop_median(loops.loops[0].blocks_ns), amid = loop_median(loops.loops[1].blocks_ns),
               copy = loop_median(loops.loops[2].blocks_ns);
  CHECK(launch >= 200);
  CHECK(amid > launch);  // with what runs in between
  CHECK(copy >= 2000);
}

TEST_CASE("launch loop: a driver that knows only an early target compiles the kernel for that") {
  const DriverVariable old("FAKE_DRIVER_OLD");
  CHECK(time_launch_loops(kLoopDriver).loops.size() == 3);
}

TEST_CASE("launch loop: without a driver or a GPU there is an error of the tool") {
  const auto kind_of = [](const std::filesystem::path& driver) {
    try {
      time_launch_loops(driver);
    } catch (const Error& error) {
      return error.kind;
    }
    return ErrorKind::kInternal;
  };
  CHECK(kind_of("/nowhere/libcuda.so.1") == ErrorKind::kTool);
  const DriverVariable no_gpu("FAKE_DRIVER_NO_GPU");
  CHECK(kind_of(kLoopDriver) == ErrorKind::kTool);
}

TEST_CASE("launch loop: its file can be read again, and a damaged one is refused") {
  const test::FakeTree tree;
  const std::filesystem::path file = tree.root() / "loops.json";
  std::ofstream(file) << loops_json({12080, {{CalibratedCall::kCopy, {1.5, 2.25}}}});
  const LaunchLoops read = read_loops(file);
  CHECK(read.cuda_driver_version == 12080);
  REQUIRE(read.loops.size() == 1);
  CHECK(read.loops[0].call == CalibratedCall::kCopy);
  CHECK(read.loops[0].blocks_ns == std::vector<double>{1.5, 2.25});
  for (const char* text : {"", "{}", "{\"cuda_driver_version\": 1, \"loops\": 7}"}) {
    std::ofstream(file) << text;
    CHECK_THROWS_AS(read_loops(file), Error);
  }
}
