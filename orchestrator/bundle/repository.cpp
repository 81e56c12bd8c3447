#include "orchestrator/bundle/repository.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <vector>

#include "orchestrator/process/process.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

bool is_commit(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// A worktree and a submodule have a file there: "gitdir: /home/a/llm/.git/worktrees/x".
fs::path git_folder(const fs::path& repository) {
  const fs::path git = repository / ".git";
  std::error_code failed;
  if (fs::is_directory(git, failed)) return git;
  const std::string line = first_line(git), mark = "gitdir: ";
  return line.starts_with(mark) ? repository / line.substr(mark.size()) : fs::path();
}

// "4b825dc… refs/heads/main" among the lines of packed-refs.
std::string packed_reference(const fs::path& file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const auto space = line.find(' ');
    if (space != std::string::npos && line.substr(space + 1) == name) return line.substr(0, space);
  }
  return {};
}

std::vector<fs::path> places_of(const WorkloadOptions& workload) {
  const fs::path start = workload.working_directory.empty() ? fs::path(".") : fs::path(workload.working_directory);
  std::vector<fs::path> places;
  std::error_code failed;
  for (const std::string& word : workload.command)
    if ((word.ends_with(".py") || word.ends_with(".sh")) && fs::is_regular_file(start / word, failed)) places.push_back(start / word);
  if (!workload.command.empty() && workload.command[0].find('/') != std::string::npos) places.push_back(start / workload.command[0]);
  places.push_back(start);
  return places;
}

// Files that git does not track may be a dataset of millions: they are not looked for.
std::optional<bool> modified_in(const fs::path& repository) {
  ProcessSpec git;
  git.argv = {"git",
              "-c",
              "core.fsmonitor=false",
              "-C",
              repository.string(),
              "status",
              "--porcelain",
              "--untracked-files=no",
              "--ignore-submodules=dirty"};
  git.env = {{"GIT_OPTIONAL_LOCKS", "0"}, {"LC_ALL", "C"}};
  git.timeout_s = 2;
  git.grace_s = 0.2;
  try {
    const ProcessResult result = run_process(git);
    if (result.exit_status != 0 || result.timed_out || result.interrupted) return std::nullopt;
    return !result.stdout_text.empty();
  } catch (const Error&) {
    return std::nullopt;  // there is no git
  }
}

}  // namespace

fs::path repository_above(const fs::path& path) {
  std::error_code failed;
  for (fs::path folder = fs::weakly_canonical(path, failed); !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", failed)) return folder;
    if (folder == folder.root_path()) break;
  }
  return {};
}

std::string revision_of(const fs::path& repository) {
  const fs::path git = git_folder(repository);
  const std::string head = first_line(git / "HEAD"), mark = "ref: ";
  if (is_commit(head)) return head;
  if (git.empty() || !head.starts_with(mark)) return {};
  const std::string name = head.substr(mark.size());
  const std::string common = first_line(git / "commondir");  // a worktree's branches are kept beside those of the others
  const fs::path shared = common.empty() ? git : git / common;
  for (const std::string& commit : {first_line(git / name), first_line(shared / name), packed_reference(shared / "packed-refs", name)})
    if (is_commit(commit)) return commit;
  return {};
}

std::optional<Repository> repository_of(const WorkloadOptions& workload) {
  for (const fs::path& place : places_of(workload))
    if (const fs::path path = repository_above(place); !path.empty())
      return Repository{path.string(), revision_of(path), modified_in(path)};
  return std::nullopt;
}

}  // namespace nl::orchestrator
