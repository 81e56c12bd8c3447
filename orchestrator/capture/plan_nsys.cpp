#include <fmt/format.h>

#include "orchestrator/capture/marks.h"
#include "orchestrator/capture/plan_parts.h"
#include "orchestrator/capture/tool_arguments.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

Pass nsys_pass(const Config& config, const Toolset& tools, const fs::path& bundle, std::vector<Remark>& adaptations) {
  Pass pass = workload_pass(PassKind::kNsys, config, bundle, config.nsys.timeout_s);
  pass.process.argv = nsys_profile_argv(config, *tools.nsys, bundle / "nsys" / "run", adaptations);
  append(pass.process.argv, workload_command(config.workload, bundle, PassKind::kNsys));
  set_tool_env(pass, *tools.nsys);
  clear_injections(pass, tools, adaptations);
  pass.process.profiler = true;
  pass.process.not_found = ErrorKind::kTool;
  pass.outputs = {"nsys/run.nsys-rep"};
  pass.purpose = "trace the workload: kernels, API calls, ranges";
  pass.sample_power = true;
  return pass;
}

// The traced pass once more, with its report elsewhere.
Pass nsys_pass_to(const fs::path& stem, PassKind kind, const Config& config, const Toolset& tools, const fs::path& bundle, int number = 0) {
  std::vector<Remark> noted_before;
  Pass pass = nsys_pass(config, tools, bundle, noted_before);
  pass.process.argv = nsys_profile_argv(config, *tools.nsys, bundle / stem, noted_before);
  append(pass.process.argv, workload_command(config.workload, bundle, kind, number));
  pass.outputs = {stem.string() + ".nsys-rep"};
  return pass;
}

Pass optional_export(PassKind kind, const fs::path& stem, const std::string& of, const Config& config, const Toolset& tools,
                     const fs::path& bundle, int number = 0) {
  Pass read = plan_nsys_export(config, *tools.nsys, bundle);
  read.kind = kind;
  read.process.argv = nsys_export_argv(*tools.nsys, bundle / (stem.string() + ".nsys-rep"), bundle / (stem.string() + ".sqlite"));
  read.process.label = "export of the " + of;
  set_logs(read, bundle, number);
  read.outputs = {stem.string() + ".sqlite"};
  read.optional = true;
  read.even_if_stopped = false;
  return read;
}

// For its timings alone, and its export. Neither is kept.
std::vector<Pass> nsys_repeat_passes(const Config& config, const Toolset& tools, const fs::path& bundle, int number) {
  const fs::path stem = fs::path("perturbation") / fmt::format("nsys-{}", number);
  Pass pass = nsys_pass_to(stem, PassKind::kNsysRepeat, config, tools, bundle, number);
  make_repeat(pass, PassKind::kNsysRepeat, config, bundle, number);
  Pass read = optional_export(PassKind::kNsysRepeatExport, stem, pass.process.label, config, tools, bundle, number);
  read.purpose = "export it; the stages' times are read, and both files are deleted";
  return {std::move(pass), std::move(read)};
}

}  // namespace

void add_nsys_passes(Plan& plan, const Config& config, const Toolset& tools, const fs::path& bundle) {
  add_in_turns(plan, config, tools, bundle,
               {nsys_pass(config, tools, bundle, plan.adaptations), plan_nsys_export(config, *tools.nsys, bundle)},
               [&](int number) { return nsys_repeat_passes(config, tools, bundle, number); });
}

std::vector<Pass> nsys_operator_passes(const Config& config, const Toolset& tools, const fs::path& bundle) {
  const fs::path stem = fs::path(kOperatorsFolder) / "run";
  Pass pass = nsys_pass_to(stem, PassKind::kOperators, operator_config(config), tools, bundle);
  make_operator_pass(pass, bundle);
  Pass read = optional_export(PassKind::kOperatorsExport, stem, pass.process.label, config, tools, bundle);
  read.purpose = "export it to SQLite, which is read next";
  return {std::move(pass), std::move(read)};
}

Pass plan_nsys_export(const Config& config, const Tool& nsys, const fs::path& bundle_folder) {
  const fs::path bundle = absolute_bundle(bundle_folder);
  Pass pass;
  pass.kind = PassKind::kNsysExport;
  pass.even_if_stopped = true;
  pass.process.argv = nsys_export_argv(nsys, bundle / "nsys" / "run.nsys-rep", bundle / "nsys" / "run.sqlite");
  set_tool_env(pass, nsys);
  pass.process.not_found = ErrorKind::kTool;
  set_logs(pass, bundle);
  pass.process.timeout_s = config.nsys.export_timeout_s;
  pass.outputs = {"nsys/run.sqlite"};
  pass.purpose = "export the trace to SQLite, which is read next";
  return pass;
}

}  // namespace nl::orchestrator
