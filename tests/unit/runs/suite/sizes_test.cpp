#include "runs/suite/sizes.h"
#include "tests/catch.h"

using namespace nl::runs;

namespace {

Suite sized_suite() {
  Suite suite;
  for (const char* name : {"x_baseline", "x_optimized", "plain"}) suite.targets.push_back({name, {"run {size}"}, {}, {}, {}, {}});
  suite.targets[0].size = SizeRange{{10, 20, 40}, 0.1};
  suite.threshold = 1.05;
  return suite;
}

// Three runs of both halves of x at one size, in seconds.
void time_at(std::vector<TaskRecord>& tasks, std::int64_t size, const std::vector<double>& baseline, const std::vector<double>& optimised) {
  for (std::size_t target = 0; target < 2; ++target)
    for (std::size_t i = 0; i < baseline.size(); ++i)
      tasks.push_back({{static_cast<int>(tasks.size()) + 1, target, static_cast<int>(i) + 1, false, size},
                       TaskOutcome::kOk,
                       "id",
                       "bundle",
                       (target == 0 ? baseline : optimised)[i],
                       {},
                       {}});
}

}  // namespace

TEST_CASE("suite sizes: both halves of a pair have its range, other targets none") {
  const Suite suite = sized_suite();
  REQUIRE(size_range_of(suite, 1) != nullptr);
  CHECK(size_range_of(suite, 1)->values.back() == 40);
  CHECK(size_range_of(suite, 2) == nullptr);
  CHECK(sized_groups(suite) == std::vector<std::vector<std::size_t>>{{0, 1}});
}

TEST_CASE("suite sizes: pairs that share a baseline grow together") {
  Suite suite = sized_suite();
  suite.targets[2].baseline = "x_baseline";
  CHECK(sized_groups(suite) == std::vector<std::vector<std::size_t>>{{0, 1, 2}});
}

TEST_CASE("suite sizes: too short or not decided asks for more work, and the last size counts") {
  const Suite suite = sized_suite();
  const SizeRange& range = *suite.targets[0].size;
  std::vector<TaskRecord> tasks;
  time_at(tasks, 10, {0.020, 0.021, 0.020}, {0.010, 0.010, 0.011});
  auto pairs = judge_pairs(suite, at_last_size(suite, tasks));
  CHECK(why_larger(pairs.at(0), range) == "a run took 10 ms, less than 100 ms");
  time_at(tasks, 20, {0.30, 0.20, 0.40}, {0.25, 0.35, 0.20});
  pairs = judge_pairs(suite, at_last_size(suite, tasks));
  CHECK(pairs.at(0).baseline_ms.size() == 3);
  CHECK(why_larger(pairs.at(0), range) == "the speed-up was not decided");
  time_at(tasks, 40, {0.60, 0.61, 0.60}, {0.30, 0.30, 0.31});
  pairs = judge_pairs(suite, at_last_size(suite, tasks));
  CHECK(why_larger(pairs.at(0), range).empty());
  tell_sizes(suite, tasks, pairs);
  CHECK(pairs.at(0).size == 40);
  CHECK(pairs.at(0).size_note == "The size was raised to 40: at 10 a run took 10 ms, less than 100 ms; at 20 the speed-up was not decided");
}

TEST_CASE("suite sizes: the end of the range is said, and a size that one half failed at does not count") {
  const Suite suite = sized_suite();
  std::vector<TaskRecord> tasks;
  time_at(tasks, 40, {0.30, 0.20, 0.40}, {0.25, 0.35, 0.20});
  auto pairs = judge_pairs(suite, at_last_size(suite, tasks));
  tell_sizes(suite, tasks, pairs);
  CHECK(pairs.at(0).size_note == "The size is 40; it is the largest of its range");
  tasks.clear();
  time_at(tasks, 10, {0.2, 0.2, 0.2}, {0.1, 0.1, 0.1});
  time_at(tasks, 20, {0.2, 0.2, 0.2}, {0.1, 0.1, 0.1});
  for (TaskRecord& record : tasks)
    if (record.task.size == 20 && record.task.target == 1) record.outcome = TaskOutcome::kFailed;
  for (const TaskRecord& record : at_last_size(suite, tasks)) CHECK(record.task.size == 10);
}
