#include "adapters/measure.h"

#include <atomic>

#include "tests/unit/adapters/thrown.h"
#include "tests/unit/files.h"

using namespace nl;
using namespace nl::adapters;
using namespace nl::test;

namespace {

const std::string kModel =
    "input x float32 batch 16\n"
    "output y float32 1 16\n"
    "node /block/MatMul MatMul 2000\n"
    "node /block/Add Add 500\n";

// Two iterations after one of warm-up.
ModelSession measured(const std::string& model, MeasureOptions options = {}) {
  Folder folder;
  options.session.model = folder.file("model.txt", model);
  options.dims = {{"batch", 3}};
  options.iterations = 2;
  options.warmup = 1;
  return measure(adapter_named("fake"), options);
}

}  // namespace

TEST_CASE("a session has each iteration, unprofiled and profiled, and each execution of a node") {
  const ModelSession session = measured(kModel);
  CHECK(session.backend == "fake");
  CHECK(session.inputs_from == "random, seed 1");
  CHECK(session.unprofiled_ns.size() == 2);
  CHECK(session.profiled_ns.size() == 2);
  REQUIRE(session.nodes.size() == 2);
  CHECK(session.nodes[1].name == "/block/Add");
  const std::vector<NodeRun> expected = {{0, 0, 0, 2000, {}}, {0, 1, 0, 500, {}}, {1, 0, 0, 2000, {}}, {1, 1, 0, 500, {}}};
  CHECK(session.runs == expected);  // without the warm-up, whose iteration was the first
}

TEST_CASE("inputs and outputs are described as the model has them and as they were run") {
  const ModelSession session = measured(kModel);
  CHECK(session.inputs == std::vector<TensorInfo>{{"x", "float32", "[batch, 16]", {3, 16}}});
  CHECK(session.outputs == std::vector<TensorInfo>{{"y", "float32", "[1, 16]", {1, 16}}});
  CHECK(session.notes.empty());
}

TEST_CASE("the time of an iteration is what it takes") {
  for (const Ns time : measured(kModel + "sleep 3\n").unprofiled_ns) CHECK(time >= 3'000'000);
}

TEST_CASE("values that are no numbers are counted by output") {
  CHECK(measured(kModel + "output z float16 4\nnan\n").notes ==
        std::vector<std::string>{"y: 16 of 16 values are NaN", "z: 4 of 4 values are NaN"});
  CHECK(measured("output ids int64 4\nnan\n").notes.empty());
}

TEST_CASE("an iteration that fails ends the session with its reason") {
  const Error error = thrown_by([] { measured(kModel + "fail out of memory\n"); });
  CHECK(error.kind == ErrorKind::kWorkload);
  CHECK(error.message == "out of memory");
}

TEST_CASE("loading and both parts are announced, and an interrupt is heard before each iteration") {
  MeasureOptions options;
  std::vector<std::string> lines;
  int checks = 0;
  options.session.progress = [&](const std::string& line) { lines.push_back(line); };
  options.session.check_interrupt = [&] { ++checks; };
  measured(kModel, options);
  CHECK(lines == std::vector<std::string>{"loading model.txt", "2 iterations unprofiled", "loading model.txt once more, to profile it",
                                          "2 iterations profiled"});
  CHECK(checks == 6);
  options.session.check_interrupt = [] { throw Error(ErrorKind::kInterrupted, "interrupted"); };
  CHECK(thrown_by([&] { measured(kModel, options); }).kind == ErrorKind::kInterrupted);
}

TEST_CASE("what the fake does not understand is refused with its line") {
  const Error error = thrown_by([] { measured("nodes 3\n"); });
  CHECK(error.kind == ErrorKind::kInput);
  CHECK(error.where == "nodes 3");
}

TEST_CASE("a load that takes long is told again and again, until it ends") {
  std::atomic<int> lines{0};
  std::string last;
  {
    const std::jthread progress = tell_load_progress(
        "model.onnx",
        [&](const std::string& line) {
          last = line;
          ++lines;
        },
        std::chrono::milliseconds(1));
    while (lines < 3) std::this_thread::yield();
  }
  const int told = lines;
  CHECK(last == "still loading model.onnx, 0 s");
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(lines == told);
}

TEST_CASE("a load that is quick is not told") {
  int lines = 0;
  {
    const std::jthread progress = tell_load_progress("model.onnx", [&](const std::string&) { ++lines; });
  }
  CHECK(lines == 0);
}
