#include "orchestrator/run.h"

#include <algorithm>
#include <chrono>

#include "orchestrator/bundle/files.h"
#include "orchestrator/capture/collector_sqlite.h"
#include "orchestrator/machine/doctor.h"
#include "orchestrator/explain.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/capture/launch_counters.h"
#include "orchestrator/capture/launch_ncu.h"
#include "orchestrator/bundle/provenance.h"
#include "orchestrator/capture/weigh_passes.h"
#include "parsers/nsys/sqlite.h"

namespace nl::orchestrator {
namespace {

void refuse_blocked(const std::vector<Check>& checks) {
  for (const auto& check : checks)
    if (check.level == CheckLevel::kBlocked)
      throw Error(check.kind, check.finding, check.subject, check.fix);
}

// What is there to capture with; refuses early what cannot work.
Toolset ready_tools(const Config& config) {
  try {
    Toolset tools = find_tools(config.tools);
    refuse_blocked(preflight(tools, config));
    Interrupts::obey();
    return tools;
  } catch (const Error&) {
    Interrupts::obey();  // a tool that Ctrl-C ended is not a broken tool
    throw;
  }
}

Run new_run(const Config& config, const Bundle& bundle) {
  Run run;
  run.run_id = bundle.run_id();
  run.created_at = bundle.created_at();
  run.name = config.run.name;
  run.mode = config.run.mode;
  run.model = {config.model.name, config.model.attributes};
  run.workload.command = config.workload.command;
  run.workload.working_directory = config.workload.working_directory.empty() ? std::filesystem::current_path().string()
                                                                             : config.workload.working_directory;
  return run;
}

// Nothing has run yet: a plan that cannot be made leaves no folder behind.
Plan plan_for(const Config& config, const Toolset& tools, const Bundle& bundle) {
  try {
    return make_plan(config, tools, bundle.path());
  } catch (...) {
    bundle.discard();
    throw;
  }
}

Trace import_capture(const Capture& capture, Verdict& verdict) {
  try {
    if (!capture.nsys_sqlite.empty()) return parsers::read_nsys_sqlite(capture.nsys_sqlite);
    if (!capture.collector_files.empty())
      return import_collector_files(capture.collector_files, capture.collector_files[0].parent_path() / "run.sqlite");
  } catch (const Error& error) {
    verdict.add(error);
  }
  return {};
}

// Everything the bundle needs of it is in the trace by then; a damaged one is kept to be looked at.
void drop_unwanted_export(const Config& config, const Capture& capture, const Verdict& verdict, Run& run) {
  if (config.nsys.sqlite || capture.nsys_sqlite.empty() || verdict.failure()) return;
  std::error_code ignored;
  std::filesystem::remove(capture.nsys_sqlite, ignored);
  for (PassRecord& pass : run.provenance.passes) {
    if (pass.name != "nsys-export") continue;
    pass.outputs.clear();
    pass.detail = "read, and not kept (nsys.export.sqlite: false)";
  }
}

void analyse(const Trace& trace, const Config& config, const Plan& plan, const Toolset& tools, Run& run) {
  describe_machine(tools, trace, run);
  run.provenance.captured_by = plan.traced_by;  // the counters are still to come
  if (plan.traced_by == kByNsys) run.software.nsys_version = tools.nsys->version.text();
  run.provenance.adaptations = plan.adaptations;
  analyse_trace(trace, config, run);
}

// The kernels that matter, and the stages, by whoever can.
void measure(const Config& config, const Toolset& tools, const Trace& trace, const Bundle& bundle, PassRunner& passes,
             Verdict& verdict, Run& run) {
  if (run.provenance.captured_by == kByCupti) judge_sampling(config, trace, verdict);
  if (run.provenance.captured_by == kByCupti && !run.kernels) return;  // explain_absent_cupti() has the reason
  const CounterChoice choice = choose_counters(config, tools);
  if (choice.tool == CounterTool::kCupti)
    launch_counters(config, tools, trace, bundle, passes, verdict, run);
  else if (choice.tool == CounterTool::kOff)
    leave_out_counters(choice.why, run);
  else
    launch_ncu(config, tools, trace, bundle, passes, verdict, run);
}

// The collector says in its trace what kept CUPTI from recording.
void explain_absent_cupti(Verdict& verdict, Run& run) {
  const auto& notes = run.import_stats.notes;
  auto found = std::find_if(notes.begin(), notes.end(),
                            [](const std::string& note) { return note.find("not recorded") != std::string::npos; });
  run.kernels_note = found != notes.end() ? *found : "the workload ran no CUDA kernel";
  if (found != notes.end())
    verdict.add(ErrorKind::kCapture, "CUPTI recorded no kernel", *found, "`nl-stage doctor` shows which CUPTI was found");
}

// Without a GPU there are none to capture, which is no failure.
void explain_absent_kernels(const Plan& plan, const Toolset& tools, Verdict& verdict, Run& run) {
  if (run.kernels) return;
  if (plan.traced_by == kByCupti) {
    explain_absent_cupti(verdict, run);
  } else if (plan.traced_by == kByRanges) {
    const std::string trouble = tools.gpu_trouble.empty() ? "" : " (" + tools.gpu_trouble + ")";
    run.kernels_note = "no GPU was found" + trouble + "; where there is one, the same command captures kernels";
  } else if (run.kernels_note.empty() || verdict.failure()) {
    run.kernels_note = verdict.problems().empty() ? "the workload ran no CUDA kernel" : verdict.problems()[0].what;
  }
}

}  // namespace

RunResult run_workload(const RunRequest& request, Launcher& launcher) {
  const Config& config = request.config;
  const Knowledge knowledge = load_knowledge(config);
  Interrupts interrupts;
  if (!config.workload.command.empty()) find_executable(config.workload.command[0], config.workload.working_directory);
  const Toolset tools = ready_tools(config);
  const Bundle bundle = Bundle::create({config.artifacts.dir, request.out, config.run.name, config.run.mode},
                                       std::chrono::system_clock::now());
  Run run = new_run(config, bundle);
  Verdict verdict;
  PassRunner passes(launcher, bundle, verdict, run.provenance.passes, request.quiet);
  const auto power = open_power_sampler(config, tools, verdict, run);
  passes.sample_power(power.get());

  const Plan plan = plan_for(config, tools, bundle);
  write_configuration(bundle, config);
  const Capture capture = launch(plan, config, tools, bundle, passes, verdict);
  run.workload.exit_status = capture.workload_exit;
  const Trace trace = import_capture(capture, verdict);
  drop_unwanted_export(config, capture, verdict, run);
  analyse(trace, config, plan, tools, run);
  measure(config, tools, trace, bundle, passes, verdict, run);
  weigh_passes(config, plan, capture, trace, power.get(), bundle, run);
  explain_absent_kernels(plan, tools, verdict, run);
  explain(knowledge, run);
  if (Interrupts::signal() != 0) verdict.interrupted(Interrupts::signal());
  write_bundle(bundle, config, trace, verdict, run);
  return {std::move(run), bundle.path(), verdict.failure(), verdict.interrupt_signal()};
}

}  // namespace nl::orchestrator
