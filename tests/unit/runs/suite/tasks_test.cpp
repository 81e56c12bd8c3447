#include "runs/suite/suite.h"

#include <set>
#include <vector>

#include "tests/catch.h"

using namespace nl::runs;

namespace {

Suite suite_of(const std::vector<std::string>& names) {
  Suite suite;
  for (const std::string& name : names) suite.targets.push_back({name, {"true"}, {}, {}, {}, {}});
  return suite;
}

std::string pairs_text(const Suite& suite) {
  std::string text;
  const TargetPairs found = find_pairs(suite);
  for (const TargetPair& pair : found.pairs)
    text += pair.name + ": " + suite.targets[pair.baseline].name + " > " + suite.targets[pair.optimised].name + "; ";
  for (const std::size_t orphan : found.orphans) text += "orphan " + suite.targets[orphan].name + "; ";
  return text;
}

}  // namespace

TEST_CASE("pairs: names that differ in baseline and optimised belong together") {
  CHECK(pairs_text(suite_of({"x_baseline", "x_optimized"})) == "x: x_baseline > x_optimized; ");
  CHECK(pairs_text(suite_of({"optimized_x", "baseline_x"})) == "x: baseline_x > optimized_x; ");
  CHECK(pairs_text(suite_of({"x-base", "x-opt", "y.baseline", "y.optimised"})) == "x: x-base > x-opt; y: y.baseline > y.optimised; ");
  CHECK(pairs_text(suite_of({"baseline", "optimized"})) == "optimized: baseline > optimized; ");
  CHECK(pairs_text(suite_of({"a_b_baseline", "a_b_optimized"})) == "a_b: a_b_baseline > a_b_optimized; ");
}

TEST_CASE("pairs: one half without the other is an orphan; any other name is a target of its own") {
  CHECK(pairs_text(suite_of({"x_baseline", "y_optimized", "plain", "database", "optics", "baseline_"})) ==
        "orphan x_baseline; orphan y_optimized; ");
}

TEST_CASE("pairs: several targets may name one baseline") {
  Suite suite = suite_of({"eager", "graphs", "fused_optimized"});
  suite.targets[1].baseline = suite.targets[2].baseline = "eager";
  CHECK(pairs_text(suite) == "graphs: eager > graphs; fused_optimized: eager > fused_optimized; ");
}

TEST_CASE("tasks: targets run once a round, in an order that is drawn, and are profiled at the end") {
  Suite suite = suite_of({"a", "b", "c"});
  suite.iterations = 3;
  std::string order;
  for (const SuiteTask& task : plan_tasks(suite)) order += std::to_string(task.number) + " " + task_name(suite, task) + ", ";
  CHECK(order == "1 b-1, 2 c-1, 3 a-1, 4 b-2, 5 c-2, 6 a-2, 7 c-3, 8 a-3, 9 b-3, 10 a-light, 11 b-light, 12 c-light, ");
  std::set<std::vector<std::size_t>> rounds;
  suite.iterations = 60;
  const std::vector<SuiteTask> many = plan_tasks(suite);
  for (std::size_t i = 0; i + 2 < 180; i += 3) rounds.insert({many[i].target, many[i + 1].target, many[i + 2].target});
  CHECK(rounds.size() == 6);  // every order of three
  suite.iterations = 3;
  suite.profile = SuiteProfile::kNone;
  CHECK(plan_tasks(suite).size() == 9);
  suite.profile = SuiteProfile::kDeep;
  CHECK(task_name(suite, plan_tasks(suite).back()) == "c-deep");
}
