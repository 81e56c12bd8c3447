#pragma once

#include <string>
#include <vector>

#include "model/load.h"
#include "orchestrator/config/config.h"

namespace CLI {
class App;
}

namespace nl::cli {

inline constexpr const char* kLedgerHelp =
    "the ledger: a file of SQLite, or postgresql://…; default: $NL_STAGE_LEDGER, else in the user's data folder; off: none";

// The flags that name a model file and how it is run: of `profile`, `run`, `plan` and `session`. Each is a key of the section `session`.
struct SessionFlags {
  std::string backend, provider, precision, inputs;
  std::vector<std::string> dims, shapes;
  std::string batch, seq, iterations, warmup, threads, seed;
};

void add_session_flags(CLI::App& verb, SessionFlags& flags);

// As --set would give them; only what was given. model: the file.
std::vector<std::string> session_sets(const SessionFlags& flags, const std::string& model);

// The flags that `plan` and `run` share: they name the configuration and the command.
struct RunFlags : SessionFlags {
  std::string config = "deep";
  std::string model, out, name, budget, ledger;
  std::vector<std::string> sets, rules, loads;
};

inline constexpr const char* kLoadHelp =
    "what a client of the server recorded meanwhile (nl-stage load --out, or another load generator's file): joined by X-Request-Id; "
    "repeatable";

// The loads in these files. Throws Error(kInput) where one is none.
std::vector<LoadRun> loads_in(const std::vector<std::string>& files);

double seconds_of(const std::string& time, const char* flag = "--budget");  // "90s"; Error(kUsage) where it is not a time

void add_run_flags(CLI::App& verb, RunFlags& flags);

orchestrator::ConfigRequest config_request(const RunFlags& flags);

}  // namespace nl::cli
