#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// The speed-ups that are expected of the pairs of a suite, by machine. A file of them, docs/suite.md:
//   version: 1
//   tolerance: 5%
//   machines:
//     NVIDIA H200:
//       attention: {speedup: 1.82, size: 4096, suite: attention, date: "2026-11-16"}
namespace nl::runs {

struct SuiteResult;

inline constexpr double kSpeedupTolerance = 0.05;

struct ExpectedSpeedup {
  std::string machine, pair;
  double speedup = 0;
  std::int64_t size = 0;  // 0: the pair has none
  std::string suite, date;
};

struct ExpectedSpeedups {
  double tolerance = kSpeedupTolerance;
  std::vector<ExpectedSpeedup> list;
  const ExpectedSpeedup* find(const std::string& machine, const std::string& pair) const;
};

// kNew: the file has nothing about it. kUndecided: the interval holds what is still allowed.
enum class ExpectationVerdict { kMet, kImproved, kRegressed, kUndecided, kNew, kNotMeasured };

struct PairExpectation {
  ExpectationVerdict verdict = ExpectationVerdict::kNew;
  std::optional<double> speedup = {};  // that is expected
  double tolerance = kSpeedupTolerance;
};

const char* expectation_name(ExpectationVerdict verdict);  // "met", "regressed" …

// Throws Error(kConfig) with file:line:column.
ExpectedSpeedups read_expected_speedups(const std::filesystem::path& file);
std::string expected_speedups_text(const ExpectedSpeedups& expected);

// What the file of the suite expects of each pair, and whether it holds; with `update`, what was measured is written into it first and
// result.changes says what is new. What is met stays as it is, so that small steps do not add up unseen. Pairs that failed change nothing.
void judge_expectations(SuiteResult& result, bool update);

}  // namespace nl::runs
