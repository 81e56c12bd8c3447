#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "runs/suite/suite.h"

namespace nl::runs {
namespace {

enum class Half { kNone, kBaseline, kOptimised };

struct Affix {
  std::string_view word;
  Half half;
};
constexpr std::array<Affix, 5> kAffixes = {{{"baseline", Half::kBaseline},
                                            {"base", Half::kBaseline},
                                            {"optimized", Half::kOptimised},
                                            {"optimised", Half::kOptimised},
                                            {"opt", Half::kOptimised}}};

struct HalfName {
  Half half = Half::kNone;
  std::string stem;  // "attention" of attention_baseline; "" of baseline itself
};

bool is_separator(char c) { return c == '_' || c == '-' || c == '.'; }

// "attention_baseline", "baseline-attention", "baseline"
HalfName split_name(std::string_view name) {
  for (const Affix& affix : kAffixes) {
    const std::size_t size = affix.word.size();
    if (name == affix.word) return {affix.half, ""};
    if (name.size() < size + 2) continue;
    if (name.starts_with(affix.word) && is_separator(name[size])) return {affix.half, std::string(name.substr(size + 1))};
    if (name.ends_with(affix.word) && is_separator(name[name.size() - size - 1]))
      return {affix.half, std::string(name.substr(0, name.size() - size - 1))};
  }
  return {};
}

std::optional<std::size_t> baseline_of(const Suite& suite, std::size_t optimised, const std::vector<HalfName>& names) {
  for (std::size_t i = 0; i < suite.targets.size(); ++i) {
    const bool named = suite.targets[optimised].baseline == suite.targets[i].name;
    const bool found = suite.targets[optimised].baseline.empty() && names[optimised].half == Half::kOptimised &&
                       names[i].half == Half::kBaseline && names[i].stem == names[optimised].stem;
    if (i != optimised && (named || found)) return i;
  }
  return std::nullopt;
}

}  // namespace

TargetPairs find_pairs(const Suite& suite) {
  std::vector<HalfName> names;
  for (const SuiteTarget& target : suite.targets) names.push_back(split_name(target.name));
  TargetPairs result;
  std::vector<bool> paired(suite.targets.size());
  for (std::size_t i = 0; i < suite.targets.size(); ++i) {
    const auto baseline = baseline_of(suite, i, names);
    if (!baseline) continue;
    const bool by_name = suite.targets[i].baseline.empty() && !names[i].stem.empty();
    result.pairs.push_back({by_name ? names[i].stem : suite.targets[i].name, *baseline, i});
    paired[i] = paired[*baseline] = true;
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].half != Half::kNone && !paired[i]) result.orphans.push_back(i);
  return result;
}

std::vector<SuiteTask> plan_tasks(const Suite& suite) {
  std::vector<SuiteTask> tasks;
  const std::size_t targets = suite.targets.size();
  const auto add = [&](std::size_t target, int repetition, bool profiled) {
    tasks.push_back({static_cast<int>(tasks.size()) + 1, target, repetition, profiled});
  };
  for (int repetition = 1; repetition <= suite.iterations; ++repetition)
    for (std::size_t i = 0; i < targets; ++i) add(repetition % 2 == 1 ? i : targets - 1 - i, repetition, false);
  for (std::size_t i = 0; suite.profile != SuiteProfile::kNone && i < targets; ++i) add(i, 1, true);
  return tasks;
}

std::string task_name(const Suite& suite, const SuiteTask& task) {
  const std::string& target = suite.targets[task.target].name;
  if (task.profiled) return fmt::format("{}-{}", target, suite.profile == SuiteProfile::kDeep ? "deep" : "light");
  return fmt::format("{}-{}", target, task.repetition);
}

}  // namespace nl::runs
