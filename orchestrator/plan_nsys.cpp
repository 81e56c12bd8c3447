#include <fmt/format.h>

#include "orchestrator/nsys_argv.h"
#include "orchestrator/plan_parts.h"

namespace nl {
namespace fs = std::filesystem;
namespace {

Pass nsys_pass(const Config& config, const Toolset& tools, const fs::path& bundle,
               std::vector<std::string>& adaptations) {
  Pass pass = workload_pass("nsys", config, bundle, config.nsys.timeout_s);
  pass.process.argv = nsys_profile_argv(config, *tools.nsys, bundle / "nsys" / "run", adaptations);
  append(pass.process.argv, config.workload.command);
  set_tool_env(pass, *tools.nsys);
  clear_injections(pass, tools, adaptations);
  pass.outputs = {"nsys/run.nsys-rep"};
  pass.purpose = "trace the workload: kernels, API calls, ranges";
  pass.sample_power = true;
  return pass;
}

// The workload with nothing but a stopwatch: what the traced passes are compared with.
Pass bare_pass(const Config& config, const Toolset& tools, const fs::path& bundle, int number) {
  const double timeout_s = shorter_timeout(config.nsys.timeout_s, config.perturbation.budget_s);
  Pass pass = ranges_pass("bare", config, tools, bundle, fs::path("bare") / std::to_string(number), timeout_s);
  for (const auto& variable : tools.injection_env) pass.process.unset_env.push_back(variable);
  pass.process.stdout_log = bundle / "logs" / fmt::format("bare-{}.stdout.log", number);
  pass.process.stderr_log = bundle / "logs" / fmt::format("bare-{}.stderr.log", number);
  pass.process.wait_for_tree = pass.process.signal_group = true;  // as in the collector pass
  pass.process.label = fmt::format("unprofiled pass {} of {}", number, config.perturbation.repeats);
  pass.purpose = fmt::format("run the workload unprofiled, timed by the NVTX collector ({} of {})", number,
                             config.perturbation.repeats);
  pass.optional = pass.sample_power = true;
  return pass;
}

// The traced pass once more, for its timings alone, and its export. Neither is kept.
std::vector<Pass> nsys_repeat_passes(const Config& config, const Toolset& tools, const fs::path& bundle, int number) {
  const fs::path stem = fs::path("perturbation") / fmt::format("nsys-{}", number);
  std::vector<std::string> said_before;
  Pass pass = nsys_pass(config, tools, bundle, said_before);
  pass.name = "nsys-repeat";
  pass.process.argv = nsys_profile_argv(config, *tools.nsys, bundle / stem, said_before);
  append(pass.process.argv, config.workload.command);
  pass.process.stdout_log = bundle / "logs" / fmt::format("nsys-repeat-{}.stdout.log", number);
  pass.process.stderr_log = bundle / "logs" / fmt::format("nsys-repeat-{}.stderr.log", number);
  pass.process.timeout_s = shorter_timeout(config.nsys.timeout_s, config.perturbation.budget_s);
  pass.process.profiler = true;
  pass.process.not_found = ErrorKind::kTool;
  pass.process.label = fmt::format("traced pass {} of {}", number, config.perturbation.repeats);
  pass.outputs = {stem.string() + ".nsys-rep"};
  pass.purpose = fmt::format("trace the workload again, for its timings alone ({} of {})", number,
                             config.perturbation.repeats);
  pass.optional = true;
  pass.sample_power = false;
  Pass read = plan_nsys_export(config, *tools.nsys, bundle);
  read.name = "nsys-repeat-export";
  read.process.argv = nsys_export_argv(*tools.nsys, bundle / pass.outputs[0], bundle / (stem.string() + ".sqlite"));
  read.process.stdout_log = bundle / "logs" / fmt::format("nsys-repeat-export-{}.stdout.log", number);
  read.process.stderr_log = bundle / "logs" / fmt::format("nsys-repeat-export-{}.stderr.log", number);
  read.outputs = {stem.string() + ".sqlite"};
  read.purpose = "export it; the stages' times are read, and both files are deleted";
  read.optional = true;
  return {std::move(pass), std::move(read)};
}

}  // namespace

// Bare, nsys, bare, nsys … so that a machine that grows slower or faster does so for both.
void add_nsys_passes(Plan& plan, const Config& config, const Toolset& tools, const fs::path& bundle) {
  int repeats = config.perturbation.repeats;
  if (repeats > 0 && !tools.collector) {
    plan.adaptations.push_back("the collector was not found: how much profiling slows the workload is not measured");
    repeats = 0;
  }
  if (repeats > 0) plan.passes.push_back(bare_pass(config, tools, bundle, 1));
  plan.passes.push_back(nsys_pass(config, tools, bundle, plan.adaptations));
  plan.passes.push_back(plan_nsys_export(config, *tools.nsys, bundle));
  for (int number = 2; number <= repeats; ++number) {
    plan.passes.push_back(bare_pass(config, tools, bundle, number));
    for (auto& pass : nsys_repeat_passes(config, tools, bundle, number)) plan.passes.push_back(std::move(pass));
  }
}

Pass plan_nsys_export(const Config& config, const Tool& nsys, const fs::path& bundle_folder) {
  const fs::path bundle = absolute_bundle(bundle_folder);
  Pass pass;
  pass.name = "nsys-export";
  pass.process.argv = nsys_export_argv(nsys, bundle / "nsys" / "run.nsys-rep", bundle / "nsys" / "run.sqlite");
  set_tool_env(pass, nsys);
  pass.process.stdout_log = bundle / "logs" / "nsys-export.stdout.log";
  pass.process.stderr_log = bundle / "logs" / "nsys-export.stderr.log";
  pass.process.timeout_s = config.nsys.export_timeout_s;
  pass.outputs = {"nsys/run.sqlite"};
  pass.purpose = "export the trace to SQLite, which is read next";
  return pass;
}

}  // namespace nl
