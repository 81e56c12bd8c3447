#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/run.h"
#include "model/trace.h"
#include "orchestrator/config/config.h"
#include "orchestrator/machine/tools.h"

namespace nl::orchestrator {

const char* version();  // of nl-stage, "0.1.0"

// Facts of this machine and of the tools that were found.
void describe_machine(const Toolset& tools, Hardware& hardware, Software& software);

// Facts of the machine that an imported nsys export was made on, as far as it tells.
void describe_capture_machine(const std::filesystem::path& nsys_export, const Trace& trace, Hardware& hardware, Software& software);

// {gpu, cuda, torch, transformers, driver, …}; null where unknown. No environment value is among them.
std::string env_json(const Run& run, const Config& config);

// The version of a Python package beside the interpreter of this command, from its dist-info folder;
// empty where only running something would show it.
std::string python_package_version(const std::vector<std::string>& command, const std::string& package);

// The git repository that `path` lies in: the nearest folder above it with a .git; empty: none.
std::filesystem::path repository_above(const std::filesystem::path& path);

// The commit that is checked out, from .git itself: also where git is not installed, or refuses a folder of somebody else's.
// Worktrees and submodules too; empty: there is no commit yet, or it is not known.
std::string revision_of(const std::filesystem::path& repository);

// The repository of the first script in the workload's command that lies in one, else of its program, else of the folder it starts in.
// `git status` is asked whether tracked files were changed, for at most two seconds; it writes nothing and reaches no network.
std::optional<Repository> repository_of(const WorkloadOptions& workload);

}  // namespace nl::orchestrator
