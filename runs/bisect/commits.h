#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runs/bisect/bisect.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {

struct CommitRange {
  std::filesystem::path repository;  // a folder in it; empty: where nl-stage was started
  std::string good, bad;             // revisions, as git names them
  std::vector<std::string> command;  // run in a working tree of each commit, where nl-stage was started in the repository's own
  std::string build;                 // a shell command that makes it ready; empty: nothing to do
  std::filesystem::path trees;       // new folder for the working trees
};

// The commits from `good` to `bad` along first parents, oldest first, each in a working tree of its own that prepare_commit() makes. The
// repository's own tree is not touched. Throws Error(kInput) where git does not know them or one is no ancestor of the other.
std::vector<Candidate> commits_between(const CommitRange& range);

// Checks it out and builds it, once. Throws Error(kWorkload) where that fails, with the log.
void prepare_commit(const CommitRange& range, const Candidate& candidate);

// Takes the working trees away.
void remove_trees(const CommitRange& range);

}  // namespace nl::runs
