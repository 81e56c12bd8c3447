#include "orchestrator/doctor/doctor.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/capture/plan.h"
#include "orchestrator/doctor/checks.h"
#include "orchestrator/doctor/checks_timing.h"

namespace nl::orchestrator {
namespace {

bool will_trace(const Toolset& tools, const Config& config) { return (config.nsys.enabled && tools.nsys) || tools.collector; }

// By ncu, whose pass would be in vain; the collector's counters are gone without.
bool will_measure(const Toolset& tools, const Config& config) {
  return will_trace(tools, config) && choose_counters(config, tools).meter == Meter::kNcu && !tools.gpus.empty();
}

// A capture works without any of this; its times are worth less. Without a GPU there is only the machine to look at.
std::vector<Check> checks_of_timing(const Toolset& tools, const Host& host) {
  std::string trouble;
  const auto gpus = tools.nvml ? read_gpu_states(*tools.nvml, host.variable("CUDA_VISIBLE_DEVICES"), trouble) : std::vector<GpuState>();
  std::vector<Check> checks = timing_warnings(host, gpus, trouble);
  if (gpus.empty()) checks.resize(1);
  return checks;
}

}  // namespace

std::vector<Check> diagnose(const Toolset& tools, const Config& config, const Host& host) {
  std::vector<Check> checks = {check_nsys(tools, host)};
  if (tools.nsys) checks.push_back(check_importer(tools, host));
  checks.insert(checks.end(),
                {check_ncu(tools, config), check_cupti(tools), check_gpu(tools, host), check_collector(tools, host), check_libcrypto()});
  for (auto& check : check_rejected(tools)) checks.push_back(std::move(check));
  checks.insert(checks.end(), {check_counters(tools, host), check_cupti_counters(tools, config, host), check_paranoid(config, host),
                               check_native_stacks(config, host), check_temporary(host), check_artifacts(config, host),
                               check_injection(tools), check_profilers(host), check_ncu_lock(host), check_memory(host),
                               check_shared_memory(host), check_ptrace(host), check_seccomp(config, host)});
  for (auto& check : checks_of_timing(tools, host)) checks.push_back(std::move(check));
  if (tools.nsys) checks.push_back(check_trial_capture(tools, host));
  return checks;
}

std::vector<Check> preflight(const Toolset& tools, const Config& config, const Host& host) {
  std::vector<Check> checks;
  if (config.nsys.enabled) checks.push_back(check_nsys(tools, host));
  if (config.nsys.enabled && tools.nsys) {
    checks.insert(checks.end(), {check_importer(tools, host), check_gpu(tools, host), check_paranoid(config, host)});
    if (config.ncu.enabled && !tools.ncu) checks.push_back(check_ncu(tools, config));
  }
  if (will_measure(tools, config)) checks.insert(checks.end(), {check_counters(tools, host), check_ncu_lock(host), check_profilers(host)});
  if (choose_counters(config, tools).meter == Meter::kCupti) checks.push_back(check_cupti_counters(tools, config, host));
  checks.insert(checks.end(), {check_temporary(host), check_artifacts(config, host), check_injection(tools)});
  return checks;
}

bool any_blocked(const std::vector<Check>& checks) {
  return std::any_of(checks.begin(), checks.end(), [](const Check& check) { return check.level == CheckLevel::kBlocked; });
}

std::string_view level_name(CheckLevel level) {
  switch (level) {
    case CheckLevel::kOk: return "ok";
    case CheckLevel::kWarning: return "warning";
    case CheckLevel::kBlocked: return "blocked";
  }
  return "";
}

std::string checks_json(const std::vector<Check>& checks) {
  nlohmann::ordered_json json = {{"blocked", any_blocked(checks)}, {"checks", nlohmann::ordered_json::array()}};
  for (const auto& check : checks)
    json["checks"].push_back(
        {{"id", check.id}, {"level", level_name(check.level)}, {"subject", check.subject}, {"finding", check.finding}, {"fix", check.fix}});
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::orchestrator
