#include "orchestrator/capture/plan_parts.h"

#include <algorithm>

#include "model/words.h"
#include "orchestrator/capture/marks.h"
#include "orchestrator/capture/workload_command.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;

fs::path absolute_bundle(const fs::path& bundle) { return fs::absolute(bundle).lexically_normal(); }

void set_logs(Pass& pass, const fs::path& bundle, int number) {
  const std::string name = pass_name(pass.kind, number);
  pass.process.stdout_log = bundle / "logs" / (name + ".stdout.log");
  pass.process.stderr_log = bundle / "logs" / (name + ".stderr.log");
}

void append(std::vector<std::string>& argv, const std::vector<std::string>& more) { argv.insert(argv.end(), more.begin(), more.end()); }

bool surely_no_gpu(const Toolset& tools) { return tools.gpus.empty() && tools.nvml && tools.gpu_trouble.empty(); }

double shorter_timeout(double a, double b) { return a <= 0 ? b : b <= 0 ? a : std::min(a, b); }

namespace {

// The profilers hand their environment on, so that every Python below them finds the marks.
void set_marks(Pass& pass, const fs::path& bundle) {
  pass.process.prepend_env["PYTHONPATH"] = (bundle / kMarksFolder / "auto").string();
  pass.process.env["NL_STAGE_MARK"] = "1";
}

}  // namespace

Pass workload_pass(PassKind kind, const Config& config, const fs::path& bundle, double timeout_s) {
  Pass pass;
  pass.kind = kind;
  for (const auto& [variable, value] : config.workload.env) {
    if (value == kMaskedValue) continue;  // from a config.yaml of ours: our own environment has it, or nobody
    pass.process.env[variable] = value;
    pass.private_env.push_back(variable);
  }
  if (config.mark.automatic) set_marks(pass, bundle);
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

}  // namespace nl::orchestrator
