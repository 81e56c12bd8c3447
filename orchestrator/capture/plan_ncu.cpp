#include <fmt/format.h>

#include "nvtx/names.h"
#include "orchestrator/capture/plan_parts.h"
#include "orchestrator/capture/tool_arguments.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

Pass ncu_export(PassKind kind, const Config& config, const Tool& ncu, const fs::path& bundle) {
  const bool raw = kind == PassKind::kNcuExportRaw;
  const std::string page = raw ? "raw" : "details";
  Pass pass;
  pass.kind = kind;
  pass.even_if_stopped = true;
  pass.process.argv = ncu_export_argv(ncu, bundle / "ncu" / "profile.ncu-rep", page);
  pass.process.env = {{"LC_ALL", "C"}};  // numbers would follow the locale
  set_tool_env(pass, ncu);
  pass.process.not_found = ErrorKind::kTool;
  set_logs(pass, bundle);
  pass.process.stdout_log = bundle / "ncu" / (page + ".csv");
  pass.process.timeout_s = config.ncu.export_timeout_s;
  pass.outputs = {"ncu/" + page + ".csv"};
  pass.purpose = raw ? "read ncu's report: every metric, one row a launch" : "read ncu's report: its sections and rules";
  return pass;
}

// The second try: the same names without the NVTX filter, or, where there was none, by short names.
void widen(NcuRequest& wanted, std::vector<Remark>& adaptations) {
  if (!wanted.nvtx_include.empty()) {
    add_once(adaptations, {Code::kWiderRanges, {"ncu"}});
    wanted.nvtx_include.clear();
  } else {
    add_once(adaptations, {Code::kShorterNames, {word_of(wanted.kernel_name_base)}});
    wanted.kernel_name_base = KernelNameBase::kFunction;
  }
}

// The names are known after the traced pass; until then a placeholder stands in their place.
NameFilter open_filter(const Config& config) {
  return {choice<KernelNameBase>(config.ncu.kernel_name_base),
          fmt::format("regex:^(<the {} kernels that the trace ranks first>)$", config.run.top_n_kernels)};
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
  plan.passes.push_back(plan_ncu(config, tools, bundle, nullptr, plan.adaptations));
  for (auto& next : plan_ncu_exports(config, *tools.ncu, bundle)) plan.passes.push_back(std::move(next));
  plan.meter = Meter::kNcu;
}

Pass plan_ncu(const Config& config, const Toolset& tools, const fs::path& bundle_folder, const NcuRequest* request,
              std::vector<Remark>& adaptations) {
  const fs::path bundle = absolute_bundle(bundle_folder);
  NcuRequest wanted = request != nullptr ? *request : NcuRequest{};
  if (wanted.nvtx_include.empty()) wanted.nvtx_include = wanted.unmarked ? config.ncu.nvtx_include : nvtx_filters(config);
  if (wanted.attempt > 1) widen(wanted, adaptations);
  Pass pass = workload_pass(PassKind::kNcu, config, bundle, config.ncu.timeout_s);
  const NameFilter names = request != nullptr ? ncu_name_filter(wanted, adaptations) : open_filter(config);
  pass.process.argv = ncu_profile_argv(config, *tools.ncu, bundle / "ncu" / "profile", names, wanted.nvtx_include, adaptations);
  append(pass.process.argv, workload_command(config.workload, bundle, PassKind::kNcu, wanted.attempt > 1 ? wanted.attempt : 0));
  set_tool_env(pass, *tools.ncu);
  clear_injections(pass, tools, adaptations);
  pass.process.unset_env = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};  // also where they are set to nothing
  pass.process.not_found = ErrorKind::kTool;
  pass.process.profiler = true;
  pass.outputs = {"ncu/profile.ncu-rep"};
  pass.purpose = fmt::format("measure the {} kernels that take the most GPU time inside the stages",
                             request != nullptr ? static_cast<int>(wanted.kernels.size()) : config.run.top_n_kernels);
  return pass;
}

std::vector<Pass> plan_ncu_exports(const Config& config, const Tool& ncu, const fs::path& bundle_folder) {
  const fs::path bundle = absolute_bundle(bundle_folder);
  std::vector<Pass> passes = {ncu_export(PassKind::kNcuExportRaw, config, ncu, bundle)};
  if (config.ncu.details_csv) passes.push_back(ncu_export(PassKind::kNcuExportDetails, config, ncu, bundle));
  return passes;
}

}  // namespace nl::orchestrator
