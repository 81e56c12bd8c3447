#include "adapters/load_progress.h"

#include <atomic>

#include "tests/unit/files.h"

using namespace nl::adapters;

TEST_CASE("a load that takes long is told again and again, until it ends") {
  std::atomic<int> lines{0};
  std::string last;
  {
    LoadProgress progress(
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
    LoadProgress progress("model.onnx", [&](const std::string&) { ++lines; });
  }
  CHECK(lines == 0);
}
