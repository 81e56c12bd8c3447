#include <fmt/format.h>

#include "orchestrator/capture/nsys_argv.h"
#include "orchestrator/capture/plan_parts.h"
#include "orchestrator/capture/workload_command.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

Pass nsys_pass(const Config& config, const Toolset& tools, const fs::path& bundle,
               std::vector<Remark>& adaptations) {
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

// The traced pass once more, for its timings alone, and its export. Neither is kept.
std::vector<Pass> nsys_repeat_passes(const Config& config, const Toolset& tools, const fs::path& bundle, int number) {
  const fs::path stem = fs::path("perturbation") / fmt::format("nsys-{}", number);
  std::vector<Remark> noted_before;
  Pass pass = nsys_pass(config, tools, bundle, noted_before);
  make_repeat(pass, PassKind::kNsysRepeat, config, bundle, number);
  pass.process.argv = nsys_profile_argv(config, *tools.nsys, bundle / stem, noted_before);
  append(pass.process.argv, workload_command(config.workload, bundle, PassKind::kNsysRepeat, number));
  pass.outputs = {stem.string() + ".nsys-rep"};
  Pass read = plan_nsys_export(config, *tools.nsys, bundle);
  read.kind = PassKind::kNsysRepeatExport;
  read.process.argv = nsys_export_argv(*tools.nsys, bundle / pass.outputs[0], bundle / (stem.string() + ".sqlite"));
  read.process.label = "export of the " + pass.process.label;
  set_logs(read, bundle, number);
  read.outputs = {stem.string() + ".sqlite"};
  read.purpose = "export it; the stages' times are read, and both files are deleted";
  read.optional = true;
  read.even_if_stopped = false;
  return {std::move(pass), std::move(read)};
}

}  // namespace

void add_nsys_passes(Plan& plan, const Config& config, const Toolset& tools, const fs::path& bundle) {
  add_in_turns(plan, config, tools, bundle,
               {nsys_pass(config, tools, bundle, plan.adaptations), plan_nsys_export(config, *tools.nsys, bundle)},
               [&](int number) { return nsys_repeat_passes(config, tools, bundle, number); });
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
