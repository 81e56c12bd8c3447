#include <fmt/format.h>

#include "nvtx/names.h"
#include "orchestrator/capture/ncu_argv.h"
#include "orchestrator/capture/plan_parts.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

// Why there will be no ncu pass; empty where there will be one.
std::string ncu_left_out(const Config& config, const Toolset& tools) {
  if (!tools.ncu) return "ncu was not found: the ncu pass is left out (nl-stage doctor says where it was looked for)";
  if (tools.gpus.empty())
    return fmt::format("no GPU was found{}: the ncu pass is left out, and the trace will hold no kernels",
                       tools.gpu_trouble.empty() ? "" : " (" + tools.gpu_trouble + ")");
  if (config.workload.command.empty()) return "there is no command";
  return {};
}

Pass ncu_export(const Config& config, const Tool& ncu, const fs::path& bundle, const std::string& page) {
  Pass pass;
  pass.name = "ncu-export-" + page;
  pass.process.argv = ncu_export_argv(ncu, bundle / "ncu" / "profile.ncu-rep", page);
  pass.process.env = {{"LC_ALL", "C"}};  // numbers would follow the locale
  set_tool_env(pass, ncu);
  pass.process.stdout_log = bundle / "ncu" / (page + ".csv");
  pass.process.stderr_log = bundle / "logs" / (pass.name + ".stderr.log");
  pass.process.timeout_s = config.ncu.export_timeout_s;
  pass.outputs = {"ncu/" + page + ".csv"};
  pass.purpose =
      page == "raw" ? "read ncu's report: every metric, one row a launch" : "read ncu's report: its sections and rules";
  return pass;
}

}  // namespace

std::vector<std::string> nvtx_filters(const Config& config) {
  if (!config.ncu.nvtx_include.empty()) return config.ncu.nvtx_include;
  std::vector<std::string> filters;
  for (const auto& stage : config.run.stages)
    for (auto& filter : nvtx::ncu_include_filters(stage)) filters.push_back(std::move(filter));
  return filters;
}

void add_ncu_passes(Plan& plan, const Config& config, const Toolset& tools, const fs::path& bundle) {
  if (!config.ncu.enabled) return;
  if (auto reason = ncu_left_out(config, tools); !reason.empty()) {
    plan.adaptations.push_back(reason);
    return;
  }
  // The names are known after the traced pass; until then a placeholder stands in their place.
  Pass pass = workload_pass("ncu", config, bundle, config.ncu.timeout_s);
  const NameFilter names{
      config.ncu.kernel_name_base,
      fmt::format("regex:^(<the {} kernels that the trace ranks first>)$", config.run.top_n_kernels)};
  pass.process.argv =
      ncu_profile_argv(config, *tools.ncu, bundle / "ncu" / "profile", names, nvtx_filters(config), plan.adaptations);
  append(pass.process.argv, config.workload.command);
  set_tool_env(pass, *tools.ncu);
  clear_injections(pass, tools, plan.adaptations);
  pass.outputs = {"ncu/profile.ncu-rep"};
  pass.purpose =
      fmt::format("measure the {} kernels that take the most GPU time inside the stages", config.run.top_n_kernels);
  plan.passes.push_back(std::move(pass));
  for (auto& next : plan_ncu_exports(config, *tools.ncu, bundle, {})) plan.passes.push_back(std::move(next));
  plan.captured_by = with_ncu(plan.traced_by);
}

Pass plan_ncu(const Config& config, const Tool& ncu, const fs::path& bundle_folder, const NcuRequest& request,
              std::vector<std::string>& adaptations) {
  const fs::path bundle = absolute_bundle(bundle_folder);
  NcuRequest wanted = request;
  if (wanted.nvtx_include.empty()) wanted.nvtx_include = nvtx_filters(config);
  if (request.attempt > 1 && !wanted.nvtx_include.empty()) {
    adaptations.push_back(
        "ncu profiled nothing inside the NVTX ranges: second try by kernel name alone, wherever it is launched");
    wanted.nvtx_include.clear();
  } else if (request.attempt > 1) {
    adaptations.push_back("ncu profiled nothing by " + request.kernel_name_base + " name: second try by short name");
    wanted.kernel_name_base = "function";
  }
  Pass pass = workload_pass("ncu", config, bundle, config.ncu.timeout_s);
  pass.process.argv = ncu_profile_argv(config, ncu, bundle / "ncu" / "profile", ncu_name_filter(wanted, adaptations),
                                       wanted.nvtx_include, adaptations);
  append(pass.process.argv, config.workload.command);
  set_tool_env(pass, ncu);
  pass.process.unset_env = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
  if (request.attempt > 1) {
    pass.process.stdout_log = bundle / "logs" / fmt::format("ncu-{}.stdout.log", request.attempt);
    pass.process.stderr_log = bundle / "logs" / fmt::format("ncu-{}.stderr.log", request.attempt);
  }
  pass.outputs = {"ncu/profile.ncu-rep"};
  pass.purpose = fmt::format("measure {} kernels{}", request.kernels.size(), request.attempt > 1 ? ", second try" : "");
  return pass;
}

std::vector<Pass> plan_ncu_exports(const Tool& ncu, const fs::path& bundle, const NcuRequest& request) {
  return plan_ncu_exports(Config{}, ncu, bundle, request);
}

std::vector<Pass> plan_ncu_exports(const Config& config, const Tool& ncu, const fs::path& bundle_folder,
                                   const NcuRequest&) {
  const fs::path bundle = absolute_bundle(bundle_folder);
  std::vector<Pass> passes = {ncu_export(config, ncu, bundle, "raw")};
  if (config.ncu.details_csv) passes.push_back(ncu_export(config, ncu, bundle, "details"));
  return passes;
}

}  // namespace nl::orchestrator
