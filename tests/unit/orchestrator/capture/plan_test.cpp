#include "orchestrator/capture/plan.h"

#include <algorithm>

#include "model/error.h"
#include "model/strings.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/capture/pass_words.h"

using nl::test::config_for;
using nl::test::names_of;
using nl::test::texts_of;
using nl::test::WordList;

namespace {

nl::orchestrator::Toolset gpu_machine() {
  nl::orchestrator::Toolset tools;
  tools.nsys.emplace();
  tools.nsys->path = "/opt/nsys";
  tools.ncu.emplace();
  tools.ncu->path = "/opt/ncu";
  tools.gpus = {"NVIDIA H200"};
  tools.collector = "/lib/libnl_collector.so";
  tools.nvml = "/lib/libnvidia-ml.so.1";
  return tools;
}

bool has(const WordList& words, const std::string& word) { return std::find(words.begin(), words.end(), word) != words.end(); }

}  // namespace

TEST_CASE("on a GPU: nsys, its export, ncu, its exports") {
  const auto plan = nl::orchestrator::make_plan(config_for({"python", "x.py"}), gpu_machine(), "/b");
  CHECK(names_of(plan) == WordList{"nsys", "nsys-export", "ncu", "ncu-export-raw", "ncu-export-details"});
  CHECK(captured_by(plan.tracer, plan.meter) == "nsys+ncu");
  CHECK(texts_of(plan.adaptations).empty());
  const auto& argv = plan.passes[0].process.argv;
  CHECK(WordList(argv.end() - 3, argv.end()) == WordList{"--output=/b/nsys/run", "python", "x.py"});
  CHECK(plan.passes[0].process.timeout_s == 1800);
  CHECK(plan.passes[0].process.stdout_log == "/b/logs/nsys.stdout.log");
  CHECK(plan.passes[0].outputs.front() == "nsys/run.nsys-rep");
  CHECK(has(plan.passes[2].process.argv, "regex:^(<the 10 kernels that the trace ranks first>)$"));
  CHECK(has(plan.passes[2].process.argv, "LLM@prefill/"));
  CHECK(has(plan.passes[2].process.argv, "LLM\\@prefill/"));
  CHECK(has(plan.passes[2].process.argv, "LLM@decode_all"));
  CHECK(plan.passes[3].process.stdout_log == "/b/ncu/raw.csv");
  CHECK(plan.passes[3].process.env.at("LC_ALL") == "C");
}

TEST_CASE("unprofiled passes take turns with traced ones, before ncu") {
  auto config = config_for({"python", "x.py"});
  config.perturbation.repeats = 3;
  auto tools = gpu_machine();
  tools.injection_env = {"CUDA_INJECTION64_PATH"};
  const auto plan = nl::orchestrator::make_plan(config, tools, "/b");
  CHECK(names_of(plan) == WordList{"unprofiled", "nsys", "nsys-export", "unprofiled", "nsys-repeat", "nsys-repeat-export", "unprofiled",
                                   "nsys-repeat", "nsys-repeat-export", "ncu", "ncu-export-raw", "ncu-export-details"});
  CHECK(captured_by(plan.tracer, plan.meter) == "nsys+ncu");
  const auto& bare = plan.passes[3];
  CHECK(bare.process.argv == WordList{"python", "x.py"});
  CHECK(bare.process.env == std::map<std::string, std::string>{{"NVTX_INJECTION64_PATH", "/lib/libnl_collector.so"},
                                                               {"NL_STAGE_TRACE_DIR", "/b/unprofiled/2"},
                                                               {"NL_STAGE_RUN", nl::stable_hash_text("/b", 16)}});
  CHECK(bare.process.unset_env == WordList{"CUDA_INJECTION64_PATH"});
  CHECK(bare.process.timeout_s == 180);
  CHECK(bare.optional);
  CHECK(bare.sample_power);
  // The same trace but for where it lands.
  auto expected = plan.passes[1].process.argv;
  std::replace(expected.begin(), expected.end(), std::string("--output=/b/nsys/run"), std::string("--output=/b/perturbation/nsys-2"));
  CHECK(plan.passes[4].process.argv == expected);
  CHECK(plan.passes[4].optional);
  CHECK(has(plan.passes[5].process.argv, "/b/perturbation/nsys-2.nsys-rep"));
  CHECK_FALSE(plan.passes[1].optional);
  CHECK(plan.adaptations.size() == 2);  // the injection of nsys and ncu, not of each repetition
  const std::string text = nl::orchestrator::describe_plan(plan);
  CHECK(text.find("# 4. unprofiled: run the workload unprofiled, timed by the NVTX collector (2 of 3)") != std::string::npos);
}

TEST_CASE("unprofiled passes take turns with the collector's, before it counts") {
  auto config = config_for({"python", "x.py"});
  config.perturbation.repeats = 2;
  config.capture.prefer = config.capture.counters = "cupti";
  const auto plan = nl::orchestrator::make_plan(config, gpu_machine(), "/b");
  CHECK(names_of(plan) == WordList{"unprofiled", "collector", "unprofiled", "collector-repeat", "counters-stages", "counters-kernels"});
  // The same but for where it lands, and how long it may take.
  auto expected = plan.passes[1].process.env;
  expected["NL_STAGE_TRACE_DIR"] = "/b/perturbation/collector-2";
  CHECK(plan.passes[3].process.env == expected);
  CHECK(plan.passes[3].process.argv == WordList{"python", "x.py"});
  CHECK(plan.passes[3].process.timeout_s == 180);
  CHECK((plan.passes[3].optional && !plan.passes[3].sample_power && !plan.passes[1].optional));
  CHECK_FALSE(plan.passes[2].process.env.contains("CUDA_INJECTION64_PATH"));
}

TEST_CASE("an unprofiled run has one pass, whatever tools there are, and nothing of CUPTI in it") {
  auto config = config_for({"python", "x.py"});
  config.capture.prefer = "ranges";
  config.perturbation.repeats = 3;
  const auto plan = nl::orchestrator::make_plan(config, gpu_machine(), "/b");
  CHECK(names_of(plan) == WordList{"collector"});
  CHECK(plan.tracer == nl::Tracer::kRanges);
  CHECK(plan.why == "capture.prefer is ranges");
  CHECK(plan.adaptations.empty());
  CHECK(plan.passes[0].process.argv == WordList{"python", "x.py"});
  CHECK(plan.passes[0].process.env.contains("NVTX_INJECTION64_PATH"));
  CHECK_FALSE(plan.passes[0].process.env.contains("CUDA_INJECTION64_PATH"));
}

TEST_CASE("stalls are sampled by kernel, so graphs are then traced by their nodes") {
  auto config = config_for({"x"});
  config.capture.prefer = "cupti";
  config.capture.cuda_graphs = "graph";
  CHECK(nl::orchestrator::make_plan(config, gpu_machine(), "/b").passes[0].process.env.at("NL_STAGE_CUDA_GRAPHS") == "graph");
  config.capture.pc_sampling = 18;
  const auto plan = nl::orchestrator::make_plan(config, gpu_machine(), "/b");
  CHECK(plan.passes[0].process.env.at("NL_STAGE_CUDA_GRAPHS") == "node");
  CHECK(plan.adaptations.back().code == nl::Code::kGraphNodesForStalls);
}

TEST_CASE("without the collector there is no stopwatch, and the plan says so") {
  auto config = config_for({"x"});
  config.perturbation.repeats = 3;
  auto tools = gpu_machine();
  tools.collector.reset();
  const auto plan = nl::orchestrator::make_plan(config, tools, "/b");
  CHECK(names_of(plan) == WordList{"nsys", "nsys-export", "ncu", "ncu-export-raw", "ncu-export-details"});
  CHECK(texts_of(plan.adaptations) == WordList{"The collector was not found: the overhead of profiling is not measured."});
}

TEST_CASE("what is missing is left out and said") {
  auto tools = gpu_machine();
  tools.gpus.clear();
  auto plan = nl::orchestrator::make_plan(config_for({"x"}), tools, "/b");
  CHECK(names_of(plan) == WordList{"nsys", "nsys-export"});
  CHECK(captured_by(plan.tracer, plan.meter) == "nsys");
  CHECK(texts_of(plan.adaptations) == WordList{"No GPU was found: the passes that count are left out."});
  tools = gpu_machine();
  tools.ncu.reset();
  tools.collector.reset();
  plan = nl::orchestrator::make_plan(config_for({"x"}), tools, "/b");
  CHECK(names_of(plan) == WordList{"nsys", "nsys-export"});
  CHECK(captured_by(plan.tracer, plan.meter) == "nsys");
  CHECK(texts_of(plan.adaptations) == WordList{"ncu was not found: its pass is left out."});
  // Where NVML says nothing there may be a GPU: the trace decides.
  tools = gpu_machine();
  tools.gpus.clear();
  tools.gpu_trouble = "no such library";
  plan = nl::orchestrator::make_plan(config_for({"x"}), tools, "/b");
  CHECK(names_of(plan) == WordList{"nsys", "nsys-export", "ncu", "ncu-export-raw", "ncu-export-details"});
  CHECK(texts_of(plan.adaptations) == WordList{"No GPU was found (no such library): counters are measured only if the trace has kernels."});
  tools.ncu.reset();
  tools.collector.reset();
  auto quiet = config_for({"x"});
  quiet.ncu.enabled = false;
  CHECK(nl::orchestrator::make_plan(quiet, tools, "/b").adaptations.empty());
}

TEST_CASE("without nsys the collector records kernels where there is a GPU") {
  auto tools = gpu_machine();
  tools.nsys.reset();
  auto config = config_for({"./w", "a"});
  config.tools.cupti = "/c/libcupti.so.13";
  config.capture.cuda_calls = "all";
  config.capture.cuda_graphs = "graph";
  config.ncu.enabled = false;
  const auto plan = nl::orchestrator::make_plan(config, tools, "/b");
  REQUIRE(names_of(plan) == WordList{"collector"});
  CHECK(plan.tracer == nl::Tracer::kCupti);
  CHECK(plan.passes[0].process.env == std::map<std::string, std::string>{{"CUDA_INJECTION64_PATH", "/lib/libnl_collector.so"},
                                                                         {"NVTX_INJECTION64_PATH", "/lib/libnl_collector.so"},
                                                                         {"NL_STAGE_TRACE_DIR", "/b/collector"},
                                                                         {"NL_STAGE_RUN", nl::stable_hash_text("/b", 16)},
                                                                         {"NL_STAGE_CUPTI", "/c/libcupti.so.13"},
                                                                         {"NL_STAGE_CUDA_CALLS", "all"},
                                                                         {"NL_STAGE_CUDA_GRAPHS", "graph"},
                                                                         {"NL_STAGE_GPU_BUFFER_KB", "4096"},
                                                                         {"NL_STAGE_GPU_BUFFERS", "64"},
                                                                         {"NL_STAGE_FLUSH_MS", "1000"}});
  CHECK(texts_of(plan.adaptations) == WordList{"nsys was not found: the collector records kernels and ranges (CUPTI)."});
}

TEST_CASE("the collector is chosen although nsys is there, but not without a GPU or a collector") {
  auto config = config_for({"x"});
  config.capture.prefer = "cupti";
  config.ncu.enabled = false;
  auto plan = nl::orchestrator::make_plan(config, gpu_machine(), "/b");
  CHECK(names_of(plan) == WordList{"collector"});
  CHECK(plan.tracer == nl::Tracer::kCupti);
  CHECK(texts_of(plan.adaptations).empty());
  CHECK(plan.passes[0].process.env.count("NL_STAGE_CUPTI") == 0);
  auto tools = gpu_machine();
  tools.gpus.clear();
  CHECK(nl::orchestrator::make_plan(config, tools, "/b").tracer == nl::Tracer::kNsys);
  tools = gpu_machine();
  tools.collector.reset();
  CHECK(nl::orchestrator::make_plan(config, tools, "/b").tracer == nl::Tracer::kNsys);
}

TEST_CASE("without nsys and without a GPU the collector records ranges") {
  auto tools = gpu_machine();
  tools.nsys.reset();
  tools.gpus.clear();
  auto config = config_for({"./w", "a"});
  config.workload.working_directory = "/w";
  const auto plan = nl::orchestrator::make_plan(config, tools, "/b");
  REQUIRE(names_of(plan) == WordList{"collector"});
  CHECK(captured_by(plan.tracer, plan.meter) == "collector (NVTX only)");
  CHECK(plan.passes[0].process.argv == WordList{"./w", "a"});
  CHECK(plan.passes[0].process.working_directory == "/w");
  CHECK(plan.passes[0].process.env == std::map<std::string, std::string>{{"NVTX_INJECTION64_PATH", "/lib/libnl_collector.so"},
                                                                         {"NL_STAGE_TRACE_DIR", "/b/collector"},
                                                                         {"NL_STAGE_RUN", nl::stable_hash_text("/b", 16)}});
  CHECK(plan.adaptations.size() == 2);
  tools.collector.reset();
  CHECK_THROWS_AS(nl::orchestrator::make_plan(config, tools, "/b"), nl::Error);
  CHECK_THROWS_AS(nl::orchestrator::make_plan(config_for({}), gpu_machine(), "/b"), nl::Error);
}

TEST_CASE("somebody else's injection is unset for the tools") {
  auto tools = gpu_machine();
  tools.injection_env = {"CUDA_INJECTION64_PATH"};
  const auto plan = nl::orchestrator::make_plan(config_for({"x"}), tools, "/b");
  CHECK(plan.passes[0].process.unset_env == WordList{"CUDA_INJECTION64_PATH"});
  CHECK(texts_of(plan.adaptations) == WordList{"CUDA_INJECTION64_PATH is set. It is unset for the nsys pass.",
                                               "CUDA_INJECTION64_PATH is set. It is unset for the ncu pass."});
}

TEST_CASE("configured variables reach the passes, but no text") {
  auto tools = gpu_machine();
  tools.nsys->env = {{"LD_LIBRARY_PATH", "/ours"}};
  auto config = config_for({"sh", "-c", "it's $HOME"});
  config.workload.env = {{"HF_TOKEN", "s3cret"}, {"KEPT", nl::orchestrator::kMaskedValue}};
  const auto plan = nl::orchestrator::make_plan(config, tools, "/b");
  CHECK(plan.passes[0].process.env == std::map<std::string, std::string>{{"HF_TOKEN", "s3cret"}, {"LD_LIBRARY_PATH", "/ours"}});
  const std::string text = nl::orchestrator::describe_plan(plan), json = nl::orchestrator::plan_json(plan);
  CHECK(text.find("s3cret") == std::string::npos);
  CHECK(json.find("s3cret") == std::string::npos);
  CHECK(text.find("# with the configured variables HF_TOKEN (values not shown)") != std::string::npos);
  CHECK(text.find("env LD_LIBRARY_PATH=/ours /opt/nsys profile") != std::string::npos);
  CHECK(text.find("sh -c 'it'\\''s $HOME'") != std::string::npos);
  CHECK(text.find("> /b/ncu/raw.csv") != std::string::npos);
  CHECK(json.find("\"captured_by\": \"nsys+ncu\"") != std::string::npos);
}

TEST_CASE("the second try drops the NVTX filter, or else the mangled names") {
  const auto tools = gpu_machine();
  auto config = config_for({"x"});
  nl::orchestrator::NcuRequest request;
  request.kernels = {{"scale<float>", "_Z5scale", "scale"}};
  std::vector<nl::Remark> notes;
  auto first = nl::orchestrator::plan_ncu(config, tools, "/b", &request, notes);
  CHECK(has(first.process.argv, "--nvtx-include"));
  CHECK(has(first.process.argv, "regex:^(_Z5scale)$"));
  CHECK(first.process.unset_env.size() == 2);
  CHECK(notes.empty());
  request.attempt = 2;
  auto second = nl::orchestrator::plan_ncu(config, tools, "/b", &request, notes);
  CHECK_FALSE(has(second.process.argv, "--nvtx-include"));
  CHECK(has(second.process.argv, "--nvtx"));
  CHECK(has(second.process.argv, "regex:^(_Z5scale)$"));
  CHECK(notes == std::vector<nl::Remark>{{nl::Code::kWiderRanges, {"ncu"}}});
  config.run.stages.clear();
  auto by_name = nl::orchestrator::plan_ncu(config, tools, "/b", &request, notes);
  CHECK(has(by_name.process.argv, "regex:^(scale)$"));
}

TEST_CASE("one builder makes the ncu pass that is shown and the one that runs") {
  auto tools = gpu_machine();
  tools.injection_env = {"NVTX_INJECTION64_PATH"};
  const auto config = config_for({"x"});
  const auto plan = nl::orchestrator::make_plan(config, tools, "/b");
  const auto shown = std::find_if(plan.passes.begin(), plan.passes.end(), [](const auto& pass) { return pass.kind == nl::PassKind::kNcu; });
  REQUIRE(shown != plan.passes.end());
  nl::orchestrator::NcuRequest request;
  request.kernels = {{"scale<float>", "_Z5scale", "scale"}};
  auto notes = plan.adaptations;
  const auto runs = nl::orchestrator::plan_ncu(config, tools, "/b", &request, notes);
  CHECK(notes == plan.adaptations);  // said once
  CHECK(runs.process.env == shown->process.env);
  CHECK(runs.process.unset_env == shown->process.unset_env);
  CHECK(runs.process.stdout_log == shown->process.stdout_log);
  CHECK(runs.process.argv.size() == shown->process.argv.size());
}

TEST_CASE("the exports follow the configuration") {
  const auto tools = gpu_machine();
  auto config = config_for({"x"});
  CHECK(nl::orchestrator::plan_ncu_exports(config, *tools.ncu, "/b").size() == 2);
  config.ncu.details_csv = false;
  CHECK(nl::orchestrator::plan_ncu_exports(config, *tools.ncu, "/b").size() == 1);
  config.ncu.nvtx_include = {"mine/"};
  CHECK(nl::orchestrator::nvtx_filters(config) == WordList{"mine/"});
}

TEST_CASE("native stacks are sampled where the collector traces, once, and not of Python") {
  Config config = config_for({"./grains"});
  config.capture.prefer = "cupti";
  config.perturbation.repeats = 2;
  const auto sampled_passes = [&](const Toolset& tools) {
    std::vector<PassKind> kinds;
    for (const Pass& pass : make_plan(config, tools, "/b").passes)
      if (pass.process.sample_stacks.hertz > 0) kinds.push_back(pass.kind);
    return kinds;
  };
  CHECK(sampled_passes(all_tools()) == std::vector<PassKind>{PassKind::kCollector});
  Toolset without_gpu = all_tools();
  without_gpu.gpus.clear();
  CHECK(sampled_passes(without_gpu).empty());
  for (const char* python : {"python3", "/opt/conda/bin/python3.12", "pypy3"}) {
    config.workload.command = {python, "train.py"};
    CHECK(sampled_passes(all_tools()).empty());
  }
  config.workload.command = {"./grains"};
  config.mark.host_samples_hz = 0;
  CHECK(sampled_passes(all_tools()).empty());
  config.mark.host_samples_hz = 97;
  config.capture.prefer = "nsys";
  CHECK(sampled_passes(all_tools()).empty());  // nsys has samples of its own
}
