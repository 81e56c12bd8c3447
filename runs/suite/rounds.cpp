#include "runs/suite/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "orchestrator/process/interrupts.h"
#include "runs/suite/sizes.h"

namespace nl::runs {
namespace {

class Rounds {
 public:
  Rounds(SuiteResult& result, const RunTasks& run) : result_(result), run_(run) {}

  void all() {
    std::vector<SuiteTask> timed, profiled;
    for (const SuiteTask& task : plan_tasks(suite())) (task.profiled ? profiled : timed).push_back(task);
    for (SuiteTask& task : timed) task.size = first_size(task.target);
    const auto groups = sized_groups(suite());
    if (groups.empty()) {  // nothing waits for the outcome of something else
      timed.insert(timed.end(), profiled.begin(), profiled.end());
      return run(std::move(timed));
    }
    run(std::move(timed));
    for (const std::vector<std::size_t>& group : groups) raise(group);
    for (SuiteTask& task : profiled) task.size = sizes_.contains(task.target) ? sizes_.at(task.target) : first_size(task.target);
    run(std::move(profiled));
  }

 private:
  const Suite& suite() const { return result_.suite; }

  std::int64_t first_size(std::size_t target) const {
    const SizeRange* range = size_range_of(suite(), target);
    return range != nullptr ? range->values.front() : 0;
  }

  void run(std::vector<SuiteTask> tasks) {
    if (tasks.empty() || Interrupts::signal() != 0) return;
    for (SuiteTask& task : tasks) task.number = ++last_number_;
    run_(tasks);
  }

  // Once more with more work, as long as that may decide a pair, and there is more.
  void raise(const std::vector<std::size_t>& group) {
    const SizeRange& range = *size_range_of(suite(), group.front());
    for (std::size_t next = 1; next < range.values.size() && Interrupts::signal() == 0; ++next) {
      const std::string why = why_group_larger(group, range);
      if (why.empty()) return;
      log_suite(result_.out, fmt::format("SIZE {} reason=\"{}\"", range.values[next], why));
      const std::size_t before = result_.tasks.size();
      run(timed_tasks(group, range.values[next]));
      // What fails with more work fails with still more: memory is at its end.
      if (std::any_of(result_.tasks.begin() + static_cast<std::ptrdiff_t>(before), result_.tasks.end(),
                      [](const TaskRecord& record) { return record.outcome != TaskOutcome::kOk; }))
        return;
      for (const std::size_t target : group) sizes_[target] = range.values[next];
    }
  }

  std::vector<SuiteTask> timed_tasks(const std::vector<std::size_t>& group, std::int64_t size) const {
    Suite part = suite();
    part.profile = SuiteProfile::kNone;
    part.targets.clear();
    for (const std::size_t target : group) part.targets.push_back(suite().targets[target]);
    std::vector<SuiteTask> tasks = plan_tasks(part);
    for (SuiteTask& task : tasks) {
      task.target = group[task.target];
      task.size = size;
    }
    return tasks;
  }

  std::string why_group_larger(const std::vector<std::size_t>& group, const SizeRange& range) const {
    for (const PairResult& pair : judge_pairs(suite(), at_last_size(suite(), result_.tasks))) {
      if (std::find(group.begin(), group.end(), pair.pair.optimised) == group.end()) continue;
      if (const std::string why = why_larger(pair, range); !why.empty()) return fmt::format("{}: {}", pair.pair.name, why);
    }
    return {};
  }

  SuiteResult& result_;
  const RunTasks& run_;
  int last_number_ = 0;
  std::map<std::size_t, std::int64_t> sizes_;  // that were raised, by target
};

}  // namespace

void run_rounds(SuiteResult& result, const RunTasks& run) { Rounds(result, run).all(); }

}  // namespace nl::runs
