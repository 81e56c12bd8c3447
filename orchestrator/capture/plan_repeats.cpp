#include <fmt/format.h>

#include "orchestrator/capture/plan_parts.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

// The workload with nothing but a stopwatch: what the traced passes are compared with.
Pass unprofiled_pass(const Config& config, const Toolset& tools, const fs::path& bundle, int number) {
  const double timeout_s = shorter_timeout(config.nsys.timeout_s, config.perturbation.budget_s);
  Pass pass = ranges_pass(PassKind::kUnprofiled, config, tools, bundle, fs::path("unprofiled") / std::to_string(number), timeout_s);
  for (const auto& variable : tools.injection_env) pass.process.unset_env.push_back(variable);
  set_logs(pass, bundle, number);
  pass.process.argv = workload_command(config.workload, bundle, PassKind::kUnprofiled, number);
  pass.process.label = fmt::format("unprofiled pass {} of {}", number, config.perturbation.repeats);
  pass.purpose = fmt::format("run the workload unprofiled, timed by the NVTX collector ({} of {})", number, config.perturbation.repeats);
  pass.optional = pass.sample_power = true;
  return pass;
}

}  // namespace

void make_repeat(Pass& pass, PassKind kind, const Config& config, const fs::path& bundle, int number) {
  pass.kind = kind;
  set_logs(pass, bundle, number);
  pass.process.timeout_s = shorter_timeout(config.nsys.timeout_s, config.perturbation.budget_s);
  pass.process.label = fmt::format("traced pass {} of {}", number, config.perturbation.repeats);
  pass.purpose = fmt::format("trace the workload again, for its timings alone ({} of {})", number, config.perturbation.repeats);
  pass.optional = true;
  pass.sample_power = false;
}

// Unprofiled, traced, unprofiled, traced … so that a machine that grows slower or faster does so for both. With a budget of time
// the capture comes first: it is worth the most.
void add_in_turns(Plan& plan, const Config& config, const Toolset& tools, const fs::path& bundle, std::vector<Pass> capture,
                  const std::function<std::vector<Pass>(int number)>& again) {
  int repeats = config.perturbation.repeats;
  if (repeats > 0 && !tools.collector) {
    plan.adaptations.push_back({Code::kNoUnprofiledPasses});
    repeats = 0;
  }
  const auto add = [&](std::vector<Pass> passes) {
    for (Pass& pass : passes) plan.passes.push_back(std::move(pass));
  };
  const bool capture_first = config.run.budget_s > 0;
  int unprofiled = 0;
  const auto add_unprofiled = [&] {
    if (unprofiled < repeats) plan.passes.push_back(unprofiled_pass(config, tools, bundle, ++unprofiled));
  };
  if (!capture_first) add_unprofiled();
  add(std::move(capture));
  for (int number = 2; number <= repeats; ++number) {
    add_unprofiled();
    add(again(number));
  }
  if (capture_first) add_unprofiled();
}

}  // namespace nl::orchestrator
