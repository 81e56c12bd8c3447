#include "runs/suite/run_suite.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "orchestrator/bundle/read_run.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl::runs;

namespace {

struct Timed {
  Suite suite;
  std::vector<TaskRecord> tasks;

  Timed() {
    suite.name = "attention";
    for (const char* name : {"x_baseline", "x_optimized"}) suite.targets.push_back({name, {"true"}, {}, {}, {}, {}});
  }
  void add(std::size_t target, double seconds, std::map<std::string, double> stage_ms = {}, TaskOutcome outcome = TaskOutcome::kOk) {
    const int number = static_cast<int>(tasks.size()) + 1;
    tasks.push_back(
        {{number, target, number, false}, outcome, "run-" + std::to_string(number), "/out/runs/x", seconds, std::move(stage_ms), {}});
  }
  void add_all(const std::vector<double>& baseline, const std::vector<double>& optimised) {
    for (std::size_t i = 0; i < std::max(baseline.size(), optimised.size()); ++i) {  // in turns
      if (i < baseline.size()) add(0, baseline[i]);
      if (i < optimised.size()) add(1, optimised[i]);
    }
  }
  PairResult judged() const { return judge_pairs(suite, tasks).at(0); }
};

// Two values around `middle` whose logarithms differ by 0.02.
std::vector<double> around(double middle) { return {middle * std::exp(-0.01), middle * std::exp(0.01)}; }

}  // namespace

TEST_CASE("verdict: two runs of each have the interval of runs that differ by as much as is assumed") {
  Timed timed;
  timed.add_all(around(0.2), around(0.1));
  const PairResult pair = timed.judged();
  CHECK(pair.measured == "the whole run");
  CHECK(pair.baseline_ms.size() == 2);
  CHECK(pair.baseline_ms[0] == Approx(200 * std::exp(-0.01)));
  CHECK(*pair.speedup == Approx(2));
  // Assumed of a run: standard deviation 0.035 with eight degrees of freedom, t = 2.306004; of the difference of two means of two the same.
  const double half = 2.306004 * 0.035;
  CHECK(*pair.low == Approx(2 * std::exp(-half)).epsilon(1e-6));
  CHECK(*pair.high == Approx(2 * std::exp(half)).epsilon(1e-6));
  CHECK(pair.verdict == PairVerdict::kMet);
}

TEST_CASE("verdict: the mirror of a pair has the reciprocal speed-up and interval") {
  Timed timed, mirror;
  timed.add_all({0.21, 0.2, 0.23}, {0.1, 0.12, 0.11});
  mirror.add_all({0.1, 0.12, 0.11}, {0.21, 0.2, 0.23});
  const PairResult pair = timed.judged(), other = mirror.judged();
  CHECK(*pair.speedup * *other.speedup == Approx(1));
  CHECK(*pair.low * *other.high == Approx(1));
  CHECK(*pair.high * *other.low == Approx(1));
  CHECK(other.verdict == PairVerdict::kRegressed);
}

TEST_CASE("verdict: met, missed, regressed and undecided by where the interval lies") {
  Timed timed;
  // The interval is 1.084 times either way.
  const auto [baseline, verdict] = GENERATE(table<double, PairVerdict>({{0.114, PairVerdict::kMet},
                                                                        {0.1135, PairVerdict::kUndecided},
                                                                        {0.1, PairVerdict::kUndecided},
                                                                        {0.0968, PairVerdict::kMissed},
                                                                        {0.0925, PairVerdict::kMissed},
                                                                        {0.092, PairVerdict::kRegressed}}));
  INFO(baseline);
  timed.add_all(around(baseline), around(0.1));
  CHECK(timed.judged().verdict == verdict);
}

TEST_CASE("verdict: one run of each decides nothing") {
  Timed timed;
  timed.add_all({10}, {0.1});
  CHECK(*timed.judged().speedup == Approx(100));
  CHECK_FALSE(timed.judged().low);
  CHECK(timed.judged().verdict == PairVerdict::kUndecided);
  CHECK(timed.judged().note == "one run of each has no interval: raise iterations");
}

TEST_CASE("verdict: stages are measured where all runs have them; loading a model is no part of the speed-up") {
  Timed timed;
  timed.add(0, 30, {{"prefill", 10}, {"decode", 90}, {"decode_step", 1}});
  timed.add(0, 31, {{"prefill", 10}, {"decode", 90}});
  timed.add(1, 30, {{"prefill", 10}, {"decode", 40}});
  timed.add(1, 31, {{"prefill", 10}, {"decode", 40}});
  CHECK(timed.judged().measured == "prefill + decode");
  CHECK(*timed.judged().speedup == Approx(2));
  timed.suite.measure = {Measure::Kind::kStage, "decode"};
  CHECK(*timed.judged().speedup == Approx(90.0 / 40));
  timed.suite.measure = {Measure::Kind::kRun, ""};
  CHECK(*timed.judged().speedup == Approx(1));
  timed.suite.measure = {Measure::Kind::kStage, "decode_step"};
  CHECK(timed.judged().verdict == PairVerdict::kFailed);
  CHECK(timed.judged().note == "not every run has the stage decode_step");
  timed.suite.measure = {};
  timed.add(1, 30);
  CHECK(timed.judged().measured == "the whole run");
}

TEST_CASE("verdict: a failed run is not timed, and fails the suite") {
  Timed timed;
  timed.add_all({0.2, 0.2, 0.2}, {0.1, 0.1});
  timed.add(1, 0.001, {}, TaskOutcome::kFailed);
  const PairResult pair = timed.judged();
  CHECK(pair.optimised_ms == std::vector<double>{100, 100});
  CHECK(pair.verdict == PairVerdict::kMet);
  SuiteResult result;
  result.suite = timed.suite;
  result.tasks = timed.tasks;
  result.pairs = {pair};
  CHECK(suite_verdict(result) == PairVerdict::kFailed);
  result.tasks.pop_back();
  CHECK(suite_verdict(result) == PairVerdict::kMet);
}

TEST_CASE("verdict: a side without a good run has no speed-up") {
  Timed timed;
  timed.add_all({0.2, 0.2}, {});
  CHECK_FALSE(timed.judged().speedup);
  CHECK(timed.judged().note == "x_optimized has no run that ended well");
}

TEST_CASE("suite report: suite.json and suite.md tell the same") {
  Timed timed;
  timed.suite.iterations = 2;
  timed.add_all({0.2, 0.2}, {0.1, 0.1});
  SuiteResult result;
  result.suite = timed.suite;
  result.tasks = timed.tasks;
  result.pairs = judge_pairs(timed.suite, timed.tasks);
  result.orphans = {"y_baseline"};
  result.out = "/out";
  result.checks = {{"timing.clocks", CheckLevel::kWarning, "GPU clocks", "not locked (waived)", "nvidia-smi"}};
  result.engine = "local";
  CHECK_NOTHROW(validate_run_json(suite_json(result), "suite.json"));
  const auto json = nlohmann::json::parse(suite_json(result));
  auto wrong = json;
  wrong["pairs"][0]["verdict"] = "splendid";
  CHECK_THROWS_WITH(validate_run_json(wrong.dump(), "suite.json"),
                    Catch::Matchers::StartsWith("not a valid suite.json: at /pairs/0/verdict"));
  CHECK(json["verdict"] == "met");
  CHECK(json["pairs"][0]["speedup"].get<double>() == Approx(2));
  CHECK(json["pairs"][0]["low"].get<double>() == Approx(2 * std::exp(-2.306004 * 0.035)));
  CHECK(json["targets"][1]["runs"][0]["bundle"] == "runs/x");
  CHECK(json["orphans"][0] == "y_baseline");
  const std::string page = suite_markdown(result);
  CHECK(nl::test::has(page, "# Suite attention: met\n"));
  CHECK(nl::test::has(page, "| x | the whole run | 200.000 | 100.000 | 2.000 (1.845 to 2.168) | met |\n"));
  CHECK(nl::test::has(page, "| x_baseline | 2 of 2 | 0.200 | - |\n"));
  CHECK(nl::test::has(page, "- y_baseline is one half of a pair; the other half is missing.\n"));
  CHECK(nl::test::has(page, "- warning GPU clocks: not locked (waived); fix: `nvidia-smi`\n"));
  const std::string wide = suite_text(result, 120), narrow = suite_text(result, 50);
  CHECK(nl::test::has(wide,
                      "pair  verdict  speed-up  95 % from     to  baseline ms  optimised ms  measured\n"
                      "x     met         2.000      1.845  2.168      200.000       100.000  the whole run\n"));
  CHECK(nl::test::has(wide, "\n- y_baseline is one half of a pair; the other half is missing.\n"));
  CHECK(wide.find('|') == std::string::npos);
  CHECK(nl::test::has(narrow, "pair  verdict  speed-up  95 % from  measured\n"));
  CHECK(nl::test::has(narrow, "A pair meets the threshold when its speed-up is at\n"));
  result.checks[0].level = CheckLevel::kBlocked;
  CHECK(nlohmann::json::parse(suite_json(result))["verdict"] == "met");  // another node ran it all the same
  result.tasks.clear();
  CHECK(nlohmann::json::parse(suite_json(result))["verdict"] == "blocked");
  // Of what was not run nothing is said but why.
  CHECK(suite_markdown(result) ==
        "# Suite attention: blocked\n\nThe environment is not fit for timings. Nothing was run.\n\n## Environment\n\n- blocked GPU clocks: "
        "not locked (waived); fix: `nvidia-smi`\n");
  CHECK(suite_text(result, 120) == "The environment is not fit for timings. Nothing was run.\n\n");
}

TEST_CASE("verdict: a pair of other work has no speed-up, one of another program or precision has") {
  Timed timed;
  timed.add_all(around(0.2), around(0.1));
  using nl::IdentityPart;
  for (TaskRecord& task : timed.tasks) {
    task.identity[IdentityPart::kBatch] = "8";
    task.identity[IdentityPart::kProgram] = task.task.target == 0 ? "eager.py" : "graphs.py";
    task.identity[IdentityPart::kPrecision] = task.task.target == 0 ? "bf16" : "fp8";
  }
  timed.tasks.back().identity[IdentityPart::kPromptTokens] = "512";  // known of one half alone
  CHECK(timed.judged().verdict == PairVerdict::kMet);
  timed.tasks.back().identity[IdentityPart::kBatch] = "16";
  const PairResult pair = timed.judged();
  CHECK(pair.verdict == PairVerdict::kFailed);
  CHECK(pair.note == "not the same work: batch 8 and 16");
  CHECK_FALSE(pair.speedup);
}

TEST_CASE("verdict: the speed-up is the ratio of the two figures beside it, also where one run was disturbed") {
  Timed timed;
  timed.add_all({0.154, 0.151, 0.150, 0.390, 0.152}, {0.100, 0.101, 0.099, 0.100, 0.102});
  const PairResult pair = timed.judged();
  CHECK(*pair.speedup == Approx(152.0 / 100));
  CHECK(*pair.low <= *pair.speedup);
  CHECK(*pair.high >= *pair.speedup);
  SuiteResult result;
  result.suite = timed.suite;
  result.tasks = timed.tasks;
  result.pairs = {pair};
  result.out = "/out";
  CHECK(nl::test::has(suite_markdown(result), "| 152.000 | 100.000 | 1.520 ("));
}
