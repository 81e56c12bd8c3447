#include "runs/bisect/commits.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/error.h"
#include "orchestrator/process/process.h"

namespace nl::runs {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostListed = 60'000;  // characters, 41 a commit: no more of a process's output is kept

ProcessResult git(const CommitRange& range, std::vector<std::string> words) {
  ProcessSpec spec;
  spec.argv = {"git", "-C", range.repository.empty() ? "." : range.repository.string()};
  spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  spec.not_found = ErrorKind::kTool;
  return run_process(spec);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string asked(const CommitRange& range, const std::vector<std::string>& words, const std::string& about) {
  const ProcessResult result = git(range, words);
  if (result.exit_status != 0)
    throw Error(ErrorKind::kInput, "git: " + first_line(result.stderr_text), about,
                "give two revisions of one repository, the good one an ancestor of the bad one");
  return result.stdout_text;
}

std::string commit_of(const CommitRange& range, const std::string& revision) {
  return first_line(asked(range, {"rev-parse", "--verify", "--quiet", revision + "^{commit}"}, revision));
}

// Where nl-stage was started, below the root of the repository: "tools/bench/".
std::string folder_in_tree(const CommitRange& range) {
  return first_line(asked(range, {"rev-parse", "--show-prefix"}, range.repository.string()));
}

Candidate candidate_of(const CommitRange& range, const std::string& commit, const std::string& folder) {
  const fs::path tree = fs::absolute(range.trees) / commit.substr(0, 12);
  return {commit.substr(0, 12), {range.command, (tree / folder).string(), {}, {}}};
}

fs::path tree_of(const CommitRange& range, const Candidate& candidate) { return fs::absolute(range.trees) / candidate.name; }

}  // namespace

std::vector<Candidate> commits_between(const CommitRange& range) {
  const std::string good = commit_of(range, range.good), bad = commit_of(range, range.bad), folder = folder_in_tree(range);
  asked(range, {"merge-base", "--is-ancestor", good, bad}, range.good + " and " + range.bad);
  const std::string listed = asked(range, {"rev-list", "--first-parent", "--reverse", good + ".." + bad}, range.good + ".." + range.bad);
  if (listed.size() >= kMostListed)
    throw Error(ErrorKind::kUsage, "there are too many commits between them", range.good + ".." + range.bad,
                "choose a good one that is nearer");
  std::vector<Candidate> candidates = {candidate_of(range, good, folder)};
  for (std::size_t at = 0; at < listed.size(); at = listed.find('\n', at) + 1)
    candidates.push_back(candidate_of(range, listed.substr(at, listed.find('\n', at) - at), folder));
  return candidates;
}

void prepare_commit(const CommitRange& range, const Candidate& candidate) {
  const fs::path tree = tree_of(range, candidate);
  std::error_code ignored;
  if (fs::exists(tree, ignored)) return;
  fs::create_directories(tree.parent_path());
  const ProcessResult added = git(range, {"worktree", "add", "--detach", "--force", tree.string(), candidate.name});
  if (added.exit_status != 0)
    throw Error(ErrorKind::kWorkload, "it cannot be checked out: " + first_line(added.stderr_text), candidate.name);
  if (range.build.empty()) return;
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c", range.build};
  spec.working_directory = candidate.side.working_directory;
  spec.stdout_log = tree.string() + ".build.log";
  spec.stderr_log = tree.string() + ".build.err.log";
  spec.label = "building " + candidate.name;
  const ProcessResult built = run_process(spec);
  if (built.exit_status != 0)
    throw Error(ErrorKind::kWorkload, fmt::format("it cannot be built (status {})", built.exit_status), spec.stderr_log.string());
}

void remove_trees(const CommitRange& range) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(range.trees, ignored))
    if (entry.is_directory()) git(range, {"worktree", "remove", "--force", fs::absolute(entry.path()).string()});
}

}  // namespace nl::runs
