#include "runs/suite/sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace nl::runs {
namespace {

// The middle one, or the lower of the two in the middle.
double middle_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[(values.size() - 1) / 2];
}

bool ended_well_at(const std::vector<TaskRecord>& tasks, std::size_t target, std::int64_t size) {
  return std::any_of(tasks.begin(), tasks.end(), [&](const TaskRecord& record) {
    return record.task.target == target && record.task.size == size && !record.task.profiled && record.outcome == TaskOutcome::kOk;
  });
}

// The sizes that a group was timed at, in their order.
std::set<std::int64_t> sizes_of(const std::vector<TaskRecord>& tasks, const std::vector<std::size_t>& group) {
  std::set<std::int64_t> sizes;
  for (const TaskRecord& record : tasks)
    if (!record.task.profiled && std::find(group.begin(), group.end(), record.task.target) != group.end()) sizes.insert(record.task.size);
  return sizes;
}

std::int64_t last_size(const std::vector<TaskRecord>& tasks, const std::vector<std::size_t>& group) {
  const auto sizes = sizes_of(tasks, group);
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size)
    if (std::all_of(group.begin(), group.end(), [&](std::size_t target) { return ended_well_at(tasks, target, *size); })) return *size;
  return sizes.empty() ? 0 : *sizes.begin();
}

std::vector<PairResult> judged_at(const Suite& suite, const std::vector<TaskRecord>& tasks, std::int64_t size) {
  std::vector<TaskRecord> of_size;
  for (const TaskRecord& record : tasks)
    if (record.task.size == size) of_size.push_back(record);
  return judge_pairs(suite, of_size);
}

}  // namespace

const SizeRange* size_range_of(const Suite& suite, std::size_t target) {
  if (suite.targets[target].size) return &*suite.targets[target].size;
  for (const TargetPair& pair : find_pairs(suite).pairs) {
    if (pair.baseline != target && pair.optimised != target) continue;
    const SuiteTarget& other = suite.targets[pair.baseline == target ? pair.optimised : pair.baseline];
    if (other.size) return &*other.size;
  }
  return nullptr;
}

std::vector<std::vector<std::size_t>> sized_groups(const Suite& suite) {
  std::vector<std::size_t> group(suite.targets.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  for (const TargetPair& pair : find_pairs(suite).pairs) {
    const std::size_t joined = group[pair.baseline], left = group[pair.optimised];
    for (std::size_t& each : group)
      if (each == left) each = joined;
  }
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t number = 0; number < group.size(); ++number) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < group.size(); ++i)
      if (group[i] == number && size_range_of(suite, i) != nullptr) members.push_back(i);
    if (!members.empty()) groups.push_back(std::move(members));
  }
  return groups;
}

std::string why_larger(const PairResult& pair, const SizeRange& range) {
  if (pair.baseline_ms.empty() || pair.optimised_ms.empty()) return {};
  const double shorter_ms = std::min(middle_of(pair.baseline_ms), middle_of(pair.optimised_ms));
  if (shorter_ms < range.least_s * 1e3) return fmt::format("a run took {:.3g} ms, less than {:g} ms", shorter_ms, range.least_s * 1e3);
  // One run of each has no interval at any size.
  if (pair.verdict == PairVerdict::kUndecided && pair.low) return "the speed-up was not decided";
  return {};
}

std::vector<TaskRecord> at_last_size(const Suite& suite, const std::vector<TaskRecord>& tasks) {
  std::vector<TaskRecord> kept = tasks;
  for (const std::vector<std::size_t>& group : sized_groups(suite)) {
    const std::int64_t last = last_size(tasks, group);
    std::erase_if(kept, [&](const TaskRecord& record) {
      return record.task.size != last && std::find(group.begin(), group.end(), record.task.target) != group.end();
    });
  }
  return kept;
}

void tell_sizes(const Suite& suite, const std::vector<TaskRecord>& tasks, std::vector<PairResult>& pairs) {
  for (const std::vector<std::size_t>& group : sized_groups(suite)) {
    const auto sizes = sizes_of(tasks, group);
    const std::int64_t last = last_size(tasks, group);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (std::find(group.begin(), group.end(), pairs[i].pair.optimised) == group.end()) continue;
      const SizeRange& range = *size_range_of(suite, pairs[i].pair.optimised);
      pairs[i].size = last;
      std::vector<std::string> steps;
      for (const std::int64_t size : sizes) {
        if (size >= last) break;
        const std::string why = why_larger(judged_at(suite, tasks, size)[i], range);
        steps.push_back(fmt::format("at {} {}", size, why.empty() ? "another pair of its baseline needed more" : why));
      }
      if (!steps.empty()) pairs[i].size_note = fmt::format("The size was raised to {}: {}", last, fmt::join(steps, "; "));
      if (last == range.values.back() && !why_larger(pairs[i], range).empty())
        pairs[i].size_note +=
            (pairs[i].size_note.empty() ? "The size is " + std::to_string(last) : "") + "; it is the largest of its range";
    }
  }
}

}  // namespace nl::runs
