#include "orchestrator/run.h"

#include <chrono>

#include "orchestrator/bundle/files.h"
#include "orchestrator/bundle/provenance.h"
#include "orchestrator/capture/capture.h"
#include "orchestrator/capture/marks.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/doctor/doctor.h"
#include "orchestrator/live/live_runs.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/read.h"
#include "orchestrator/session/session.h"

namespace nl::orchestrator {
namespace {

void refuse_blocked(const std::vector<Check>& checks) {
  for (const auto& check : checks)
    if (check.level == CheckLevel::kBlocked) throw Error(check.kind, check.finding, check.subject, check.fix);
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

// Nothing has run yet: a plan that cannot be made leaves no folder behind.
Plan plan_for(const Config& config, const Toolset& tools, const Bundle& bundle) {
  try {
    return make_plan(config, tools, bundle.path());
  } catch (...) {
    bundle.discard();
    throw;
  }
}

// Tells other processes which pass runs.
class TellingLauncher : public Launcher {
 public:
  TellingLauncher(Launcher& launcher, LiveNote& live) : launcher_(launcher), live_(live) {}
  ProcessResult launch(const ProcessSpec& process) override {
    live_.say(process.label);
    return launcher_.launch(process);
  }

 private:
  Launcher& launcher_;
  LiveNote& live_;
};

// A capture without the network is worth more than none.
void add_loads(const RunRequest& request, Evidence& evidence) {
  if (!request.read_loads) return;
  try {
    evidence.loads = request.read_loads();
  } catch (const Error& error) {
    evidence.adaptations.push_back({Code::kNote, {"the client's records (--load) could not be read: " + error.message}, error.where});
  }
}

}  // namespace

RunResult run_workload(const RunRequest& request, Launcher& launcher) {
  const Config& config = request.config;
  const analysis::Knowledge knowledge = load_knowledge(config);
  Interrupts interrupts;
  if (!config.workload.command.empty()) find_executable(config.workload.command[0], config.workload.working_directory);
  check_session(config.session);
  const std::vector<Input> inputs = read_inputs(config.workload);
  const Toolset tools = ready_tools(config);
  const Bundle bundle =
      Bundle::create({config.artifacts.dir, request.out, config.run.name, config.run.mode}, std::chrono::system_clock::now());
  const Plan plan = plan_for(config, tools, bundle);
  write_configuration(bundle, config, inputs);
  if (config.mark.automatic) write_marks(bundle);

  Verdict verdict;
  LiveNote live(bundle.run_id(), config.run.name, bundle.path());
  TellingLauncher telling(launcher, live);
  PassRunner runner(telling, bundle, verdict, request.echo);
  const PowerSource power = open_power_source(config, tools, verdict);
  runner.sample_power(power.sampler.get());
  runner.keep_time(plan);

  const auto repository = repository_of(config.workload);  // before a pass changes it
  Capture capture = execute(plan, runner);
  live.say("reading and analysing");
  if (config.mark.automatic) drop_compiled_marks(bundle);
  Evidence evidence = read(plan, std::move(capture), power, bundle, verdict);
  evidence.workload.repository = repository;
  add_loads(request, evidence);
  return conclude(evidence, knowledge, config, bundle, request.record);
}

}  // namespace nl::orchestrator
