#include "orchestrator/capture/plan_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace nl::orchestrator {
namespace fs = std::filesystem;

fs::path absolute_bundle(const fs::path& bundle) { return fs::absolute(bundle).lexically_normal(); }

void append(std::vector<std::string>& argv, const std::vector<std::string>& more) {
  argv.insert(argv.end(), more.begin(), more.end());
}

double shorter_timeout(double a, double b) { return a <= 0 ? b : b <= 0 ? a : std::min(a, b); }

Pass workload_pass(const std::string& name, const Config& config, const fs::path& bundle, double timeout_s) {
  Pass pass;
  pass.name = name;
  for (const auto& [variable, value] : config.workload.env) {
    if (value == kMaskedValue) continue;  // from a config.yaml of ours: our own environment has it, or nobody
    pass.process.env[variable] = value;
    pass.private_env.push_back(variable);
  }
  pass.process.working_directory = config.workload.working_directory;
  pass.process.stdout_log = bundle / "logs" / (name + ".stdout.log");
  pass.process.stderr_log = bundle / "logs" / (name + ".stderr.log");
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

void clear_injections(Pass& pass, const Toolset& tools, std::vector<std::string>& adaptations) {
  for (const auto& variable : tools.injection_env) {
    pass.process.unset_env.push_back(variable);
    adaptations.push_back(fmt::format("{} is set: unset for the {} pass", variable, pass.name));
  }
}

}  // namespace nl::orchestrator
