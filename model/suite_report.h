#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

// What suite.json holds: targets that were timed in turn, and what their speed-ups are worth.
namespace nl {

inline constexpr const char* kSuiteSchemaVersion = "1.1.0";

struct SuiteCheckReport {
  std::string id, level, finding, fix;
};

struct SuitePairReport {
  std::string name, baseline, optimised;
  std::string measured;  // "prefill + decode", "the whole run"
  std::vector<double> baseline_ms, optimised_ms;
  std::optional<double> speedup, low, high;
  std::string verdict, note;
  std::string outputs;               // "same", "different" …; empty: not asked for
  std::optional<std::int64_t> size;  // of the work
  std::optional<double> expected;    // speed-up
  std::string expectation;           // "met", "regressed" …; empty: nothing is expected
  std::vector<std::string> remarks;
};

struct SuiteRunReport {
  std::uint64_t number = 0, repetition = 0;
  bool profiled = false;
  std::string outcome, run_id, node, bundle;
  double seconds = 0;
  std::map<std::string, double> stage_ms;
  std::string reason;
  std::optional<std::int64_t> size;  // of the work
  std::uint64_t attempts = 1;
  bool reused = false;  // of an earlier session
};

struct SuiteTargetReport {
  std::string name;
  std::vector<std::string> command;
  std::vector<SuiteRunReport> runs;
};

struct SuiteReport {
  std::string schema_version = kSuiteSchemaVersion;
  std::string name, file, engine, started_at, ended_at, verdict;
  bool interrupted = false;
  double threshold = 0;
  std::uint64_t iterations = 0, warmup = 0, seed = 0;
  std::string profile;
  std::vector<std::string> waived;
  std::vector<SuiteCheckReport> environment;
  std::vector<SuitePairReport> pairs;
  std::vector<std::string> orphans;
  std::vector<SuiteTargetReport> targets;
  std::vector<std::string> chosen;
  std::string expectations;  // the file
  std::string machine;
  std::vector<std::string> changes;  // of that file
};

}  // namespace nl
