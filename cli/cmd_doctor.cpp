#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/print_result.h"
#include "cli/verbs.h"
#include "orchestrator/doctor/doctor.h"

namespace nl::cli {
namespace {

struct DoctorFlags {
  std::string config;
  std::vector<std::string> sets;
  bool json = false;
};

int diagnose(const DoctorFlags& flags) {
  const orchestrator::Config config = orchestrator::load_config({.runner_file = flags.config, .sets = flags.sets});
  const auto checks = orchestrator::diagnose(orchestrator::find_tools(config.tools), config);
  if (flags.json) write_data(orchestrator::checks_json(checks));
  else print_checks(checks);
  return orchestrator::any_blocked(checks) ? exit_status_of(ErrorKind::kTool) : 0;
}

}  // namespace

void add_doctor(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<DoctorFlags>();
  CLI::App* verb = app.add_subcommand("doctor", "Find the tools, and test what breaks captures");
  verb->add_option("-c,--config", flags->config, "runner file: its tools and options are checked")->type_name("RUNNER");
  verb->add_option("--set", flags->sets, "set one key; repeatable")->allow_extra_args(false)->type_name("KEY=VALUE");
  verb->add_flag("--json", flags->json, "print JSON");
  verb->footer(
      "Each line is ok, warning or blocked, with its fix. The exit status is 4 if a line is blocked.\n"
      "Examples:\n"
      "  nl-stage doctor\n"
      "  nl-stage doctor --json --set tools.nsys=/opt/nsight/nsys\n"
      "  NL_STAGE_NCU=/opt/ncu nl-stage doctor");
  verb->callback([flags, &action] { action = [flags] { return diagnose(*flags); }; });
}

}  // namespace nl::cli
