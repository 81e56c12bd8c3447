#include "orchestrator/capture/plan_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "model/words.h"
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

bool sweeps(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(),
                     [](const std::string& word) { return word == "-m" || word == "--multirun" || word == "hydra.mode=MULTIRUN"; });
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

std::string pass_name(PassKind kind, int number) {
  return number > 0 ? fmt::format("{}-{}", key_of(kind), number) : std::string(key_of(kind));
}

std::vector<std::string> workload_command(const WorkloadOptions& workload, const std::filesystem::path& bundle, PassKind kind, int number) {
  std::vector<std::string> command = workload.command;
  if (!workload.hydra) return command;
  const std::string folder = hydra_quoted((bundle / "hydra" / pass_name(kind, number)).string());
  const bool many = sweeps(workload.command);
  command.push_back("hydra.run.dir=" + folder);  // of one key given twice, Hydra takes the last
  if (many) command.push_back("hydra.sweep.dir=" + folder);
  if (choice<HydraChdir>(workload.hydra_chdir) != HydraChdir::kKeep && !overrides(workload.command, "hydra.job.chdir"))
    command.push_back("hydra.job.chdir=" + workload.hydra_chdir);
  return command;
}

}  // namespace nl::orchestrator
