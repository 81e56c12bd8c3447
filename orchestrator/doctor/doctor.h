#pragma once

#include <string>
#include <vector>

#include "model/error.h"
#include "orchestrator/machine/tools.h"

namespace nl::orchestrator {

enum class CheckLevel { kOk, kWarning, kBlocked };

struct Check {
  std::string id;  // "nsys.importer", "counters.permission"
  CheckLevel level = CheckLevel::kOk;
  std::string subject;                // "Nsight Systems"
  std::string finding;                // "2025.3.1 at /opt/… (inside Nsight Compute)"
  std::string fix;                    // the command that fixes it; empty where ok
  ErrorKind kind = ErrorKind::kTool;  // what a run that it blocks ends with
};

// Every check that `nl-stage doctor` prints, in order; it ends with a trial capture of a second or two.
std::vector<Check> diagnose(const Toolset& tools, const Config& config, const Host& host = host_itself());

// Only those that matter to this configuration: run() refuses when one is blocked.
std::vector<Check> preflight(const Toolset& tools, const Config& config, const Host& host = host_itself());

bool any_blocked(const std::vector<Check>& checks);
std::string_view level_name(CheckLevel level);  // "ok", "warning", "blocked"

std::string checks_json(const std::vector<Check>& checks);

}  // namespace nl::orchestrator
