#pragma once

#include <span>
#include <string>

#include "analysis/verdicts/rules/judge.h"
#include "tests/unit/orchestrator/config/faulty_run.h"

namespace nl::test {

// A change that makes a rule report a finding in a healthy run, and one that just fails to.
struct RuleCase {
  const char* rule;
  const char* subject;
  void (*fire)(Run&);
  void (*miss)(Run&);
};

// At least one for each shipped rule.
std::span<const RuleCase> rule_cases();

// Read and parsed once: that takes longer than to judge a run.
const Rules& shipped();
const analysis::ParsedRules& parsed_shipped();

// The run's finding of that rule about that subject.
const Finding* find(const Run& run, std::string_view rule, std::string_view subject);

// "rule (subject) rule (subject) "
std::string rules_of(const Run& run);

void ended_badly(Run& run, Code code);

// What the finding tells the reader to do, a line each.
std::string advice_of(const Finding& finding);

}  // namespace nl::test
