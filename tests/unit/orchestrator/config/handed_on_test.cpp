// Every key does something: what it sets arrives in the commands of the plan, or it is named here as one that works elsewhere.
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "orchestrator/capture/plan.h"
#include "orchestrator/config/config.h"
#include "orchestrator/config/keys.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/capture/pass_words.h"

using namespace nl::orchestrator;

namespace {

// Pass → everything that its process is given: " words of argv", " NAME=value", " in FOLDER", " within SECONDS".
std::map<std::string, std::string> planned(const std::string& runner, std::vector<std::string> sets) {
  ConfigRequest request;
  request.runner_file = runner;
  request.sets = std::move(sets);
  if (runner != "profile") request.command = {"./workload"};
  const auto json = nlohmann::json::parse(plan_json(make_plan(load_config(request), nl::test::all_tools(), "/bundle")));
  std::map<std::string, std::string> passes;
  for (const auto& pass : json["passes"]) {
    std::string& text = passes[pass["name"]];
    for (const auto& word : pass["argv"]) text += " " + word.get<std::string>();
    for (const auto& [name, value] : pass["env"].items()) text += " " + name + "=" + value.get<std::string>();
    text += " in " + pass["working_directory"].get<std::string>() + " within " + pass["timeout_s"].dump() + " ";
  }
  return passes;
}

struct Effect {
  const char *key, *value, *runner, *pass, *text;
  const char* also = "";  // another --set that it needs
};

// Both keys: a backend without a model is refused.
constexpr const char* kAnyModel = "session={backend: fake, model: /m}";

const std::vector<Effect> kEffects = {
    {"run.top_n_kernels", "7", "deep", "ncu", "the 7 kernels"},
    {"run.stages", "[draft]", "deep", "ncu", " LLM@draft/ "},
    {"workload.working_directory", "/data", "deep", "nsys", " in /data "},
    {"workload.env", "{MINE: x}", "deep", "ncu", " MINE="},
    {"workload.hydra", "true", "deep", "ncu", " hydra.run.dir=/bundle/hydra/ncu "},
    {"workload.hydra_chdir", "false", "deep", "nsys", " hydra.job.chdir=false ", "workload.hydra=true"},
    {"session.backend", "libtorch", "profile", "nsys", " --backend libtorch ", "session.model=m"},
    {"session.model", "/m.onnx", "profile", "nsys", " --model /m.onnx ", "session.backend=fake"},
    {"session.provider", "cuda", "profile", "nsys", " --provider cuda ", kAnyModel},
    {"session.precision", "bf16", "profile", "nsys", " --precision bf16 ", kAnyModel},
    {"session.inputs", "zeros", "profile", "nsys", " --inputs zeros ", kAnyModel},
    {"session.seed", "9", "profile", "nsys", " --seed 9 ", kAnyModel},
    {"session.dims", "[batch=4]", "profile", "nsys", " --dim batch=4 ", kAnyModel},
    {"session.shapes", "[x=2x16:float32]", "profile", "nsys", " --shape x=2x16:float32 ", kAnyModel},
    {"session.iterations", "77", "profile", "nsys", " --iterations 77 ", kAnyModel},
    {"session.warmup", "78", "profile", "nsys", " --warmup 78 ", kAnyModel},
    {"session.threads", "79", "profile", "nsys", " --threads 79 ", kAnyModel},
    {"tools.cupti", "/opt/libcupti.so", "cupti", "collector", " NL_STAGE_CUPTI=/opt/libcupti.so "},
    {"capture.prefer", "cupti", "deep", "collector", " NL_STAGE_CUDA_CALLS=work "},
    {"capture.cuda_calls", "all", "cupti", "collector", " NL_STAGE_CUDA_CALLS=all "},
    {"capture.cuda_graphs", "graph", "cupti", "collector", " NL_STAGE_CUDA_GRAPHS=graph "},
    {"capture.buffer_kb", "128", "cupti", "collector", " NL_STAGE_GPU_BUFFER_KB=128 "},
    {"capture.buffers", "9", "cupti", "collector", " NL_STAGE_GPU_BUFFERS=9 "},
    {"capture.flush_ms", "77", "cupti", "collector", " NL_STAGE_FLUSH_MS=77 "},
    {"capture.counters", "cupti", "deep", "counters-kernels", " ./workload "},
    {"capture.counter_metrics", "[my__metric.sum]", "cupti", "counters-kernels", "=my__metric.sum "},
    {"capture.replay_metrics", "[my__metric.sum]", "cupti", "counters-kernels", " NL_STAGE_COUNTER_REPLAY_METRICS=my__metric.sum "},
    {"capture.counter_launches", "6", "cupti", "counters-kernels", " NL_STAGE_COUNTER_LAUNCHES=6 "},
    {"capture.sampling_us", "250", "cupti", "collector", " NL_STAGE_PM_SAMPLING_US=250 "},
    {"capture.sampling_metrics", "[my__metric.sum]", "sampling", "collector", " NL_STAGE_PM_METRICS=my__metric.sum "},
    {"capture.pc_sampling", "18", "cupti", "collector", " NL_STAGE_PC_SAMPLING=18 "},
    {"mark.host_samples_hz", "250", "deep", "nsys", " NL_STAGE_HOST_SAMPLES_HZ=250 "},
    {"nsys.trace", "[cudnn]", "deep", "nsys", " --trace=cudnn "},
    {"nsys.sample", "system-wide", "deep", "nsys", " --sample=system-wide "},
    {"nsys.cpuctxsw", "process-tree", "deep", "nsys", " --cpuctxsw=process-tree "},
    {"nsys.cuda_graph_trace", "graph", "deep", "nsys", " --cuda-graph-trace=graph "},
    {"capture.duty", "1/10", "cupti", "collector", " NL_STAGE_DUTY=1/10 "},
    {"nsys.pytorch", "autograd-nvtx", "deep", "nsys", " --pytorch=autograd-nvtx "},
    {"nsys.capture_range", "cudaProfilerApi", "deep", "nsys", " --capture-range=cudaProfilerApi "},
    {"nsys.nvtx_capture", "mine@LLM", "deep", "nsys", " --nvtx-capture=mine@LLM ", "nsys.capture_range=nvtx"},
    {"nsys.capture_range_end", "repeat:3", "deep", "nsys", " --capture-range-end=repeat:3 ", "nsys.capture_range=cudaProfilerApi"},
    {"nsys.timeout_s", "1234", "deep", "nsys", " within 1234.0 "},
    {"nsys.export_timeout_s", "1234", "deep", "nsys-export", " within 1234.0 "},
    {"nsys.extra_args", "[--gpu-metrics-devices=0]", "deep", "nsys", " --gpu-metrics-devices=0 "},
    {"ncu.enabled", "true", "light", "ncu", " --launch-count 1 "},
    {"ncu.target_processes", "application-only", "deep", "ncu", " --target-processes application-only "},
    {"ncu.nvtx.include", "[mine/]", "deep", "ncu", " --nvtx-include mine/ "},
    {"ncu.set", "full", "deep", "ncu", " --set full "},
    {"ncu.sections", "[WarpStateStats]", "deep", "ncu", " --section WarpStateStats "},
    {"ncu.metrics", "[my__metric.sum]", "deep", "ncu", " --metrics my__metric.sum "},
    {"ncu.replay_mode", "application", "deep", "ncu", " --replay-mode application "},
    {"ncu.kernel_name_base", "demangled", "deep", "ncu", " --kernel-name-base demangled "},
    {"ncu.clock_control", "base", "deep", "ncu", " --clock-control base "},
    {"ncu.cache_control", "none", "deep", "ncu", " --cache-control none "},
    {"ncu.graph_profiling", "graph", "deep", "ncu", " --graph-profiling graph "},
    {"ncu.filter_mode", "global", "deep", "ncu", " --filter-mode global "},
    {"ncu.launch_skip", "5", "deep", "ncu", " --launch-skip 5 "},
    {"ncu.launch_count", "6", "deep", "ncu", " --launch-count 6 "},
    {"ncu.timeout_s", "1234", "deep", "ncu", " within 1234.0 "},
    {"ncu.export_timeout_s", "1234", "deep", "ncu-export-raw", " within 1234.0 "},
    {"ncu.extra_args", "[--verbose]", "deep", "ncu", " --verbose "},
    {"perturbation.repeats", "2", "light", "unprofiled", " ./workload "},
    {"mark.engine", "vllm", "light", "nsys", " VLLM_NVTX_SCOPES_FOR_PROFILING=1 "},
    {"perturbation.budget_s", "99", "deep", "unprofiled", " within 99.0 "},
};

// A value that takes something out of the plan.
const std::vector<Effect> kRemovals = {
    {"run.mode", "light", "deep", "ncu", " "},
    {"nsys.enabled", "false", "deep", "nsys", " "},
    {"capture.stage_counters", "false", "cupti", "counters-stages", " "},
    {"ncu.export.details_csv", "false", "deep", "ncu-export-details", " "},
    {"ncu.import_sass", "true", "deep", "ncu", " --import-sass no "},
    {"mark.auto", "false", "deep", "nsys", " NL_STAGE_MARK=1 "},
    {"mark.operators", "false", "deep", "operators", " "},
};

// No part of a plan: they name the bundle, choose what is written or analysed, or are read where tools are looked for.
const std::set<std::string_view> kElsewhere = {"run.name",
                                               "run.budget_s",
                                               "capture.max_size",
                                               "stages.map",
                                               "analysis.warmup",
                                               "analysis.warmup_factor",
                                               "analysis.rules",
                                               "artifacts.dir",
                                               "artifacts.keep_env",
                                               "artifacts.perfetto",
                                               "ledger.enabled",
                                               "ledger.path",
                                               "ledger.keep_last",
                                               "ledger.keep_tagged",
                                               "workload.command",
                                               "workload.inputs",
                                               "tools.nsys",
                                               "tools.ncu",
                                               "tools.nvml",
                                               "tools.collector",
                                               "nsys.export.stats_csv",
                                               "nsys.export.sqlite",
                                               "energy.enabled",
                                               "energy.interval_ms",
                                               "device.file",
                                               "perturbation.calibrate",
                                               "perturbation.most_repeats",
                                               "perturbation.limit"};

bool given(const std::map<std::string, std::string>& passes, const Effect& effect) {
  const auto pass = passes.find(effect.pass);
  return pass != passes.end() && pass->second.find(effect.text) != std::string::npos;
}

std::vector<std::string> sets_of(const Effect& effect, bool with_key) {
  std::vector<std::string> sets;
  if (*effect.also) sets.push_back(effect.also);
  if (std::string(effect.runner) == "profile" && !with_key) sets = {kAnyModel};
  if (std::string(effect.key) == "nsys.nvtx_capture" && !with_key) sets.push_back("nsys.nvtx_capture=other@LLM");
  if (with_key) sets.push_back(std::string(effect.key) + "=" + effect.value);
  return sets;
}

}  // namespace

TEST_CASE("what a key sets is handed on to the pass that it is for") {
  for (const Effect& effect : kEffects) {
    INFO(effect.key << ", " << effect.pass << ":" << planned(effect.runner, sets_of(effect, true))[effect.pass]);
    CHECK(given(planned(effect.runner, sets_of(effect, true)), effect));
    CHECK_FALSE(given(planned(effect.runner, sets_of(effect, false)), effect));
  }
}

TEST_CASE("what a key switches off is out of the plan") {
  for (const Effect& effect : kRemovals) {
    INFO(effect.key);
    CHECK(given(planned(effect.runner, {}), effect));
    CHECK_FALSE(given(planned(effect.runner, {std::string(effect.key) + "=" + effect.value}), effect));
  }
}

TEST_CASE("every key has an effect that is tested, or is known to work elsewhere") {
  std::set<std::string_view> known = kElsewhere;
  for (const auto* effects : {&kEffects, &kRemovals})
    for (const Effect& effect : *effects) known.insert(effect.key);
  std::vector<std::string_view> unknown;
  for (const auto& key : config_keys())
    if (!key.path.starts_with("model.") && !known.contains(key.path)) unknown.push_back(key.path);
  CHECK(unknown == std::vector<std::string_view>{});
}

TEST_CASE("run.mode plans the passes of the runner of that name, and keys beside or after it win") {
  const auto passes = [](const char* runner, std::vector<std::string> sets) {
    std::vector<std::string> names;
    for (const auto& [name, given] : planned(runner, std::move(sets))) names.push_back(name);
    return names;
  };
  CHECK(passes("deep", {}) != passes("light", {}));
  CHECK(passes("deep", {"run.mode=light"}) == passes("light", {}));
  CHECK(passes("light", {"run.mode=deep"}) == passes("deep", {}));
  CHECK(passes("deep", {"run={mode: light}"}) == passes("light", {}));
  CHECK(passes("deep", {"run.mode=light", "run.mode=deep"}) == passes("deep", {}));
  const auto beside = load_config({.runner_file = "deep", .sets = {"run.mode=light", "perturbation.repeats=2"}});
  CHECK(beside.perturbation.repeats == 2);
  CHECK_FALSE(beside.ncu.enabled);
  CHECK(load_config({.runner_file = "cupti"}).capture.counters == "cupti");  // deep, and its own key wins
  CHECK(passes("cupti", {"run.mode=light"}) == std::vector<std::string>{"collector"});
}

TEST_CASE("--set compose applies presets at that point") {
  CHECK(load_config({.runner_file = "light", .sets = {"compose=[profiling/nsys/pytorch]"}}).nsys.pytorch == "autograd-shapes-nvtx");
  const auto later = load_config({.runner_file = "light", .sets = {"compose=[profiling/nsys/pytorch]", "nsys.pytorch=none"}});
  CHECK(later.nsys.pytorch == "none");
  const auto refused = [](const std::string& set) {
    try {
      load_config({.runner_file = "light", .sets = {set}});
    } catch (const nl::Error& error) {
      return error.message + " | " + error.where;
    }
    return std::string("no error");
  };
  CHECK(refused("compose=[profiling/nsys/pytorhc]") ==
        "there is no configuration file 'profiling/nsys/pytorhc' | --set compose=[profiling/nsys/pytorhc]");
  CHECK(refused("compose=profiling/nsys/pytorch") == "compose wants a list of preset names | --set compose=profiling/nsys/pytorch");
}
