#include <fmt/format.h>

#include "nvtx/names.h"
#include "orchestrator/capture/marks.h"
#include "orchestrator/capture/plan_parts.h"
#include "orchestrator/capture/tool_arguments.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

Pass nsys_pass(const Config& config, const Toolset& tools, const fs::path& bundle, std::vector<Remark>& adaptations) {
  Pass pass = workload_pass(PassKind::kNsys, config, bundle, config.nsys.timeout_s);
  pass.process.argv = nsys_profile_argv(config, *tools.nsys, bundle / "nsys" / "run", adaptations);
  append(pass.process.argv, workload_command(config.workload, bundle, PassKind::kNsys));
  set_tool_env(pass, *tools.nsys);
  clear_injections(pass, tools, adaptations);
  pass.process.profiler = true;
  pass.process.note_ranks = true;  // its capture of several processes does not say which is which
  pass.process.not_found = ErrorKind::kTool;
  pass.outputs = {"nsys/run.nsys-rep"};
  pass.purpose = "trace the workload: kernels, API calls, ranges";
  pass.sample_power = true;
  return pass;
}

// The traced pass once more, with its report elsewhere.
Pass nsys_pass_to(const fs::path& stem, PassKind kind, const Config& config, const Toolset& tools, const fs::path& bundle, int number = 0) {
  std::vector<Remark> noted_before;
  Pass pass = nsys_pass(config, tools, bundle, noted_before);
  pass.process.argv = nsys_profile_argv(config, *tools.nsys, bundle / stem, noted_before);
  append(pass.process.argv, workload_command(config.workload, bundle, kind, number));
  pass.outputs = {stem.string() + ".nsys-rep"};
  return pass;
}

Pass optional_export(PassKind kind, const fs::path& stem, const std::string& of, const Config& config, const Toolset& tools,
                     const fs::path& bundle, int number = 0) {
  Pass read = plan_nsys_export(config, *tools.nsys, bundle);
  read.kind = kind;
  read.process.argv = nsys_export_argv(*tools.nsys, bundle / (stem.string() + ".nsys-rep"), bundle / (stem.string() + ".sqlite"));
  read.process.label = "export of the " + of;
  set_logs(read, bundle, number);
  read.outputs = {stem.string() + ".sqlite"};
  read.optional = true;
  read.even_if_stopped = false;
  return read;
}

// For its timings alone, and its export. Neither is kept.
std::vector<Pass> nsys_repeat_passes(const Config& config, const Toolset& tools, const fs::path& bundle, int number) {
  const fs::path stem = fs::path("perturbation") / fmt::format("nsys-{}", number);
  Pass pass = nsys_pass_to(stem, PassKind::kNsysRepeat, config, tools, bundle, number);
  make_repeat(pass, PassKind::kNsysRepeat, config, bundle, number);
  Pass read = optional_export(PassKind::kNsysRepeatExport, stem, pass.process.label, config, tools, bundle, number);
  read.purpose = "export it; the stages' times are read, and both files are deleted";
  return {std::move(pass), std::move(read)};
}

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

void add_nsys_passes(Plan& plan) {
  add_in_turns(
      plan,
      {nsys_pass(plan.config, plan.tools, plan.bundle, plan.adaptations), plan_nsys_export(plan.config, *plan.tools.nsys, plan.bundle)},
      [&](int number) { return nsys_repeat_passes(plan.config, plan.tools, plan.bundle, number); });
}

std::vector<Pass> nsys_operator_passes(const Config& config, const Toolset& tools, const fs::path& bundle) {
  const fs::path stem = fs::path(kOperatorsFolder) / "run";
  Pass pass = nsys_pass_to(stem, PassKind::kOperators, operator_config(config), tools, bundle);
  make_operator_pass(pass, bundle);
  Pass read = optional_export(PassKind::kOperatorsExport, stem, pass.process.label, config, tools, bundle);
  read.purpose = "export it to SQLite, which is read next";
  return {std::move(pass), std::move(read)};
}

Pass plan_nsys_export(const Config& config, const Tool& nsys, const fs::path& bundle_folder) {
  const fs::path bundle = absolute_bundle(bundle_folder);
  Pass pass;
  pass.kind = PassKind::kNsysExport;
  pass.even_if_stopped = true;
  pass.process.argv = nsys_export_argv(nsys, bundle / "nsys" / "run.nsys-rep", bundle / "nsys" / "run.sqlite");
  set_tool_env(pass, nsys);
  pass.process.not_found = ErrorKind::kTool;
  set_logs(pass, bundle);
  pass.process.timeout_s = config.nsys.export_timeout_s;
  pass.outputs = {"nsys/run.sqlite"};
  pass.purpose = "export the trace to SQLite, which is read next";
  return pass;
}

std::vector<std::string> nvtx_filters(const Config& config) {
  if (!config.ncu.nvtx_include.empty()) return config.ncu.nvtx_include;
  std::vector<std::string> filters;
  for (const auto& stage : config.run.stages)
    for (auto& filter : nvtx::ncu_include_filters(stage)) filters.push_back(std::move(filter));
  return filters;
}

void add_ncu_passes(Plan& plan) {
  plan.passes.push_back(plan_ncu(plan.config, plan.tools, plan.bundle, nullptr, plan.adaptations));
  for (auto& next : plan_ncu_exports(plan.config, *plan.tools.ncu, plan.bundle)) plan.passes.push_back(std::move(next));
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
