#pragma once

#include <string>
#include <vector>

#include "orchestrator/machine/tools.h"

namespace nl::orchestrator {

struct Host;

enum class CheckLevel { kOk, kWarning, kBlocked };

struct Check {
  std::string id;  // "nsys.importer", "counters.permission"
  CheckLevel level = CheckLevel::kOk;
  std::string subject;  // "Nsight Systems"
  std::string finding;  // "2025.3.1 at /opt/… (inside Nsight Compute)"
  std::string mend;     // the command that mends it; empty where ok
};

// Every check that `nl-stage doctor` prints, in order; it ends with a trial capture of a second or two.
std::vector<Check> diagnose(const Toolset& tools, const Config& config);
std::vector<Check> diagnose(const Toolset& tools, const Config& config, const Host& host);

// Only those that matter to this configuration: run() refuses when one is blocked.
std::vector<Check> preflight(const Toolset& tools, const Config& config);
std::vector<Check> preflight(const Toolset& tools, const Config& config, const Host& host);

bool any_blocked(const std::vector<Check>& checks);
std::string_view level_name(CheckLevel level);  // "ok", "warning", "blocked"

// One line a check, and below it the command that mends it.
std::string describe_checks(const std::vector<Check>& checks, bool colour);
std::string checks_json(const std::vector<Check>& checks);

}  // namespace nl::orchestrator
