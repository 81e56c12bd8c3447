#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "model/shell.h"
#include "model/words.h"
#include "orchestrator/capture/capture.h"
#include "orchestrator/capture/limits.h"

namespace nl::orchestrator {
namespace {

// What is tried, best first. A model file is the workload of one of the adapters, and captured like every other.
constexpr std::string_view kOrder =
    "nsys+ncu, nsys+CUPTI counters, collector (CUPTI)+ncu, collector (CUPTI+counters), collector (CUPTI), collector "
    "(NVTX only)";

bool is_private(const Pass& pass, const std::string& variable) {
  return std::find(pass.private_env.begin(), pass.private_env.end(), variable) != pass.private_env.end();
}

// "the configured variables A, B"; their values are not ours to repeat.
std::string private_note(const Pass& pass) {
  std::string names;
  for (const auto& variable : pass.private_env) names += (names.empty() ? "" : ", ") + variable;
  return names;
}

// Starts nothing: what it is given to run is what is shown.
class DryRunner : public Runner {
 public:
  void run(std::span<const Pass> passes, const Part&) override { shown.insert(shown.end(), passes.begin(), passes.end()); }
  std::vector<Pass> shown;
};

std::vector<Pass> dry_run(const Plan& plan) {
  DryRunner runner;
  execute(plan, runner);
  return std::move(runner.shown);
}

void describe_pass(std::string& text, const Pass& pass, std::size_t number) {
  text += fmt::format("# {}. {}: {}\n", number, key_of(pass.kind), pass.purpose);
  if (!pass.private_env.empty()) text += fmt::format("# with the configured variables {} (values not shown)\n", private_note(pass));
  if (pass.process.timeout_s > 0) text += fmt::format("# ended after {} s\n", pass.process.timeout_s);
  text += shell_command(pass) + "\n";
  for (const auto& output : pass.outputs) text += fmt::format("#   makes {}\n", output.string());
  text += "\n";
}

nlohmann::ordered_json pass_json(const Pass& pass) {
  nlohmann::ordered_json json;
  json["name"] = key_of(pass.kind);
  json["purpose"] = pass.purpose;
  json["argv"] = pass.process.argv;
  json["env"] = nlohmann::ordered_json::object();
  for (const auto& [variable, value] : pass.process.env) json["env"][variable] = is_private(pass, variable) ? kMaskedValue : value;
  json["unset_env"] = pass.process.unset_env;
  json["prepend_env"] = pass.process.prepend_env;
  json["working_directory"] = pass.process.working_directory.string();
  json["stdout"] = pass.process.stdout_log.string();
  json["stderr"] = pass.process.stderr_log.string();
  json["timeout_s"] = pass.process.timeout_s;
  json["outputs"] = nlohmann::ordered_json::array();
  for (const auto& output : pass.outputs) json["outputs"].push_back(output.string());
  return json;
}

std::string starts_text(const Plan& plan) {
  const std::size_t starts = workload_starts(plan.passes);
  std::string text = fmt::format("# starts the workload {}", starts == 1 ? "once" : fmt::format("{} times", starts));
  if (const std::size_t more = workload_starts(plan.further); more > 0)
    text += fmt::format(", and up to {} times more until the overhead is known to be above or below {} (perturbation.most_repeats)", more,
                        plan.config.perturbation.limit);
  if (const double budget_s = plan.config.run.budget_s; budget_s > 0)
    text += fmt::format(", or less often where that takes more than {:g} s: repetitions are left out first, then counters, then operators",
                        budget_s);
  return text + "\n";
}

}  // namespace

std::string shell_command(const Pass& pass) {
  const ProcessSpec& process = pass.process;
  std::string text;
  if (!process.working_directory.empty()) text += "cd " + shell_quoted(process.working_directory.string()) + " && ";
  std::string variables;
  for (const auto& variable : process.unset_env) variables += " -u " + variable;
  for (const auto& [variable, value] : process.env)
    if (!is_private(pass, variable)) variables += " " + shell_quoted(variable + "=" + value);
  for (const auto& [variable, value] : process.prepend_env)
    variables += fmt::format(" {}\"${{{}:+:${}}}\"", shell_quoted(variable + "=" + value), variable, variable);
  if (!variables.empty()) text += "env" + variables + " ";
  text += shell_quoted(process.argv);
  // An export's standard output is its product.
  if (process.stdout_log.extension() == ".csv") text += " > " + shell_quoted(process.stdout_log.string());
  return text;
}

std::string describe_plan(const Plan& plan) {
  std::string text = fmt::format("# captured by: {}\n# because: {}\n# order: {}\n", captured_by(plan.tracer, plan.meter), plan.why, kOrder);
  text += starts_text(plan) + "\n";
  std::size_t number = 0;
  for (const Pass& pass : dry_run(plan)) describe_pass(text, pass, ++number);
  for (const auto& adaptation : plan.adaptations) text += fmt::format("# note: {}\n", text_of(adaptation));
  return text;
}

std::string plan_json(const Plan& plan) {
  nlohmann::ordered_json json;
  json["captured_by"] = captured_by(plan.tracer, plan.meter);
  json["why"] = plan.why;
  json["workload_starts"] = workload_starts(plan.passes);
  json["passes"] = nlohmann::ordered_json::array();
  for (const Pass& pass : dry_run(plan)) json["passes"].push_back(pass_json(pass));
  json["adaptations"] = nlohmann::ordered_json::array();
  for (const auto& adaptation : plan.adaptations) json["adaptations"].push_back(text_of(adaptation));
  // Arguments need not be UTF-8.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::orchestrator
