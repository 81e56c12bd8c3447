#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/identity.h"
#include "orchestrator/doctor/doctor.h"
#include "runs/suite/pair_expectations.h"
#include "runs/suite/suite.h"

namespace nl::runs {

enum class TaskOutcome { kOk, kFailed, kInterrupted };
inline constexpr const char* kTaskOutcomes[] = {"ok", "failed", "interrupted"};  // in their order

// What one run of a target left behind.
struct TaskRecord {
  SuiteTask task;
  TaskOutcome outcome = TaskOutcome::kFailed;
  std::string run_id;
  std::filesystem::path bundle;            // empty: there is none
  double seconds = 0;                      // of the process
  std::map<std::string, double> stage_ms;  // the median window of each stage
  std::string detail;                      // why it failed
  std::string node = {};                   // of a cluster
  WorkloadIdentity identity = {};          // what was run
  int attempts = 1;                        // that it took; --retry-failed allows several
  bool reused = false;                     // of an earlier session: --resume
};

inline constexpr const char* kPartOfSuite = "suite";  // what the ledger calls timing runs a part of

std::filesystem::path task_folder(const std::filesystem::path& out, const Suite& suite, const SuiteTask& task);

struct TaskRequest {
  std::filesystem::path bundle;        // new
  std::filesystem::path logs;          // of the warm-up runs
  int warmups = 0;                     // runs before it that do not count
  std::vector<std::string> sets = {};  // after the suite's own: "ledger.enabled=false"
};

// Runs the target once and leaves a bundle. What fails is in the record; a mistake in the configuration is thrown, for it would be the
// same for every task.
TaskRecord run_task(const Suite& suite, const SuiteTask& task, const TaskRequest& request);

// The same from a bundle that a task on another machine has left.
TaskRecord read_task(const SuiteTask& task, const std::filesystem::path& bundle);

enum class PairVerdict { kMet, kMissed, kRegressed, kUndecided, kFailed };

// Computed from the unprofiled runs; figures that a target prints of itself do not count.
struct PairResult {
  TargetPair pair;
  std::string measured;                           // "prefill + decode", "the whole run"
  std::vector<double> baseline_ms, optimised_ms;  // by repetition
  std::optional<double> speedup;                  // ratio of the medians, which are shown beside it
  std::optional<double> low, high;                // 95 % interval of it
  PairVerdict verdict = PairVerdict::kFailed;
  std::string note;                                 // why it is not decided
  OutputAgreement outputs = {};                     // of both halves, where the suite asks for that
  std::int64_t size = 0;                            // that the figures are of; 0: the pair has none
  std::string size_note = {};                       // why it was raised, and how far
  std::optional<PairExpectation> expectation = {};  // nothing: the suite names no file of expectations
};

struct SuiteResult {
  Suite suite;
  std::string engine;  // "local", "slurm"; for readers
  std::string started_at, ended_at;
  std::vector<Check> checks;  // of the environment
  std::vector<TaskRecord> tasks;
  std::vector<PairResult> pairs;
  std::vector<std::string> orphans;
  std::filesystem::path out;
  int interrupt_signal = 0;
  std::string machine = {};               // whose expectations count: "NVIDIA H200"
  std::vector<std::string> changes = {};  // of the file of expectations, by --update-expectations
  bool blocked() const;                   // by a check, so that no run ended well
};

// The pairs of a suite, judged by what its tasks have measured.
std::vector<PairResult> judge_pairs(const Suite& suite, const std::vector<TaskRecord>& tasks);

std::string_view verdict_name(PairVerdict verdict);  // "met", "missed" …

// The verdict of the suite: that of its worst pair; kFailed also where a task failed.
PairVerdict suite_verdict(const SuiteResult& result);

struct SuiteRequest {
  Suite suite;
  std::filesystem::path out;           // new or empty; empty path: a new folder in artifacts/suites
  std::vector<std::string> sets = {};  // of the command line, for all targets
  bool resume = false;                 // go on with what is in `out`
  int retry_failed = 0;                // run a task that failed again, at most so often
  bool update_expectations = false;    // write the speed-ups of these pairs into the file
};

// Checks the environment, then runs every task on this machine, while no other suite or queue does, and judges the pairs. suite.json,
// suite.md and suite.log are left in the folder, also after Ctrl-C. A blocked check ends it before the first run.
SuiteResult run_suite(const SuiteRequest& request);

// The folder of a suite's results, made now unless it is resumed. Throws Error: kOutput where it is not empty or cannot be made, kUsage where
// it is not said which suite is resumed.
std::filesystem::path make_suite_folder(const SuiteRequest& request);

// Writes a line to suite.log and stderr, with the time before it.
void log_suite(const std::filesystem::path& out, const std::string& line);

// "END 003 attention_baseline-2 outcome=ok seconds=1.2 bundle=…"
std::string end_line(const Suite& suite, const TaskRecord& record);

// "KEEP 003 attention_baseline-2 bundle=…"
std::string keep_line(const Suite& suite, const TaskRecord& record);

// The folder, or the first beside it that is not there: an attempt before may have left something.
std::filesystem::path unused_folder(const std::filesystem::path& folder);

// What may disturb timings on this machine. A virtual machine is a warning unless the suite requires another.
std::vector<Check> check_environment(const Suite& suite);

// Judges: by time, by outputs and by what is expected; and writes suite.json and suite.md.
void finish_suite(SuiteResult& result, bool update_expectations = false);

// True where a pair is surely slower than expected on this machine.
bool below_expectations(const SuiteResult& result);

// What is to be said of a pair beside its speed-up: outputs, sizes, expectations, a sentence each.
std::vector<std::string> pair_remarks(const PairResult& pair);
std::string outputs_name(const PairResult& pair);                  // "same", "different" …; empty: not asked for
std::vector<std::string> remark_lines(const SuiteResult& result);  // of all pairs, and of the suite

std::string suite_json(const SuiteResult& result);
std::string suite_markdown(const SuiteResult& result);
std::string_view suite_verdict_name(const SuiteResult& result);  // "met" …, or "blocked"
std::string suite_text(const SuiteResult& result,
                       std::size_t width);  // pairs and targets for a terminal so wide, without verdict and checks

}  // namespace nl::runs
