#include "orchestrator/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/error.h"
#include "nvtx/names.h"
#include "orchestrator/ncu_argv.h"
#include "orchestrator/nsys_argv.h"

namespace nl {
namespace fs = std::filesystem;
namespace {

fs::path absolute_bundle(const fs::path& bundle) { return fs::absolute(bundle).lexically_normal(); }

void append(std::vector<std::string>& argv, const std::vector<std::string>& more) {
  argv.insert(argv.end(), more.begin(), more.end());
}

// Environment, folder, logs and timeout of a pass that runs the workload.
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

// A library path of the tool's goes before the workload's own.
void set_tool_env(Pass& pass, const Tool& tool) {
  for (const auto& [variable, value] : tool.env) {
    auto& target = pass.process.env[variable];
    target = target.empty() ? value : value + ":" + target;
  }
}

// nsys and ncu load themselves into the workload this way; a library of somebody else in their place
// costs them the capture, and ncu refuses to start.
void clear_injections(Pass& pass, const Toolset& tools, std::vector<std::string>& adaptations) {
  for (const auto& variable : tools.injection_env) {
    pass.process.unset_env.push_back(variable);
    adaptations.push_back(fmt::format("{} is set: unset for the {} pass", variable, pass.name));
  }
}

Pass collector_pass(const Config& config, const Toolset& tools, const fs::path& bundle) {
  Pass pass = workload_pass("collector", config, bundle, config.nsys.timeout_s);
  pass.process.argv = config.workload.command;
  pass.process.env["NVTX_INJECTION64_PATH"] = tools.collector->string();
  pass.process.env["NL_STAGE_TRACE_DIR"] = (bundle / "collector").string();
  pass.outputs = {"collector"};
  pass.purpose = "run the workload with the NVTX collector loaded: stage timings, no kernels";
  pass.sample_power = true;
  return pass;
}

// The same library once more, where the CUDA driver loads it.
Pass cupti_pass(const Config& config, const Toolset& tools, const fs::path& bundle) {
  Pass pass = collector_pass(config, tools, bundle);
  auto& env = pass.process.env;
  env["CUDA_INJECTION64_PATH"] = tools.collector->string();
  env["NL_STAGE_CUDA_CALLS"] = config.capture.cuda_calls;
  env["NL_STAGE_GPU_BUFFER_KB"] = std::to_string(config.capture.buffer_kb);
  env["NL_STAGE_GPU_BUFFERS"] = std::to_string(config.capture.buffers);
  env["NL_STAGE_FLUSH_MS"] = std::to_string(config.capture.flush_ms);
  // Only where it was chosen: else the collector prefers the one that the workload itself has loaded.
  if (!config.tools.cupti.empty()) env["NL_STAGE_CUPTI"] = config.tools.cupti;
  pass.purpose = "run the workload with the collector loaded: kernels, copies, CUDA calls (CUPTI) and ranges";
  return pass;
}

Pass nsys_pass(const Config& config, const Toolset& tools, const fs::path& bundle,
               std::vector<std::string>& adaptations) {
  Pass pass = workload_pass("nsys", config, bundle, config.nsys.timeout_s);
  pass.process.argv = nsys_profile_argv(config, *tools.nsys, bundle / "nsys" / "run", adaptations);
  append(pass.process.argv, config.workload.command);
  set_tool_env(pass, *tools.nsys);
  clear_injections(pass, tools, adaptations);
  pass.outputs = {"nsys/run.nsys-rep"};
  pass.purpose = "trace the workload: kernels, API calls, ranges";
  pass.sample_power = true;
  return pass;
}

double shorter_timeout(double a, double b) { return a <= 0 ? b : b <= 0 ? a : std::min(a, b); }

// The workload with nothing but a stopwatch: what the traced passes are compared with.
Pass bare_pass(const Config& config, const Toolset& tools, const fs::path& bundle, int number) {
  const double timeout_s = shorter_timeout(config.nsys.timeout_s, config.perturbation.budget_s);
  Pass pass = workload_pass("bare", config, bundle, timeout_s);
  const fs::path folder = fs::path("bare") / std::to_string(number);
  pass.process.argv = config.workload.command;
  for (const auto& variable : tools.injection_env) pass.process.unset_env.push_back(variable);
  pass.process.env["NVTX_INJECTION64_PATH"] = tools.collector->string();
  pass.process.env["NL_STAGE_TRACE_DIR"] = (bundle / folder).string();
  pass.process.stdout_log = bundle / "logs" / fmt::format("bare-{}.stdout.log", number);
  pass.process.stderr_log = bundle / "logs" / fmt::format("bare-{}.stderr.log", number);
  pass.process.wait_for_tree = pass.process.signal_group = true;  // as in the collector pass
  pass.process.label = fmt::format("unprofiled pass {} of {}", number, config.perturbation.repeats);
  pass.outputs = {folder};
  pass.purpose = fmt::format("run the workload unprofiled, timed by the NVTX collector ({} of {})", number,
                             config.perturbation.repeats);
  pass.optional = pass.sample_power = true;
  return pass;
}

// The traced pass once more, for its timings alone, and its export. Neither is kept.
std::vector<Pass> nsys_repeat_passes(const Config& config, const Toolset& tools, const fs::path& bundle, int number) {
  const fs::path stem = fs::path("perturbation") / fmt::format("nsys-{}", number);
  std::vector<std::string> said_before;
  Pass pass = nsys_pass(config, tools, bundle, said_before);
  pass.name = "nsys-repeat";
  pass.process.argv = nsys_profile_argv(config, *tools.nsys, bundle / stem, said_before);
  append(pass.process.argv, config.workload.command);
  pass.process.stdout_log = bundle / "logs" / fmt::format("nsys-repeat-{}.stdout.log", number);
  pass.process.stderr_log = bundle / "logs" / fmt::format("nsys-repeat-{}.stderr.log", number);
  pass.process.timeout_s = shorter_timeout(config.nsys.timeout_s, config.perturbation.budget_s);
  pass.process.profiler = true;
  pass.process.not_found = ErrorKind::kTool;
  pass.process.label = fmt::format("traced pass {} of {}", number, config.perturbation.repeats);
  pass.outputs = {stem.string() + ".nsys-rep"};
  pass.purpose = fmt::format("trace the workload again, for its timings alone ({} of {})", number,
                             config.perturbation.repeats);
  pass.optional = true;
  pass.sample_power = false;
  Pass read = plan_nsys_export(config, *tools.nsys, bundle);
  read.name = "nsys-repeat-export";
  read.process.argv = nsys_export_argv(*tools.nsys, bundle / pass.outputs[0], bundle / (stem.string() + ".sqlite"));
  read.process.stdout_log = bundle / "logs" / fmt::format("nsys-repeat-export-{}.stdout.log", number);
  read.process.stderr_log = bundle / "logs" / fmt::format("nsys-repeat-export-{}.stderr.log", number);
  read.outputs = {stem.string() + ".sqlite"};
  read.purpose = "export it; the stages' times are read, and both files are deleted";
  read.optional = true;
  return {std::move(pass), std::move(read)};
}

// The capture, and around it what tells its cost: bare, nsys, bare, nsys … so that a machine that grows slower
// or faster does so for both.
void add_nsys_passes(Plan& plan, const Config& config, const Toolset& tools, const fs::path& bundle) {
  int repeats = config.perturbation.repeats;
  if (repeats > 0 && !tools.collector) {
    plan.adaptations.push_back("the collector was not found: how much profiling slows the workload is not measured");
    repeats = 0;
  }
  if (repeats > 0) plan.passes.push_back(bare_pass(config, tools, bundle, 1));
  plan.passes.push_back(nsys_pass(config, tools, bundle, plan.adaptations));
  plan.passes.push_back(plan_nsys_export(config, *tools.nsys, bundle));
  for (int number = 2; number <= repeats; ++number) {
    plan.passes.push_back(bare_pass(config, tools, bundle, number));
    for (auto& pass : nsys_repeat_passes(config, tools, bundle, number)) plan.passes.push_back(std::move(pass));
  }
}

// Why there will be no ncu pass; empty where there will be one.
std::string ncu_left_out(const Config& config, const Toolset& tools) {
  if (!tools.ncu) return "ncu was not found: the ncu pass is left out (nl-stage doctor says where it was looked for)";
  if (tools.gpus.empty())
    return fmt::format("no GPU was found{}: the ncu pass is left out, and the trace will hold no kernels",
                       tools.gpu_trouble.empty() ? "" : " (" + tools.gpu_trouble + ")");
  if (config.workload.command.empty()) return "there is no command";
  return {};
}

void add_ncu_passes(Plan& plan, const Config& config, const Toolset& tools, const fs::path& bundle) {
  if (!config.ncu.enabled) return;
  if (auto reason = ncu_left_out(config, tools); !reason.empty()) {
    plan.adaptations.push_back(reason);
    return;
  }
  // The names are known after the nsys pass; until then a placeholder stands in their place.
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
  plan.captured_by = "nsys+ncu";
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
    for (auto& filter : ncu_include_filters(stage)) filters.push_back(std::move(filter));
  return filters;
}

Plan make_plan(const Config& config, const Toolset& tools, const fs::path& bundle_folder) {
  if (config.workload.command.empty())
    throw Error(ErrorKind::kUsage, "there is no command to profile", "",
                "give it after --, or as workload.command in the configuration");
  const fs::path bundle = absolute_bundle(bundle_folder);
  Plan plan;
  const bool prefers_cupti = config.capture.prefer == "cupti" && tools.collector && !tools.gpus.empty();
  if (config.nsys.enabled && tools.nsys && !prefers_cupti) {
    plan.captured_by = "nsys";
    add_nsys_passes(plan, config, tools, bundle);
    add_ncu_passes(plan, config, tools, bundle);
    return plan;
  }
  const std::string reason = config.nsys.enabled ? "nsys was not found" : "nsys is switched off (nsys.enabled)";
  if (!tools.collector)
    throw Error(ErrorKind::kTool, reason + ", and the collector was not found", "",
                "nl-stage doctor says what is missing and how to get it");
  if (!tools.gpus.empty()) {
    plan.captured_by = kByCupti;
    if (!prefers_cupti) plan.adaptations.push_back(reason + ": the collector records kernels and ranges itself (CUPTI)");
    if (config.ncu.enabled)
      plan.adaptations.push_back("kernels are captured by the collector: the ncu pass, which needs nsys' trace, is left out");
    plan.passes.push_back(cupti_pass(config, tools, bundle));
    return plan;
  }
  plan.captured_by = "collector (NVTX only)";
  plan.adaptations.push_back(reason + ": the NVTX collector records the stages; kernels are not captured");
  if (config.ncu.enabled)
    plan.adaptations.push_back("without a trace there is nothing to choose kernels from: the ncu pass is left out");
  plan.passes.push_back(collector_pass(config, tools, bundle));
  return plan;
}

Pass plan_nsys_export(const Config& config, const Tool& nsys, const fs::path& bundle_folder) {
  const fs::path bundle = absolute_bundle(bundle_folder);
  Pass pass;
  pass.name = "nsys-export";
  pass.process.argv = nsys_export_argv(nsys, bundle / "nsys" / "run.nsys-rep", bundle / "nsys" / "run.sqlite");
  set_tool_env(pass, nsys);
  pass.process.stdout_log = bundle / "logs" / "nsys-export.stdout.log";
  pass.process.stderr_log = bundle / "logs" / "nsys-export.stderr.log";
  pass.process.timeout_s = config.nsys.export_timeout_s;
  pass.outputs = {"nsys/run.sqlite"};
  pass.purpose = "export the trace to SQLite, which is read next";
  return pass;
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

}  // namespace nl
