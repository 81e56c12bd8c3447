#include "cli/run_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>

#include "cli/output.h"
#include "cli/print_result.h"
#include "cli/workload_words.h"
#include "orchestrator/capture/plan.h"
#include "orchestrator/config/units.h"
#include "orchestrator/machine/tools.h"
#include "orchestrator/run.h"
#include "runs/ledger/record_run.h"

namespace nl::cli {
namespace {

orchestrator::Echo echo_of(const RunVerbFlags& flags) {
  if (flags.verbose) return orchestrator::Echo::kEverything;
  return flags.quiet ? orchestrator::Echo::kNothing : orchestrator::Echo::kWorkload;
}

}  // namespace

double seconds_of(const std::string& time) {
  if (const auto seconds = orchestrator::seconds_in(time)) return *seconds;
  throw Error(ErrorKind::kUsage, "'" + time + "' is no time", "--budget", "write 90s, 3m or 1.5h");
}

void add_run_flags(CLI::App& verb, RunFlags& flags) {
  verb.add_option("-c,--config", flags.config,
                  "runner file, or the name of a shipped one (deep, light, cupti, sampling, profile, unprofiled)")
      ->capture_default_str()
      ->type_name("RUNNER");
  // One value each: the next word is not another of them. CLI11 would also split "[a,b]" otherwise.
  verb.add_option("--set", flags.sets, "set one key, such as run.top_n_kernels=20; repeatable")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  verb.add_option(
          "--model", flags.model,
          "model file, name of a shipped one (llama-3.1-8b, generic …), or a Hugging Face config.json; with --backend: the file to run")
      ->type_name("MODEL");
  verb.add_option("--rules", flags.rules, "file with more rules; repeatable")->allow_extra_args(false)->type_name("FILE");
  verb.add_option("--out", flags.out, "folder of the bundle, new or empty; default: a new one in artifacts.dir")->type_name("DIR");
  verb.add_option("--budget", flags.budget,
                  "time for all passes together, such as 3m or 90s; what would not fit is left out (run.budget_s)")
      ->type_name("TIME");
  verb.add_option("--name", flags.name, "name of the bundle");
  verb.add_option("--ledger", flags.ledger, kLedgerHelp)->type_name("PATH|URL");
  add_session_flags(verb, flags);
  take_workload(verb, "the workload and its arguments: all from the first word that is no flag, or after --");
}

orchestrator::ConfigRequest config_request(const RunFlags& flags) {
  std::vector<std::string> sets = flags.sets;
  for (std::string& set : session_sets(flags, flags.model)) sets.push_back(std::move(set));
  if (!flags.budget.empty()) sets.push_back(fmt::format("run.budget_s={}", seconds_of(flags.budget)));
  if (!flags.ledger.empty()) sets.push_back("ledger.path=" + flags.ledger);
  return {.runner_file = flags.config,
          .model_file = flags.backend.empty() ? flags.model : "",
          .sets = std::move(sets),
          .rules = flags.rules,
          .name = flags.name,
          .command = workload_given()};
}

void add_run_verb_flags(CLI::App& verb, RunVerbFlags& flags) {
  add_run_flags(verb, flags);
  verb.add_flag("--dry-run", flags.dry_run, "print the exact command of every pass; start none");
  CLI::Option* quiet = verb.add_flag("-q,--quiet", flags.quiet, "keep the workload's output in logs/ only");
  verb.add_flag("-v,--verbose", flags.verbose, "show the output of every pass, with what nsys and ncu say; logs/ has it in any case")
      ->excludes(quiet);
  verb.add_flag("--json", flags.json, "print {run_id, bundle, status, exit_status, ledger, problems} on stdout");
  verb.add_flag("--keep-env", flags.keep_env, "leave the workload's environment in the exported SQLite");
}

int run_verb(const RunVerbFlags& flags) {
  orchestrator::ConfigRequest request = config_request(flags);
  if (flags.keep_env) request.sets.push_back("artifacts.keep_env=true");
  const orchestrator::Config config = orchestrator::load_config(request);
  if (flags.dry_run) return print_plan(config, flags, flags.json);
  orchestrator::ProcessLauncher launcher;
  return print_result(orchestrator::run_workload({config, flags.out, echo_of(flags), runs::record_run}, launcher), flags.json);
}

int print_plan(const orchestrator::Config& config, const RunFlags& flags, bool json) {
  // The stamp is not known before the run; everything else is as it will be.
  const std::filesystem::path fresh =
      std::filesystem::path(config.artifacts.dir) / fmt::format("STAMP-{}-{}", config.run.name, config.run.mode);
  const std::filesystem::path bundle = flags.out.empty() ? fresh : std::filesystem::path(flags.out);
  const orchestrator::Plan plan = orchestrator::make_plan(config, orchestrator::find_tools(config.tools), bundle);
  write_answer(json, json ? orchestrator::plan_json(plan) : describe_plan(plan));
  return 0;
}

}  // namespace nl::cli
