#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <memory>

#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "orchestrator/machine/doctor.h"

namespace nl::cli {
namespace {

struct DoctorFlags {
  std::string config;
  std::vector<std::string> sets;
  bool json = false;
};

Colour colour_of(orchestrator::CheckLevel level) {
  switch (level) {
    case orchestrator::CheckLevel::kOk: return Colour::kGreen;
    case orchestrator::CheckLevel::kWarning: return Colour::kYellow;
    case orchestrator::CheckLevel::kBlocked: return Colour::kRed;
  }
  return Colour::kNone;
}

// One line a check, and below it the fix.
void print_lines(const std::vector<orchestrator::Check>& checks) {
  std::size_t width = 0;
  for (const auto& check : checks) width = std::max(width, check.subject.size());
  for (const auto& check : checks) {
    write_text(fmt::format("{:<7}", level_name(check.level)), stdout, colour_of(check.level));
    write_out("  {:<{}}  {}\n", check.subject, width, check.finding);
    if (!check.fix.empty()) write_out("{:9}{:<{}}  fix: {}\n", "", "", width, check.fix);
  }
}

int print_checks(const DoctorFlags& flags) {
  const orchestrator::Config config = orchestrator::load_config({.runner_file = flags.config, .sets = flags.sets});
  const auto checks = orchestrator::diagnose(orchestrator::find_tools(config.tools), config);
  if (flags.json) write_data(orchestrator::checks_json(checks));
  else print_lines(checks);
  return orchestrator::any_blocked(checks) ? exit_status_of(ErrorKind::kTool) : 0;
}

}  // namespace

void add_doctor(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<DoctorFlags>();
  CLI::App* verb = app.add_subcommand("doctor", "Find the tools, and test what breaks captures");
  verb->add_option("-c,--config", flags->config, "runner file: its tools and options are checked")->type_name("RUNNER");
  verb->add_option("--set", flags->sets, "set one key; repeatable")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  verb->add_flag("--json", flags->json, "print JSON");
  verb->footer(
      "Each line is ok, warning or blocked, with its fix. The exit status is 4 if a line is blocked.\n"
      "Examples:\n"
      "  nl-stage doctor\n"
      "  nl-stage doctor --json --set tools.nsys=/opt/nsight/nsys\n"
      "  NL_STAGE_NCU=/opt/ncu nl-stage doctor");
  verb->callback([flags, &action] { action = [flags] { return print_checks(*flags); }; });
}

}  // namespace nl::cli
