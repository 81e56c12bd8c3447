// The order in which a capture is chosen, and the passes that count through CUPTI.
#include <algorithm>

#include "model/error.h"
#include "model/strings.h"
#include "orchestrator/capture/plan.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/capture/pass_words.h"

using nl::test::config_for;
using nl::test::names_of;
using nl::test::texts_of;
using nl::test::WordList;

namespace {

nl::orchestrator::Tool tool(const std::string& path) {
  nl::orchestrator::Tool found;
  found.path = path;
  return found;
}

struct Found {
  bool nsys = true, ncu = true, gpu = true, collector = true;
  nl::orchestrator::Toolset tools() const {
    nl::orchestrator::Toolset found;
    if (nsys) found.nsys = tool("/opt/nsys");
    if (ncu) found.ncu = tool("/opt/ncu");
    if (gpu) found.gpus = {"NVIDIA H200"};
    found.nvml = "/lib/libnvidia-ml.so.1";
    if (collector) found.collector = "/lib/libnl_collector.so";
    return found;
  }
};

const nl::orchestrator::Pass& pass_of(const nl::orchestrator::Plan& plan, const std::string& name) {
  const auto found = std::find_if(plan.passes.begin(), plan.passes.end(), [&](const auto& pass) { return key_of(pass.kind) == name; });
  REQUIRE(found != plan.passes.end());
  return *found;
}

}  // namespace

TEST_CASE("what captures: the best that the machine and the configuration allow") {
  struct Case {
    Found machine;
    std::string prefer, counters;
    bool ncu_enabled;
    std::string captured_by;
    WordList passes;
    std::string why;
  };
  const WordList ncu = {"ncu", "ncu-export-raw", "ncu-export-details"}, counters = {"counters-stages", "counters-kernels"};
  const auto after = [](WordList first, const WordList& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  };
  const WordList nsys = {"nsys", "nsys-export"}, collector = {"collector"};
  const std::vector<Case> cases = {
      {{}, "nsys", "auto", true, "nsys+ncu", after(nsys, ncu), "nsys was found; ncu was found"},
      {{.ncu = false},
       "nsys",
       "auto",
       true,
       "nsys+CUPTI counters",
       after(nsys, counters),
       "nsys was found; ncu was not found: the collector counts instead (CUPTI)"},
      {{},
       "nsys",
       "cupti",
       true,
       "nsys+CUPTI counters",
       after(nsys, counters),
       "nsys was found; capture.counters is cupti: the collector counts, not ncu"},
      {{.ncu = false}, "nsys", "off", true, "nsys", nsys, "nsys was found; no counters are asked for (capture.counters is off)"},
      {{}, "nsys", "off", true, "nsys", nsys, "nsys was found; no counters are asked for (capture.counters is off)"},
      {{.ncu = false, .collector = false},
       "nsys",
       "auto",
       true,
       "nsys",
       nsys,
       "nsys was found; neither ncu nor the collector was found: nothing can count"},
      {{}, "nsys", "auto", false, "nsys", nsys, "nsys was found; no counters are asked for (ncu.enabled is false)"},
      // A light configuration that asks for them by name gets them.
      {{},
       "nsys",
       "cupti",
       false,
       "nsys+CUPTI counters",
       after(nsys, counters),
       "nsys was found; capture.counters is cupti: the collector counts, not ncu"},
      {{.collector = false},
       "cupti",
       "cupti",
       true,
       "nsys+ncu",
       after(nsys, ncu),
       "capture.prefer is cupti, but the collector was not found; nsys was found; the collector, which would count, was not "
       "found; ncu was found"},
      {{.nsys = false},
       "nsys",
       "auto",
       true,
       "collector (CUPTI)+ncu",
       after(collector, ncu),
       "nsys was not found; a GPU and the collector were found; ncu was found"},
      {{.nsys = false, .ncu = false},
       "nsys",
       "auto",
       true,
       "collector (CUPTI+counters)",
       after(collector, counters),
       "nsys was not found; a GPU and the collector were found; ncu was not found: the collector counts instead (CUPTI)"},
      {{},
       "cupti",
       "cupti",
       true,
       "collector (CUPTI+counters)",
       after(collector, counters),
       "capture.prefer is cupti; capture.counters is cupti: the collector counts, not ncu"},
      {{},
       "cupti",
       "off",
       false,
       "collector (CUPTI)",
       collector,
       "capture.prefer is cupti; no counters are asked for (capture.counters is off)"},
      {{.gpu = false},
       "cupti",
       "cupti",
       true,
       "nsys",
       nsys,
       "capture.prefer is cupti, but no GPU was found; nsys was found; without a GPU nothing is counted"},
      {{.gpu = false}, "nsys", "auto", true, "nsys", nsys, "nsys was found; without a GPU nothing is counted"},
      {{.nsys = false, .gpu = false}, "nsys", "auto", true, "collector (NVTX only)", collector, "nsys was not found; no GPU was found"},
  };
  for (const auto& each : cases) {
    auto config = config_for({"./w"});
    config.capture.prefer = each.prefer;
    config.capture.counters = each.counters;
    config.ncu.enabled = each.ncu_enabled;
    const auto plan = nl::orchestrator::make_plan(config, each.machine.tools(), "/b");
    INFO(each.captured_by << ", " << each.why);
    CHECK(captured_by(plan.tracer, plan.meter) == each.captured_by);
    CHECK(names_of(plan) == each.passes);
    CHECK(plan.why == each.why);
    CHECK(nl::orchestrator::describe_plan(plan).find("# because: " + each.why + "\n") != std::string::npos);
  }
  CHECK_THROWS_AS(nl::orchestrator::make_plan(config_for({"./w"}), Found{.nsys = false, .collector = false}.tools(), "/b"), nl::Error);
}

TEST_CASE("the plan says what comes after the last way, and that no adapter is built in") {
  const std::string text = nl::orchestrator::describe_plan(nl::orchestrator::make_plan(config_for({"./w"}), Found{}.tools(), "/b"));
  CHECK(text.find("# order: nsys+ncu, nsys+CUPTI counters, collector (CUPTI)+ncu, collector (CUPTI+counters), collector "
                  "(CUPTI), collector (NVTX only)\n") != std::string::npos);
}

TEST_CASE("the counter passes: what the collector is told, and nothing of the user's own environment") {
  auto config = config_for({"./w", "a"});
  config.capture.counter_metrics = {"dram__bytes_read.sum", "gpu__time_duration.sum"};
  config.capture.replay_metrics = {"sm__throughput.avg.pct_of_peak_sustained_elapsed"};
  config.capture.counter_launches = 3;
  config.tools.cupti = "/c/libcupti.so";
  config.workload.env = {{"HF_TOKEN", "s3cret"}};
  config.ncu.timeout_s = 77;
  const auto plan = nl::orchestrator::make_plan(config, Found{.ncu = false}.tools(), "/b");
  const std::map<std::string, std::string> shared = {
      {"CUDA_INJECTION64_PATH", "/lib/libnl_collector.so"},
      {"NVTX_INJECTION64_PATH", "/lib/libnl_collector.so"},
      {"HF_TOKEN", "s3cret"},
      {"NL_STAGE_RUN", nl::stable_hash_text("/b", 16)},
      {"NL_STAGE_CUPTI", "/c/libcupti.so"},
      {"NL_STAGE_COUNTER_METRICS", "dram__bytes_read.sum,gpu__time_duration.sum"},
      {"NL_STAGE_COUNTER_RANGES", "LLM@prefill\nLLM@decode_all\nLLM@decode\nLLM@decode_step"}};
  auto stages = shared, kernels = shared;
  stages["NL_STAGE_COUNTERS"] = "stages";
  stages["NL_STAGE_TRACE_DIR"] = "/b/counters/stages";
  kernels["NL_STAGE_COUNTERS"] = "kernels";
  kernels["NL_STAGE_TRACE_DIR"] = "/b/counters/kernels";
  kernels["NL_STAGE_COUNTER_REPLAY_METRICS"] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
  kernels["NL_STAGE_COUNTER_KERNELS"] = "/b/counters/kernels.txt";
  kernels["NL_STAGE_COUNTER_LAUNCHES"] = "3";
  const auto first = pass_of(plan, "counters-stages");
  const auto second = pass_of(plan, "counters-kernels");
  CHECK(first.process.env == stages);
  CHECK(second.process.env == kernels);
  CHECK(first.process.argv == WordList{"./w", "a"});
  CHECK(second.process.timeout_s == 77);
  CHECK(first.outputs == std::vector<std::filesystem::path>{"counters/stages"});
  CHECK_FALSE(second.sample_power);
  const std::string text = nl::orchestrator::describe_plan(plan), json = nl::orchestrator::plan_json(plan);
  CHECK(text.find("s3cret") == std::string::npos);
  CHECK(json.find("s3cret") == std::string::npos);
  CHECK(text.find("NL_STAGE_COUNTERS=kernels") != std::string::npos);
  CHECK(text.find("# 4. counters-kernels: count the 10 kernels that take the most GPU time inside the stages: 2 metrics in "
                  "place, 1 by replay (CUPTI)") != std::string::npos);
  CHECK(json.find("\"why\"") != std::string::npos);
}

TEST_CASE("the stages are counted where they are named and wanted") {
  auto config = config_for({"./w"});
  const auto left_out = [&] {
    const auto plan = nl::orchestrator::make_plan(config, Found{.ncu = false}.tools(), "/b");
    CHECK(names_of(plan) == WordList{"nsys", "nsys-export", "counters-kernels"});
    return text_of(plan.adaptations.at(1));
  };
  config.capture.stage_counters = false;
  CHECK(left_out() == "The stages are not counted as a whole: capture.stage_counters is false.");
  config.capture.stage_counters = true;
  config.run.stages.clear();
  CHECK(left_out() == "The stages are not counted as a whole: run.stages names none.");
  config.run.stages = {"gemm"};
  config.capture.counter_metrics.clear();
  config.capture.replay_metrics = {"x"};
  CHECK(left_out() == "The stages are not counted as a whole: capture.counter_metrics names no metric.");
}

TEST_CASE("activity and stalls are sampled in the collector's own pass, and under nsys not at all") {
  auto config = config_for({"./w"});
  config.ncu.enabled = false;
  config.capture.prefer = "cupti";
  config.capture.sampling_us = 500;
  config.capture.sampling_metrics = {"a", "b"};
  config.capture.pc_sampling = 18;
  auto plan = nl::orchestrator::make_plan(config, Found{}.tools(), "/b");
  const auto env = pass_of(plan, "collector").process.env;
  CHECK(env.at("NL_STAGE_PC_SAMPLING") == "18");
  CHECK(env.count("NL_STAGE_PM_SAMPLING_US") == 0);  // the GPU does one of the two
  REQUIRE(plan.adaptations.size() == 1);
  CHECK(plan.adaptations[0].code == nl::Code::kStallsInsteadOfActivity);
  config.capture.pc_sampling = 0;
  plan = nl::orchestrator::make_plan(config, Found{}.tools(), "/b");
  const auto& activity = pass_of(plan, "collector").process.env;
  CHECK(activity.at("NL_STAGE_PM_SAMPLING_US") == "500");
  CHECK(activity.at("NL_STAGE_PM_METRICS") == "a,b");
  CHECK(activity.count("NL_STAGE_PC_SAMPLING") == 0);
  config.capture.counters = "cupti";
  plan = nl::orchestrator::make_plan(config, Found{}.tools(), "/b");
  CHECK(pass_of(plan, "counters-kernels").process.env.count("NL_STAGE_PM_SAMPLING_US") == 0);
  config.capture.prefer = "nsys";
  config.capture.counters = "auto";
  plan = nl::orchestrator::make_plan(config, Found{}.tools(), "/b");
  REQUIRE(plan.adaptations.size() == 1);
  CHECK(plan.adaptations[0].code == nl::Code::kNotSampledByNsys);
}

TEST_CASE("some of the steps are traced in the capture and its repetitions, by the collector only") {
  auto config = config_for({"python", "./w.py"});
  config.ncu.enabled = false;
  config.capture.prefer = "cupti";
  config.perturbation.repeats = 2;
  config.mark.automatic = true;
  config.capture.duty = "1/10";
  config.stages.map = {{"decode_step", "^step \\[D.*$"}, {"prefill", "prompt"}, {"batch", "^b[0-9]"}};
  auto plan = nl::orchestrator::make_plan(config, Found{}.tools(), "/b");
  for (const char* pass : {"collector", "collector-repeat"}) {
    const auto& env = pass_of(plan, pass).process.env;
    CHECK(env.at("NL_STAGE_DUTY") == "1/10");
    const std::string& steps = env.at("NL_STAGE_DUTY_STEPS");
    CHECK(steps.starts_with("step [D*\n*prompt*\nLLM@decode_step\n"));
    CHECK(steps.find("\nLLM@prefill\n") != std::string::npos);
    CHECK(steps.find("\nexecute_context_0(0)_generation_*\nexecute_context_*_generation_0(0)\nexecute_context_*\n") != std::string::npos);
    const std::string& rows = env.at("NL_STAGE_DUTY_ROW");
    CHECK(rows.starts_with("16,1,16,"));
    CHECK(env.at("NL_STAGE_DUTY_SEED").find_first_not_of("0123456789") == std::string::npos);
    CHECK(std::count(rows.begin(), rows.end(), ',') == std::count(steps.begin(), steps.end(), '\n'));
  }
  const auto seed_of = [&](const char* pass) { return pass_of(plan, pass).process.env.at("NL_STAGE_DUTY_SEED"); };
  CHECK(seed_of("collector") != seed_of("collector-repeat"));  // another choice each time, the same in all processes
  CHECK(pass_of(plan, "collector").purpose.find("of one step in 10") != std::string::npos);
  CHECK(pass_of(plan, "operators").process.env.count("NL_STAGE_DUTY") == 0);
  CHECK(pass_of(plan, "unprofiled").process.env.count("NL_STAGE_DUTY") == 0);
  REQUIRE(plan.adaptations.size() == 1);
  CHECK(plan.adaptations[0] == nl::Remark{nl::Code::kDutyStepsUnknown, {"batch", "^b[0-9]"}});

  config.capture.duty = "1/1";
  plan = nl::orchestrator::make_plan(config, Found{}.tools(), "/b");
  CHECK(pass_of(plan, "collector").process.env.count("NL_STAGE_DUTY") == 0);
  CHECK(plan.adaptations.empty());

  config.capture.duty = "1/10";
  config.capture.prefer = "nsys";
  plan = nl::orchestrator::make_plan(config, Found{}.tools(), "/b");
  REQUIRE(plan.adaptations.size() == 1);
  CHECK(plan.adaptations[0] == nl::Remark{nl::Code::kDutyByCollectorOnly, {"1/10", "nsys"}});
}

TEST_CASE("where the collector cannot trace, the plan says so, and that nothing is sampled") {
  auto config = config_for({"./w"});
  config.ncu.enabled = false;
  config.capture.prefer = "cupti";
  config.capture.sampling_us = 500;
  CHECK(texts_of(nl::orchestrator::make_plan(config, Found{.gpu = false}.tools(), "/b").adaptations) ==
        WordList{"capture.prefer is cupti, but no GPU was found: nsys traces.", "no GPU was found: activity and stalls are not sampled."});
  CHECK(texts_of(nl::orchestrator::make_plan(config, Found{.collector = false}.tools(), "/b").adaptations) ==
        WordList{"capture.prefer is cupti, but the collector was not found: nsys traces.",
                 "the collector was not found: activity and stalls are not sampled."});
  CHECK(texts_of(nl::orchestrator::make_plan(config, Found{.nsys = false, .gpu = false}.tools(), "/b").adaptations) ==
        WordList{"nsys was not found, and no GPU was found: the collector records the stages, and there are no kernels to capture.",
                 "no GPU was found: activity and stalls are not sampled."});
  config.nsys.enabled = false;
  config.capture.prefer = "nsys";
  CHECK(nl::orchestrator::make_plan(config, Found{}.tools(), "/b").why ==
        "nsys is switched off (nsys.enabled); a GPU and the collector were found; no counters are asked for (ncu.enabled is "
        "false)");
}
