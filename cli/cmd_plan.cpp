#include <CLI/CLI.hpp>

#include <cstdio>
#include <functional>
#include <memory>

#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "orchestrator/config/keys.h"

namespace nl::cli {
namespace {

struct PlanFlags : RunFlags {
  bool json = false, keys = false, markdown = false;
};

int print_keys(const PlanFlags& flags) {
  if (flags.json) write_data(orchestrator::config_keys_json());
  else write_text(flags.markdown ? orchestrator::config_reference_markdown() : orchestrator::config_keys_text());
  return 0;
}

int run(const PlanFlags& flags) {
  return flags.keys ? print_keys(flags) : print_plan(orchestrator::load_config(config_request(flags)), flags, flags.json);
}

}  // namespace

void add_plan(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* verb = app.add_subcommand("plan", "Print the exact command of every pass; start none");
  add_run_flags(*verb, *flags);
  CLI::Option* json =
      verb->add_flag("--json", flags->json, "print JSON; with --keys {keys: [{key, help, type, allowed, least, most, default}]}");
  verb->add_flag("--keys", flags->keys, "list every configuration key instead");
  verb->add_flag("--markdown", flags->markdown, "with --keys: as the tables of docs/configuration.md")->needs("--keys")->excludes(json);
  verb->footer(
      "Examples:\n"
      "  nl-stage plan --config deep python generate.py --model gpt2\n"
      "  nl-stage plan --config light --set nsys.pytorch=autograd-shapes-nvtx --json ./workload\n"
      "  nl-stage plan --keys");
  verb->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace nl::cli
