#include "runs/bisect/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "model/comparison.h"
#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/process/process.h"

namespace nl::runs {
namespace fs = std::filesystem;
namespace {

class Bisect {
 public:
  Bisect(const BisectRequest& request, Launcher& launcher) : request_(request), launcher_(launcher) {}

  BisectResult run() {
    result_.first_bad = request_.candidates.size() - 1;
    const BisectStep whole = judge(result_.first_bad);
    if (whole.verdict != CompareVerdict::kRegressed)
      return ended(whole.verdict == CompareVerdict::kUndecidable ? failure_of(whole) : BisectEnd::kNoRegression);
    while (const auto next = next_candidate(result_.last_good, result_.first_bad, result_.steps)) {
      const BisectStep step = judge(*next);
      if (Interrupts::signal() != 0) return ended(BisectEnd::kInterrupted);
      if (step.verdict == CompareVerdict::kRegressed) result_.first_bad = *next;
      else if (step.verdict != CompareVerdict::kUndecidable) result_.last_good = *next;
    }
    explain();
    return ended(result_.first_bad - result_.last_good == 1 ? BisectEnd::kFound : BisectEnd::kUndecided);
  }

 private:
  BisectEnd failure_of(const BisectStep& step) const { return step.trouble.empty() ? BisectEnd::kUndecided : BisectEnd::kFailed; }

  // Against the good one, without a profile: its times are enough.
  BisectStep judge(std::size_t candidate) {
    const Candidate& which = request_.candidates[candidate];
    BisectStep step{candidate};
    try {
      const TrialResult trial = run_pair(0, candidate, "", fmt::format("step-{:02}", result_.steps.size() + 1));
      step.trouble = trial.trouble;
      if (trial.end != TrialEnd::kFailed && trial.end != TrialEnd::kInterrupted) step.verdict = trial.comparison.verdict;
    } catch (const Error& error) {
      if (error.kind == ErrorKind::kOutput || error.kind == ErrorKind::kConfig) throw;
      step.trouble = error.message;
    }
    say(fmt::format("{}: {}", which.name, step.trouble.empty() ? std::string(key_of(step.verdict)) : "skipped, " + step.trouble));
    result_.steps.push_back(step);
    return step;
  }

  TrialResult run_pair(std::size_t good, std::size_t bad, const std::string& profile, const std::string& folder) {
    for (const std::size_t candidate : {good, bad})
      if (request_.prepare) request_.prepare(request_.candidates[candidate]);
    TrialRequest trial = request_.trial;
    trial.a = request_.candidates[good].side;
    trial.b = request_.candidates[bad].side;
    trial.profile = profile;
    trial.part_of = "bisect";
    trial.out = request_.out / folder;
    return run_trial(trial, launcher_);
  }

  // The stage and the kernel that changed, between neighbours.
  void explain() {
    if (Interrupts::signal() != 0) return;
    result_.change = run_pair(result_.last_good, result_.first_bad, request_.trial.profile, "change").comparison;
  }

  BisectResult ended(BisectEnd end) {
    result_.end = Interrupts::signal() != 0 ? BisectEnd::kInterrupted : end;
    result_.interrupt_signal = Interrupts::signal();
    return std::move(result_);
  }

  void say(const std::string& line) const {
    if (request_.say) request_.say(line);
  }

  const BisectRequest& request_;
  Launcher& launcher_;
  BisectResult result_;
};

const char* end_key_of(BisectEnd end) {
  switch (end) {
    case BisectEnd::kFound: return "found";
    case BisectEnd::kNoRegression: return "no regression";
    case BisectEnd::kUndecided: return "undecided";
    case BisectEnd::kFailed: return "failed";
    case BisectEnd::kInterrupted: return "interrupted";
  }
  return "";
}

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

void number_repeated(std::vector<Candidate>& candidates, const std::vector<std::size_t>& lines) {
  std::map<std::string, std::size_t> times;
  for (const Candidate& each : candidates) ++times[each.name];
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (times[candidates[i].name] > 1) candidates[i].name = fmt::format("line {}: {}", lines[i], candidates[i].name);
}

std::optional<std::size_t> next_candidate(std::size_t good, std::size_t bad, const std::vector<BisectStep>& steps) {
  std::optional<std::size_t> nearest;
  const auto distance = [&](std::size_t at) { return at + at > good + bad ? at + at - good - bad : good + bad - at - at; };
  for (std::size_t at = good + 1; at < bad; ++at) {
    const bool tried = std::any_of(steps.begin(), steps.end(), [&](const BisectStep& step) { return step.candidate == at; });
    if (!tried && (!nearest || distance(at) < distance(*nearest))) nearest = at;
  }
  return nearest;
}

bool is_told_bad(const BisectResult& result) {
  return std::any_of(result.steps.begin(), result.steps.end(), [&](const BisectStep& step) {
    return step.candidate == result.first_bad && step.verdict == CompareVerdict::kRegressed;
  });
}

BisectResult run_bisect(const BisectRequest& request, Launcher& launcher) {
  if (request.candidates.size() < 2)
    throw Error(ErrorKind::kUsage, "there is nothing between one candidate", "bisect", "give a good one and a bad one at least");
  const Interrupts interrupts;
  BisectResult result = Bisect(request, launcher).run();
  write_file_whole(request.out / "bisect.json", bisect_json(request, result));
  return result;
}

std::string bisect_json(const BisectRequest& request, const BisectResult& result) {
  using nlohmann::ordered_json;
  const auto name = [&](std::size_t candidate) { return request.candidates[candidate].name; };
  ordered_json out = {{"ended_by", end_key_of(result.end)},
                      {"last_good", name(result.last_good)},
                      {"first_bad", is_told_bad(result) ? ordered_json(name(result.first_bad)) : ordered_json()}};
  out["steps"] = ordered_json::array();
  for (const BisectStep& step : result.steps)
    out["steps"].push_back({{"candidate", name(step.candidate)},
                            {"verdict", key_of(step.verdict)},
                            {"trouble", step.trouble.empty() ? ordered_json() : ordered_json(step.trouble)}});
  out["comparison"] = result.change ? ordered_json("change/compare.json") : ordered_json();
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

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
