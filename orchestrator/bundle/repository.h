#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/run.h"
#include "orchestrator/config/config.h"

namespace nl::orchestrator {

// The git repository that `path` lies in: the nearest folder above it with a .git; empty: none.
std::filesystem::path repository_above(const std::filesystem::path& path);

// The commit that is checked out, from .git itself: also where git is not installed, or refuses a folder of somebody else's.
// Worktrees and submodules too; empty: none yet, or not to be told.
std::string revision_of(const std::filesystem::path& repository);

// That of the first script in the workload's command that lies in one, else of its program, else of the folder where it is started.
// `git status` is asked whether tracked files were changed, for at most two seconds; it writes nothing and reaches no network.
std::optional<Repository> repository_of(const WorkloadOptions& workload);

}  // namespace nl::orchestrator
