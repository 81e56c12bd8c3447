#include "orchestrator/capture/plan_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "model/words.h"
#include "orchestrator/capture/engine_switches.h"
#include "orchestrator/capture/marks.h"
#include "orchestrator/config/choices.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

// A value by Hydra's grammar: outside of quotes a comma begins a sweep, and a brace a dictionary.
std::string hydra_quoted(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '_' || c == '-'; };
  if (std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "\\'" : std::string(1, c);
  return quoted + "'";
}

// Also as "+key=" and "++key=", which add it.
bool overrides(const std::vector<std::string>& command, std::string_view key) {
  return std::any_of(command.begin(), command.end(), [&](std::string_view word) {
    word.remove_prefix(std::min(word.find_first_not_of('+'), word.size()));
    return word.starts_with(key) && word.substr(key.size()).starts_with('=');
  });
}

double shorter_timeout(double a, double b) { return a <= 0 ? b : b <= 0 ? a : std::min(a, b); }  // 0: none

// "2 of 3", "5 of at most 12"
std::string turn_text(const PerturbationOptions& options, int number) {
  return number <= options.repeats ? fmt::format("{} of {}", number, options.repeats)
                                   : fmt::format("{} of at most {}", number, options.most_repeats);
}

// The workload with nothing but the timing of its stages: what the traced passes are compared with.
Pass unprofiled_pass(const Config& config, const Toolset& tools, const fs::path& bundle, int number) {
  const double timeout_s = shorter_timeout(config.nsys.timeout_s, config.perturbation.budget_s);
  Pass pass = ranges_pass(PassKind::kUnprofiled, config, tools, bundle, fs::path("unprofiled") / std::to_string(number), timeout_s);
  for (const auto& variable : tools.injection_env) pass.process.unset_env.push_back(variable);
  set_logs(pass, bundle, number);
  pass.process.argv = workload_command(config.workload, bundle, PassKind::kUnprofiled, number);
  pass.process.label = "unprofiled pass " + turn_text(config.perturbation, number);
  pass.purpose = fmt::format("run the workload unprofiled, timed by the NVTX collector ({})", turn_text(config.perturbation, number));
  pass.optional = pass.sample_power = true;
  return pass;
}

}  // namespace

fs::path absolute_bundle(const fs::path& bundle) { return fs::absolute(bundle).lexically_normal(); }

void set_logs(Pass& pass, const fs::path& bundle, int number) {
  const std::string name = pass_name(pass.kind, number);
  pass.process.stdout_log = bundle / "logs" / (name + ".stdout.log");
  pass.process.stderr_log = bundle / "logs" / (name + ".stderr.log");
}

void append(std::vector<std::string>& argv, const std::vector<std::string>& more) { argv.insert(argv.end(), more.begin(), more.end()); }

bool surely_no_gpu(const Toolset& tools) { return tools.gpus.empty() && tools.nvml && tools.gpu_trouble.empty(); }

Pass workload_pass(PassKind kind, const Config& config, const fs::path& bundle, double timeout_s) {
  Pass pass;
  pass.kind = kind;
  for (const auto& [variable, value] : config.workload.env) {
    if (value == kMaskedValue) continue;  // from a config.yaml of ours: the value is in our own environment, or lost
    pass.process.env[variable] = value;
    pass.private_env.push_back(variable);
  }
  if (config.mark.automatic) {  // the profilers hand their environment on, so that every Python below them finds the marks
    pass.process.prepend_env["PYTHONPATH"] = (bundle / kMarksFolder / "auto").string();
    pass.process.env["NL_STAGE_MARK"] = "1";
    switch_engine_on(pass, config);
  }
  pass.starts_workload = true;
  pass.process.working_directory = config.workload.working_directory;
  set_logs(pass, bundle);
  pass.process.forward_output = true;
  pass.process.timeout_s = timeout_s;
  return pass;
}

void set_tool_env(Pass& pass, const Tool& tool) {
  for (const auto& [variable, value] : tool.env) {
    auto& target = pass.process.env[variable];
    target = target.empty() ? value : value + ":" + target;
  }
}

void clear_injections(Pass& pass, const Toolset& tools, std::vector<Remark>& adaptations) {
  for (const auto& variable : tools.injection_env) {
    pass.process.unset_env.push_back(variable);
    add_once(adaptations, {Code::kInjectionUnset, {variable, std::string(key_of(pass.kind))}});
  }
}

std::string pass_name(PassKind kind, int number) {
  return number > 0 ? fmt::format("{}-{}", key_of(kind), number) : std::string(key_of(kind));
}

std::vector<std::string> workload_command(const WorkloadOptions& workload, const std::filesystem::path& bundle, PassKind kind, int number) {
  std::vector<std::string> command = workload.command;
  if (!workload.hydra) return command;
  const std::string folder = hydra_quoted((bundle / "hydra" / pass_name(kind, number)).string());
  const bool sweeps = std::any_of(command.begin(), command.end(), [](const std::string& word) {
    return word == "-m" || word == "--multirun" || word == "hydra.mode=MULTIRUN";
  });
  command.push_back("hydra.run.dir=" + folder);  // of one key given twice, Hydra takes the last
  if (sweeps) command.push_back("hydra.sweep.dir=" + folder);
  if (choice<HydraChdir>(workload.hydra_chdir) != HydraChdir::kKeep && !overrides(workload.command, "hydra.job.chdir"))
    command.push_back("hydra.job.chdir=" + workload.hydra_chdir);
  return command;
}

void make_repeat(Pass& pass, PassKind kind, const Config& config, const fs::path& bundle, int number) {
  pass.kind = kind;
  set_logs(pass, bundle, number);
  pass.process.timeout_s = shorter_timeout(config.nsys.timeout_s, config.perturbation.budget_s);
  pass.process.label = "traced pass " + turn_text(config.perturbation, number);
  pass.purpose = fmt::format("trace the workload again, for its timings alone ({})", turn_text(config.perturbation, number));
  pass.optional = true;
  pass.sample_power = false;
}

// Unprofiled, traced, unprofiled, traced … so that a machine that grows slower or faster does so for both. With a budget of time
// the capture comes first: it is worth the most.
void add_in_turns(Plan& plan, std::vector<Pass> capture, const std::function<std::vector<Pass>(int number)>& again) {
  int repeats = plan.config.perturbation.repeats;
  if (repeats > 0 && !plan.tools.collector) {
    plan.adaptations.push_back({Code::kNoUnprofiledPasses});
    repeats = 0;
  }
  const auto add = [&](std::vector<Pass> passes) {
    for (Pass& pass : passes) plan.passes.push_back(std::move(pass));
  };
  const bool capture_first = plan.config.run.budget_s > 0;
  int unprofiled = 0;
  const auto add_unprofiled = [&] {
    if (unprofiled < repeats) plan.passes.push_back(unprofiled_pass(plan.config, plan.tools, plan.bundle, ++unprofiled));
  };
  if (!capture_first) add_unprofiled();
  add(std::move(capture));
  for (int number = 2; number <= repeats; ++number) {
    add_unprofiled();
    add(again(number));
  }
  if (capture_first) add_unprofiled();
  // One pass of each kind is asked for where no range is wanted.
  for (int number = repeats + 1; repeats > 1 && number <= plan.config.perturbation.most_repeats; ++number) {
    plan.further.push_back(unprofiled_pass(plan.config, plan.tools, plan.bundle, number));
    for (Pass& pass : again(number)) plan.further.push_back(std::move(pass));
  }
}

// Ranges around every operator make the workload slower than any other trace does: whatever else could be recorded has its place
// in the other passes.
Config operator_config(const Config& config) {
  Config out = config;
  out.nsys.trace = {"cuda", "nvtx"};
  out.nsys.sample = out.nsys.cpuctxsw = "none";
  out.nsys.pytorch = "none";  // the marks switch PyTorch's ranges on, in a few windows
  out.nsys.cuda_graph_trace = out.capture.cuda_graphs = "node";
  out.capture.sampling_us = out.capture.pc_sampling = 0;
  out.capture.duty.clear();  // a few windows are recorded anyway
  return out;
}

void make_operator_pass(Pass& pass, const fs::path& bundle) {
  pass.kind = PassKind::kOperators;
  set_logs(pass, bundle);
  pass.process.label = "operator pass";
  pass.process.env["NL_STAGE_OPERATORS_DIR"] = (bundle / kOperatorsFolder).string();
  pass.purpose = "record the operators and layers of a few steps; skipped where the workload is no Python with PyTorch";
  pass.optional = true;
  pass.sample_power = false;
}

void add_operator_passes(Plan& plan) {
  if (!plan.config.mark.automatic || !plan.config.mark.operators) return;
  if (surely_no_gpu(plan.tools)) return plan.adaptations.push_back({Code::kOperatorsLeftOut, {"no GPU was found"}});
  if (plan.tracer == Tracer::kNsys && choice<PytorchRanges>(plan.config.nsys.pytorch) != PytorchRanges::kNone)
    return plan.adaptations.push_back({Code::kOperatorsLeftOut, {"the trace itself records PyTorch's operators (nsys.pytorch)"}});
  if (plan.tracer == Tracer::kCupti) return plan.passes.push_back(cupti_operator_pass(plan.config, plan.tools, plan.bundle));
  for (Pass& pass : nsys_operator_passes(plan.config, plan.tools, plan.bundle)) plan.passes.push_back(std::move(pass));
}

}  // namespace nl::orchestrator
