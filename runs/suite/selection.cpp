#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "model/error.h"
#include "orchestrator/config/nearest.h"
#include "runs/suite/suite.h"

namespace nl::runs {
namespace {

bool matches(const std::string& name, const std::string& pattern) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; }

// The targets that one pattern names, as a mark for each.
std::vector<bool> named_by(const Suite& suite, const std::vector<TargetPair>& pairs, const std::string& pattern) {
  std::vector<bool> named(suite.targets.size());
  for (std::size_t i = 0; i < suite.targets.size(); ++i) named[i] = matches(suite.targets[i].name, pattern);
  for (const TargetPair& pair : pairs) {
    if (matches(pair.name, pattern)) named[pair.optimised] = true;
    if (named[pair.optimised]) named[pair.baseline] = true;  // without it there is no speed-up
  }
  return named;
}

std::vector<std::string> names_to_choose(const Suite& suite, const std::vector<TargetPair>& pairs) {
  std::vector<std::string> names;
  for (const TargetPair& pair : pairs) names.push_back(pair.name);
  for (const SuiteTarget& target : suite.targets) names.push_back(target.name);
  return names;
}

}  // namespace

Suite chosen_targets(Suite suite, const std::vector<std::string>& patterns) {
  if (patterns.empty()) return suite;
  const std::vector<TargetPair> pairs = find_pairs(suite).pairs;
  std::vector<bool> chosen(suite.targets.size());
  for (const std::string& pattern : patterns) {
    const std::vector<bool> named = named_by(suite, pairs, pattern);
    if (std::find(named.begin(), named.end(), true) == named.end())
      throw Error(ErrorKind::kUsage, fmt::format("the suite has no target or pair '{}'", pattern), "--target",
                  nearest_or_all(pattern, names_to_choose(suite, pairs)));
    for (std::size_t i = 0; i < named.size(); ++i) chosen[i] = chosen[i] || named[i];
  }
  std::vector<SuiteTarget> targets;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i]) targets.push_back(std::move(suite.targets[i]));
  suite.targets = std::move(targets);
  suite.chosen = patterns;
  return suite;
}

}  // namespace nl::runs
