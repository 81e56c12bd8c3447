// Whole plans for several machines and configurations, each field of each pass: tests/fixtures/golden/plans.txt.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/error.h"
#include "orchestrator/capture/plan.h"
#include "tests/catch.h"
#include "tests/unit/golden.h"
#include "tests/unit/orchestrator/capture/pass_words.h"

using namespace nl;
using namespace nl::orchestrator;
using Strings = std::vector<std::string>;

namespace {

Tool whole_tool(const std::string& name, ToolVersion version) {
  Tool tool;
  tool.path = "/opt/" + name;
  tool.version = version;
  tool.env = {{"LD_LIBRARY_PATH", "/opt/lib/" + name}, {name + "_HOME", "/opt"}};
  return tool;
}

Toolset whole_machine() {
  Toolset tools;
  tools.nsys = whole_tool("nsys", {2025, 3, 1});
  tools.ncu = whole_tool("ncu", {2025, 3, 2});
  tools.gpus = {"NVIDIA H200"};
  tools.collector = "/lib/libnl_collector.so";
  tools.nvml = "/lib/libnvidia-ml.so.1";
  tools.injection_env = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
  return tools;
}

// Every value differs from every other, so that two that are mixed up show.
Config whole_config() {
  Config config;
  config.workload.command = {"./w", "an argument"};
  config.workload.working_directory = "/work here";
  config.workload.env = {{"HF_TOKEN", "s3cret"}, {"LD_LIBRARY_PATH", "/own/lib"}, {"MASKED", kMaskedValue}};
  config.run.top_n_kernels = 7;
  config.nsys.timeout_s = 101;
  config.nsys.export_timeout_s = 102;
  config.ncu.timeout_s = 103;
  config.ncu.export_timeout_s = 104;
  config.ncu.metrics = {"m.sum"};
  config.perturbation.repeats = 2;
  config.perturbation.budget_s = 99;
  config.capture.counter_metrics = {"a.sum", "b.sum"};
  config.capture.replay_metrics = {"c.avg"};
  config.capture.sampling_metrics = {"d.avg", "e.avg"};
  config.capture.counter_launches = 5;
  config.tools.cupti = "/c/libcupti.so";
  return config;
}

std::string flags_of(const Pass& pass) {
  const ProcessSpec& process = pass.process;
  Strings flags;
  const auto add = [&](bool set, const char* word) {
    if (set) flags.push_back(word);
  };
  add(pass.optional, "optional");
  add(pass.sample_power, "sample_power");
  add(pass.even_if_stopped, "even_if_stopped");
  add(process.forward_output, "forward_output");
  add(process.signal_group, "signal_group");
  add(process.wait_for_tree, "wait_for_tree");
  add(process.profiler, "profiler");
  add(process.not_found == ErrorKind::kTool, "is_tool");
  return fmt::format("{}", fmt::join(flags, " "));
}

std::string told(const Pass& pass) {
  const ProcessSpec& process = pass.process;
  std::string text = fmt::format("  {}: {}\n    label [{}], {} s, in [{}], {}\n    {}\n", key_of(pass.kind), pass.purpose, process.label,
                                 process.timeout_s, process.working_directory.string(), flags_of(pass), fmt::join(process.argv, " | "));
  for (auto [name, value] : process.env) {
    std::replace(value.begin(), value.end(), '\n', ' ');  // the ranges to count, one a line
    text += fmt::format("    env {}={}\n", name, value);
  }
  for (const auto& [name, value] : process.prepend_env) text += fmt::format("    before {}: {}\n", name, value);
  text += fmt::format("    unset [{}], private [{}]\n    logs {} {}\n", fmt::join(process.unset_env, " "), fmt::join(pass.private_env, " "),
                      process.stdout_log.string(), process.stderr_log.string());
  for (const auto& output : pass.outputs) text += fmt::format("    makes {}\n", output.string());
  return text;
}

std::string told(const Strings& remarks) {
  std::string text;
  for (const auto& remark : remarks) text += "  note: " + remark + "\n";
  return text;
}

std::string told(const std::string& title, const Config& config, const Toolset& tools) {
  const Plan plan = make_plan(config, tools, "/b/x/../bundle");
  CHECK(plan.bundle == "/b/bundle");
  CHECK(plan.config.run.top_n_kernels == config.run.top_n_kernels);
  CHECK(plan.tools.gpus == tools.gpus);
  std::string text = fmt::format("== {}\n  {}: {}\n", title, captured_by(plan.tracer, plan.meter), plan.why);
  for (const Pass& pass : plan.passes) text += told(pass);
  return text + told(test::texts_of(plan.adaptations)) + "\n";
}

// What a second try of either meter is.
std::string told_second_tries(const Config& config, const Toolset& tools) {
  std::vector<Remark> notes;
  NcuRequest request;
  request.kernels = {{"name<1>", "_Zname", "name"}, {"other<1>", "_Zother", "other"}};
  request.attempt = 2;
  std::string text = "== second tries\n" + told(plan_ncu(config, tools, "/b/x/../bundle", &request, notes));
  request.kernel_name_base = KernelNameBase::kDemangled;
  Config no_ranges = config;
  no_ranges.run.stages.clear();
  text += told(plan_ncu(no_ranges, tools, "/b/bundle", &request, notes));
  request.nvtx_include = {"mine/"};
  request.attempt = 1;
  text += told(plan_ncu(config, tools, "/b/bundle", &request, notes));
  text += told(plan_kernel_counters(config, tools, "/b/x/../bundle", {3, true, 2}));
  text += told(plan_kernel_counters(config, tools, "/b/bundle", {4, false, 1}));
  return text + told(test::texts_of(notes));
}

}  // namespace

TEST_CASE("whole plans: every field of every pass, for several machines", "[golden]") {
  const Config config = whole_config();
  const Toolset machine = whole_machine();
  std::string text = told("nsys and ncu", config, machine);

  Config shorter = config;
  shorter.perturbation.budget_s = 0;
  shorter.ncu.details_csv = false;
  shorter.ncu.nvtx_include = {"mine/"};
  shorter.ncu.kernel_name_base = "function";
  shorter.ncu.import_sass = true;
  shorter.nsys.capture_range = "nvtx";
  shorter.nsys.nvtx_capture = "decode@LLM";
  text += told("no budget, a filter of its own", shorter, machine);
  shorter.nsys.timeout_s = 0;
  shorter.perturbation.budget_s = 55;
  shorter.ncu.enabled = false;
  Toolset old = machine;
  old.nsys->help_options = {"--trace", "--output"};
  old.injection_env.clear();
  text += told("no timeout, an old nsys, no ncu wanted", shorter, old);
  shorter.perturbation.repeats = 1;
  shorter.ncu.enabled = true;
  old.ncu->help_options = {"--launch-count"};
  old.nsys.reset();
  text += told("the collector and an old ncu", shorter, old);

  Config cupti = config;
  cupti.capture.prefer = cupti.capture.counters = "cupti";
  cupti.capture.sampling_us = 500;
  text += told("CUPTI, activity sampled", cupti, machine);
  cupti.capture.pc_sampling = 18;
  cupti.capture.cuda_graphs = "graph";
  cupti.capture.stage_counters = false;
  cupti.tools.cupti.clear();
  cupti.perturbation.repeats = 0;
  text += told("CUPTI, stalls sampled", cupti, machine);

  Toolset no_gpu = machine;
  no_gpu.gpus.clear();
  text += told("no GPU: nsys instead of CUPTI", cupti, no_gpu);
  no_gpu.nsys.reset();
  text += told("no GPU, no nsys", cupti, no_gpu);
  cupti.capture.counters = "off";
  cupti.capture.pc_sampling = cupti.capture.sampling_us = 0;
  text += told("no GPU, no nsys, no counters wanted", cupti, no_gpu);
  cupti.capture.counters = "auto";
  text += told("no GPU, no nsys, ncu wanted", cupti, no_gpu);
  cupti.ncu.enabled = false;
  text += told("no GPU, no nsys, ncu not wanted", cupti, no_gpu);

  Toolset silent = machine;
  silent.gpus.clear();
  silent.nvml.reset();
  silent.ncu.reset();
  Config unnamed = config;
  unnamed.perturbation.repeats = 0;
  text += told("NVML not found, the collector counts", unnamed, silent);
  unnamed.capture.counter_metrics.clear();
  unnamed.capture.replay_metrics.clear();
  text += told("no metric to count by the collector", unnamed, silent);

  test::check_golden(test::kGolden + "plans.txt", text + told_second_tries(config, machine));
}

TEST_CASE("a plan that cannot be made says what to do") {
  const auto refusal = [](const Config& config, const Toolset& tools) {
    try {
      make_plan(config, tools, "/b");
    } catch (const Error& error) {
      return fmt::format("{} {} -> {}",
                         error.kind == ErrorKind::kUsage  ? "usage:"
                         : error.kind == ErrorKind::kTool ? "tool:"
                                                          : "?",
                         error.message, error.fix);
    }
    return std::string("a plan");
  };
  Config config = whole_config();
  Toolset tools = whole_machine();
  tools.collector.reset();
  CHECK(refusal(config, tools) == "a plan");
  tools.nsys.reset();
  CHECK(refusal(config, tools) ==
        "tool: nsys was not found, and the collector was not found -> nl-stage doctor says what is missing and how to get it");
  config.nsys.enabled = false;
  CHECK(refusal(config, whole_machine()) == "a plan");
  CHECK(refusal(config, tools).starts_with("tool: nsys is switched off (nsys.enabled), and the collector was not found"));
  config.workload.command.clear();
  CHECK(refusal(config, whole_machine()) ==
        "usage: there is no command to profile -> give it at the end of the line, or as workload.command in the configuration");
}
