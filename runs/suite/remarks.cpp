#include <fmt/format.h>

#include <algorithm>

#include "runs/suite/run_suite.h"

// What a suite says of its pairs beside their speed-ups.
namespace nl::runs {
namespace {

std::string expectation_sentence(const PairExpectation& expectation) {
  const std::string expected = expectation.speedup ? fmt::format("{:.3f} ± {:g} %", *expectation.speedup, expectation.tolerance * 100) : "";
  switch (expectation.verdict) {
    case ExpectationVerdict::kMet: return fmt::format("The speed-up is as expected ({})", expected);
    case ExpectationVerdict::kImproved:
      return fmt::format("The speed-up is above what is expected ({}); --update-expectations takes it over", expected);
    case ExpectationVerdict::kRegressed: return fmt::format("The speed-up is below what is expected ({})", expected);
    case ExpectationVerdict::kUndecided:
      return fmt::format("Whether the speed-up is as expected ({}) is not decided: raise iterations", expected);
    case ExpectationVerdict::kNew: return "No speed-up is expected of this pair on this machine yet; --update-expectations adds it";
    case ExpectationVerdict::kNotMeasured:
      return expectation.speedup ? fmt::format("No speed-up was measured; {} is expected", expected) : std::string();
  }
  return {};
}

std::string output_sentence(const OutputAgreement& outputs) {
  switch (outputs.verdict) {
    case OutputVerdict::kSame: return "Both halves give the same output";
    case OutputVerdict::kWithinTolerance: return "Both halves give the same output within the tolerance";
    case OutputVerdict::kDifferent:  // the pair's note has it
    case OutputVerdict::kNotCompared: break;
  }
  return {};
}

}  // namespace

std::string outputs_name(const PairResult& pair) {
  switch (pair.outputs.verdict) {
    case OutputVerdict::kNotCompared: return "";
    case OutputVerdict::kSame: return "same";
    case OutputVerdict::kWithinTolerance: return "within tolerance";
    case OutputVerdict::kDifferent: return "different";
  }
  return "";
}

std::vector<std::string> pair_remarks(const PairResult& pair) {
  std::vector<std::string> remarks = {output_sentence(pair.outputs), pair.size_note,
                                      pair.expectation ? expectation_sentence(*pair.expectation) : std::string()};
  std::erase_if(remarks, [](const std::string& remark) { return remark.empty(); });
  return remarks;
}

std::vector<std::string> remark_lines(const SuiteResult& result) {
  std::vector<std::string> lines;
  for (const PairResult& pair : result.pairs)
    for (const std::string& remark : pair_remarks(pair)) lines.push_back(fmt::format("{}: {}.", pair.pair.name, remark));
  const auto kept = std::count_if(result.tasks.begin(), result.tasks.end(), [](const TaskRecord& record) { return record.reused; });
  if (kept > 0) lines.push_back(fmt::format("{} of {} runs are of an earlier session.", kept, result.tasks.size()));
  for (const TaskRecord& record : result.tasks)
    if (record.attempts > 1) lines.push_back(fmt::format("{} took {} attempts.", task_name(result.suite, record.task), record.attempts));
  for (const std::string& change : result.changes) lines.push_back(fmt::format("Expected from now on: {}.", change));
  return lines;
}

}  // namespace nl::runs
