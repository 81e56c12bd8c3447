#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runs/trial/trial.h"

// Finds the first of several candidates that is slower than the very first one. Each is timed in turns with that one.
namespace nl::runs {

struct Candidate {
  std::string name;  // a commit, or the command itself
  TrialSide side;
};

// Names of several candidates get their line before them, of the file that they are from: "line 3: ./bench".
void number_repeated(std::vector<Candidate>& candidates, const std::vector<std::size_t>& lines);

struct BisectRequest {
  std::vector<Candidate> candidates;  // the good one first, the bad one last
  TrialRequest trial;                 // its sides, folder and profile are set here
  std::filesystem::path out;
  std::function<void(const Candidate&)> prepare = {};  // builds it; throws where that fails
  std::function<void(const std::string&)> say = {};
};

enum class BisectEnd {
  kFound,
  kNoRegression,  // the last one is as fast as the first
  kUndecided,     // the measurements do not show which of those between it is
  kFailed,
  kInterrupted,
};

// One candidate against the good one.
struct BisectStep {
  std::size_t candidate = 0;
  CompareVerdict verdict = CompareVerdict::kUndecidable;
  std::string trouble = {};  // why it was skipped
};

struct BisectResult {
  BisectEnd end = BisectEnd::kUndecided;
  std::vector<BisectStep> steps;             // in the order of the trials
  std::size_t last_good = 0, first_bad = 0;  // the range that is left; with kFound they are neighbours, or all between were skipped
  std::optional<Comparison> change;          // from the last good to the first bad one, with its cause
  int interrupt_signal = 0;
};

// The candidate to try next between two with a known verdict: the untried one nearest to the middle; nothing: none is left.
std::optional<std::size_t> next_candidate(std::size_t good, std::size_t bad, const std::vector<BisectStep>& steps);

// Leaves a trial for each step, the last with the cause, and bisect.json.
BisectResult run_bisect(const BisectRequest& request, Launcher& launcher);

// True where a trial showed that first_bad is slower. Otherwise nothing is known of it.
bool is_told_bad(const BisectResult& result);

std::string bisect_json(const BisectRequest& request, const BisectResult& result);

struct CommitRange {
  std::filesystem::path repository;  // a folder in it; empty: where nl-stage was started
  std::string good, bad;             // revisions, as git names them
  std::vector<std::string> command;  // run in a working tree of each commit, where nl-stage was started in the repository's own
  std::string build;                 // a shell command that makes it ready; empty: nothing to do
  std::filesystem::path trees;       // new folder for the working trees
};

// The commits from `good` to `bad` along first parents, oldest first, each in a working tree of its own that prepare_commit() makes. The
// repository's own tree is not touched. Throws Error(kInput) where git does not know them or one is not an ancestor of the other.
std::vector<Candidate> commits_between(const CommitRange& range);

// Checks the candidate out and builds it, once. Throws Error(kWorkload) where that fails, with the log.
void prepare_commit(const CommitRange& range, const Candidate& candidate);

// Deletes the working trees.
void remove_trees(const CommitRange& range);

}  // namespace nl::runs
