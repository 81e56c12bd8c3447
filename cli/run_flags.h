#pragma once

#include <string>
#include <vector>

#include "cli/session_flags.h"
#include "orchestrator/config/config.h"

namespace CLI {
class App;
}

namespace nl::cli {

inline constexpr const char* kLedgerHelp =
    "the ledger: a file of SQLite, or postgresql://…; default: $NL_STAGE_LEDGER, else in the user's data folder; off: none";

// The flags that `plan` and `run` share: they name the configuration and the command.
struct RunFlags : SessionFlags {
  std::string config = "deep";
  std::string model, out, name, budget, ledger;
  std::vector<std::string> sets, rules;
};

// And those of `run` and `profile`, which start it.
struct RunVerbFlags : RunFlags {
  bool dry_run = false, quiet = false, verbose = false, json = false, keep_env = false;
};

double seconds_of(const std::string& time);  // "90s"; Error(kUsage) where it is none

void add_run_flags(CLI::App& verb, RunFlags& flags);
void add_run_verb_flags(CLI::App& verb, RunVerbFlags& flags);

orchestrator::ConfigRequest config_request(const RunFlags& flags);

// For `plan` and `run --dry-run`.
int print_plan(const orchestrator::Config& config, const RunFlags& flags, bool json);

// Runs, or prints the plan; returns the exit status.
int run_verb(const RunVerbFlags& flags);

}  // namespace nl::cli
