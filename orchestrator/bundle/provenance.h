#pragma once

#include <filesystem>
#include <string>

#include "model/run.h"
#include "model/trace.h"
#include "orchestrator/config/config.h"
#include "orchestrator/machine/tools.h"

namespace nl::orchestrator {

// Facts of this machine and of the tools that were found.
void describe_machine(const Toolset& tools, Hardware& hardware, Software& software);

// Facts of the machine that an imported nsys export was made on, as far as it tells.
void describe_capture_machine(const std::filesystem::path& sqlite_file, const Trace& trace, Hardware& hardware, Software& software);

// {gpu, cuda, torch, transformers, driver, …}; null where unknown. No environment value is among them.
std::string env_json(const Run& run, const Config& config);

// The version of a Python package beside the interpreter of this command, from its dist-info folder;
// empty where it cannot be told without running anything.
std::string python_package_version(const std::vector<std::string>& command, const std::string& package);

}  // namespace nl::orchestrator
