#include "runs/suite/pair_expectations.h"

#include <fstream>

#include "exporters/run_json/run_json.h"
#include "model/error.h"
#include "runs/suite/run_suite.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

namespace fs = std::filesystem;
using namespace nl::runs;

namespace {

// A suite with one pair that was measured on the hardware of the sample run.
struct Measured : nl::test::Folder {
  SuiteResult result;

  Measured(double low, double speedup, double high) {
    fs::create_directories(path / "run");
    std::ofstream(path / "run/run.json") << nl::exporters::run_to_json(nl::test::full_run());
    result.suite.name = "bench";
    result.suite.expectations = path / "speedups.yaml";
    result.started_at = "2026-11-16T12:00:00Z";
    result.tasks.push_back({{1, 0, 1, false}, TaskOutcome::kOk, "id", path / "run", 1, {}, {}});
    result.pairs.push_back({{"x", 0, 1}, "the whole run", {2, 2}, {1, 1}, speedup, low, high, PairVerdict::kMet, {}});
  }
  ExpectationVerdict judged(bool update = false) {
    judge_expectations(result, update);
    return result.pairs[0].expectation->verdict;
  }
  std::string text() const { return nl::test::read_text(path / "speedups.yaml"); }
};

}  // namespace

TEST_CASE("expected speed-ups: an update writes what was measured, and the next suite is judged by it") {
  Measured first(1.75, 1.8, 1.85);
  CHECK(first.judged() == ExpectationVerdict::kNew);
  CHECK_FALSE(fs::exists(first.path / "speedups.yaml"));
  CHECK(first.judged(true) == ExpectationVerdict::kMet);
  REQUIRE(first.result.changes.size() == 1);
  CHECK(first.result.changes[0] == "x on " + first.result.machine + ": new, 1.800");
  const std::string text = first.text();
  CHECK(text == "version: 1\ntolerance: 5%\nmachines:\n  \"" + first.result.machine +
                    "\":\n    \"x\": {speedup: 1.8, suite: \"bench\", date: \"2026-11-16\"}\n");
  const auto next = [&](double low, double speedup, double high, bool update = false) {
    Measured again(low, speedup, high);
    fs::copy_file(first.path / "speedups.yaml", again.path / "speedups.yaml");
    const ExpectationVerdict verdict = again.judged(update);
    return std::pair(verdict, again.text());
  };
  CHECK(next(1.72, 1.75, 1.78).first == ExpectationVerdict::kMet);  // 1.71 is still allowed
  CHECK(next(1.60, 1.65, 1.70).first == ExpectationVerdict::kRegressed);
  CHECK(next(1.60, 1.70, 1.80).first == ExpectationVerdict::kUndecided);
  CHECK(next(1.95, 2.00, 2.05).first == ExpectationVerdict::kImproved);
  // What is met stays, so that small steps do not add up unseen; what is not is replaced.
  CHECK(next(1.72, 1.75, 1.78, true).second == text);
  CHECK(next(1.95, 2.00, 2.05, true).second.find("speedup: 2,") != std::string::npos);
}

TEST_CASE("expected speed-ups: another size is another pair, and a failed one is not measured") {
  Measured sized(1.75, 1.8, 1.85);
  sized.judged(true);
  sized.result.pairs[0].size = 4096;
  CHECK(sized.judged() == ExpectationVerdict::kNew);
  sized.result.pairs[0].verdict = PairVerdict::kFailed;
  CHECK(sized.judged() == ExpectationVerdict::kNotMeasured);
  CHECK_FALSE(below_expectations(sized.result));
  Measured slower(1.1, 1.2, 1.3);
  fs::copy_file(sized.path / "speedups.yaml", slower.path / "speedups.yaml");
  slower.judged();
  CHECK(below_expectations(slower.result));
}

TEST_CASE("expected speed-ups: a wrong file is refused with its place") {
  const nl::test::Folder folder;
  const auto refused = [&](const std::string& text) {
    try {
      read_expected_speedups(folder.file("e.yaml", text));
    } catch (const nl::Error& error) {
      return error.where.substr(error.where.find("e.yaml")) + " " + error.message;
    }
    return std::string("read");
  };
  CHECK(refused("version: 2\nmachines: {}\n") == "e.yaml:1:10 'version' wants 1");
  CHECK(refused("machines: {H200: {x: {}}}\n").find("has no speed-up") != std::string::npos);
  CHECK(refused("tolerance: much\n").find("'tolerance' wants a share") != std::string::npos);
  CHECK(refused("version: 1\ntolerance: 10%\nmachines: {H200: {x: {speedup: 1.5, size: 8}}}\n") == "read");
}
