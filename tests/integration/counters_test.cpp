// Counters without ncu, from the configuration to the bundle. A shell script stands in for the workload with the
// collector in it: in a counter pass it leaves the file that was made for it. What only a GPU can show is in
// tests/manual/cupti_runs.
#include <cstring>
#include <fstream>

#include "tests/catch.h"
#include "tests/integration/harness.h"
#include "tests/unit/parsers/collector/counter_file.h"

using namespace nl::test;
using nl::trace_format::KernelCounters;
using nl::trace_format::Kind;
using nl::trace_format::MetricUse;

namespace {

const fs::path kProbe = fs::path(NL_FIXTURES) / "h200-probe/probe_node.sqlite";
const std::vector<std::string> kMetrics = {"gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum"};

// The kernels of the recorded capture, with a launch configuration that each has in it.
struct Counted {
  const char* name;
  std::uint32_t grid, block;
};
const Counted kKernels[] = {{"_ZN36_GLOBAL__N__3bf8baaf_8_probe_cu_main10accumulateEPfPKfi", 64, 128},
                            {"_ZN36_GLOBAL__N__3bf8baaf_8_probe_cu_main5scaleIfEEvPT_iS1_", 64, 256},
                            {"_ZN36_GLOBAL__N__3bf8baaf_8_probe_cu_main5scaleIiEEvPT_iS1_", 64, 64},
                            {"plain_c_kernel", 1, 32}};

CounterFile begun() {
  CounterFile file;
  file.thread(7).string(1, "LLM").string(2, "prefill").push(2, 1500, 1).pop(9000, 1).thread(0);
  return file;
}

CounterFile stage_counters() {
  return begun().set(1, MetricUse::kStage, kMetrics).window(1, 1, 2, 0, {50'000, 6e6, 2e6}).window(1, 1, 2, 1, {50'000, 6e6, 2e6});
}

CounterFile kernel_counters() {
  CounterFile file = begun();
  file.set(2, MetricUse::kKernel, kMetrics);
  std::string values;
  for (const double value : {2500.0, 3e6, 1e6}) values.append(reinterpret_cast<const char*>(&value), sizeof value);
  std::uint32_t number = 0;
  for (const Counted& kernel : kKernels) {
    file.name(++number, kernel.name);
    file.add(Kind::kKernelCounters, KernelCounters{{}, 2000 + number, number, 7, 0, 1, {kernel.grid, 1, 1}, {kernel.block, 1, 1}}, 2,
             values);
  }
  return file;
}

void write(const fs::path& path, const CounterFile& file) { std::ofstream(path, std::ios::binary) << file.whole(); }

// A machine with a GPU and nsys; the workload leaves what is given for each counter pass.
struct Counters : Scene {
  Counters() {
    use_standins();
    env["NL_STAGE_NVML"] = std::string(NL_BUILD_ROOT) + "/tests/unit/orchestrator/libfake_nvml.so";
    workload = script("workload", "echo ran >> " + (path / "ran").string() + "\n[ -z \"$NL_STAGE_COUNTERS\" ] || cp " + path.string() +
                                      "/$NL_STAGE_COUNTERS \"$NL_STAGE_TRACE_DIR/nvtx-100.nltrace\"");
    write(path / "stages", stage_counters());
    write(path / "kernels", kernel_counters());
  }
  Outcome run(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {
        "run",   "--config",           "deep",  "--set",          "perturbation.repeats=0", "--set", "capture.counters=cupti",
        "--set", "energy.enabled=off", "--out", bundle().string()};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", workload.string()});
    return nl_stage(words);
  }
  fs::path workload;
};

}  // namespace

TEST_CASE("counters: nsys traces, the collector counts, and the bundle has both") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Counters scene;
  const Outcome outcome = scene.run();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["status"] == "complete");
  CHECK(run["provenance"]["captured_by"] == "nsys+CUPTI counters");
  CHECK(scene.text(scene.path / "ran") == "ran\nran\nran\n");
  std::size_t counted = 0;
  for (const auto& kernel : run["kernels"])
    for (const auto& sample : kernel["ncu"]) counted += sample["measured_by"] == "CUPTI" && sample["dram_bytes"] == 4e6;
  CHECK(counted == 4);
  for (const auto& stage : run["stages"])
    if (stage["name"] == "prefill") CHECK(stage["counters"]["dram_read_bytes"] == 6e6);
  for (const char* file : {"counters/cmd.txt", "counters/kernels.txt", "counters/stages/nvtx-100.nltrace",
                           "counters/kernels/nvtx-100.nltrace", "logs/counters-kernels.stderr.log"}) {
    INFO(file);
    CHECK(fs::exists(scene.bundle() / file));
  }
  std::string names = scene.text(scene.bundle() / "counters/kernels.txt");
  for (const Counted& kernel : kKernels) CHECK(names.find(std::string(kernel.name) + "\n") != std::string::npos);
}

TEST_CASE("counters: no permission leaves a bundle with the trace and the fix") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Counters scene;
  write(scene.path / "stages", begun().note("counters are not measured: not permitted; run as root or with CAP_SYS_ADMIN, or set "
                                            "NVreg_RestrictProfilingToAdminUsers=0"));
  const Outcome outcome = scene.run();
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["status"] == "partial");
  CHECK(run["provenance"]["captured_by"] == "nsys");
  CHECK(run["kernels"].size() == 4);
  CHECK(outcome.says("NVreg_RestrictProfilingToAdminUsers=0"));
  CHECK(scene.text(scene.path / "ran") == "ran\nran\n");  // and no second counter pass
}

// The real collector over a program that "uses CUDA" through a library that stands in for CUPTI.
struct Injected : Scene {
  const std::string unit = NL_BUILD_ROOT "/tests/unit/";
  Injected() {
    env["NL_STAGE_NVML"] = unit + "orchestrator/libfake_nvml.so";
    env["FAKE_CUPTI"] = unit + "collector/libfake_cupti.so";
  }
  bool built() const { return fs::exists(unit + "collector/gpu_program"); }
  // On a busy machine the first iteration of a few microseconds would now and then pass for warm-up.
  Outcome run(const std::string& runner, const std::string& mode = "generate") {
    return nl_stage({"run", "--config", runner, "--set", "tools.cupti=" + env["FAKE_CUPTI"], "--set", "energy.enabled=off", "--set",
                     "analysis.warmup=none", "--out", bundle().string(), "--", unit + "collector/gpu_program", mode, "4"});
  }
};

TEST_CASE("counters: trace, stages and kernels by the collector alone") {
  Injected scene;
  if (!scene.built()) NL_SKIP("built without the collector's GPU half");
  const Outcome outcome = scene.run("cupti");
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["status"] == "complete");
  CHECK(run["provenance"]["captured_by"] == "collector (CUPTI+counters)");
  REQUIRE(run["kernels"].size() == 2);
  for (const auto& kernel : run["kernels"]) {
    REQUIRE_FALSE(kernel["ncu"].empty());
    for (const auto& sample : kernel["ncu"]) {
      CHECK(sample["measured_by"] == "CUPTI");
      CHECK(sample["dram_bytes"].is_number());  // in place
      CHECK(sample["sm_pct"].is_number());      // by replay
      CHECK(sample["stage"].is_string());       // inside the chosen ranges only
    }
  }
  for (const auto& stage : run["stages"]) {
    if (stage["name"] == "decode_step") continue;  // inside of decode
    CHECK(stage["counters"]["windows"] == 3);
    CHECK(stage["counters"]["dram_read_bytes"].is_number());
  }
}

TEST_CASE("native stacks: a C++ program's function is named for the time that the GPU waits for it") {
  Injected scene;
  if (!scene.built()) NL_SKIP("built without the collector's GPU half");
  const auto traced = [&] {
    return scene.nl_stage({"run", "--config", "cupti", "--set", "tools.cupti=" + scene.env["FAKE_CUPTI"], "--set", "energy.enabled=off",
                           "--set", "capture.counters=off", "--set", "mark.host_samples_hz=499", "--out", scene.bundle().string(), "--",
                           scene.unit + "collector/gpu_program", "slow-host", "150"});
  };
  const Outcome outcome = traced();
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  if (run["host"].is_null() && run["provenance"].dump().find("stacks-refused") != std::string::npos)
    NL_SKIP("the kernel does not allow perf_event_open here");
  CHECK(run["host"]["sampler"] == "perf");
  CHECK(run["host"]["samples"] > 50);
  for (const auto& stage : run["stages"]) {
    if (stage["name"] != "decode_step") continue;
    REQUIRE_FALSE(stage["gaps"].empty());
    const auto& blame = stage["gaps"][0]["host"];
    CHECK(blame["kind"] == "user");
    CHECK(blame["function"]["function"] == "settle_accounts");
    CHECK(blame["function"]["file"].get<std::string>().ends_with("/gpu_program"));
  }
  CHECK(scene.text(scene.bundle() / "report.md").find("gpu_program!settle_accounts") != std::string::npos);
  // The bundle alone tells the same.
  const Outcome again = scene.nl_stage({"import", "--out", (scene.path / "again").string(), scene.bundle().string()});
  INFO(again.err);
  CHECK(again.status == 0);
  CHECK(scene.text(scene.path / "again/report.md").find("gpu_program!settle_accounts") != std::string::npos);
}

TEST_CASE("perturbation: what the collector's trace costs is told like nsys'") {
  Injected scene;
  if (!scene.built()) NL_SKIP("built without the collector's GPU half");
  scene.perturbation = true;
  const Outcome outcome = scene.nl_stage({"run",
                                          "--config",
                                          "cupti",
                                          "--set",
                                          "tools.cupti=" + scene.env["FAKE_CUPTI"],
                                          "--set",
                                          "energy.enabled=off",
                                          "--set",
                                          "capture.counters=off",
                                          "--set",
                                          "perturbation.repeats=2",
                                          "--set",
                                          "perturbation.most_repeats=0",
                                          "--set",
                                          "analysis.warmup=none",
                                          "--out",
                                          scene.bundle().string(),
                                          "--",
                                          scene.unit + "collector/gpu_program",
                                          "generate",
                                          "4"});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["perturbation"]["order"] == "unprofiled collector unprofiled collector");
  std::vector<std::string> passes;
  for (const auto& pass : run["provenance"]["passes"]) passes.push_back(pass["name"]);
  CHECK(passes ==
        std::vector<std::string>{"unprofiled", "collector", "unprofiled", "collector-repeat", "operators", "calibration", "calibration"});
  REQUIRE_FALSE(run["perturbation"]["stages"].empty());
  for (const auto& row : run["perturbation"]["stages"]) {
    CHECK(row["profiler"] == "collector");
    CHECK(row["bare_ns"].size() == 2);
    CHECK(row["profiled_ns"].size() == 2);
  }
  CHECK_FALSE(fs::exists(scene.bundle() / "perturbation"));
  CHECK(run["kernels"].size() == 2);  // of the one capture
  CHECK(scene.text(scene.bundle() / "report.md").find("\n| collector | ") != std::string::npos);
}

TEST_CASE("counters: the collector may not read them, and the run goes on") {
  Injected scene;
  if (!scene.built()) NL_SKIP("built without the collector's GPU half");
  scene.env["FAKE_CUPTI_DENY"] = "35";  // CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
  const Outcome outcome = scene.run("cupti");
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["status"] == "partial");
  CHECK(run["kernels"].size() == 2);
  CHECK(run["problems"].size() == 1);
  CHECK(outcome.says("NVreg_RestrictProfilingToAdminUsers=0"));
}

TEST_CASE("sampling: one run, with the GPU's activity over time") {
  Injected scene;
  if (!scene.built()) NL_SKIP("built without the collector's GPU half");
  const Outcome outcome = scene.run("sampling", "generate-slowly");
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["provenance"]["captured_by"] == "collector (CUPTI)");
  std::vector<std::string> passes;
  for (const auto& pass : run["provenance"]["passes"]) passes.push_back(pass["name"]);
  CHECK(passes == std::vector<std::string>{"collector", "calibration", "calibration"});  // of the loop: bare, and under the collector
  CHECK_FALSE(run["activity"].empty());
}

TEST_CASE("counters: the plan lists the passes with their environment") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Counters scene;
  Outcome plan = scene.nl_stage({"plan", "--config", "cupti", "--set", "workload.env.HF_TOKEN=s3cret", "--", "true"});
  INFO(plan.err);
  CHECK(plan.status == 0);
  CHECK(plan.says("# captured by: collector (CUPTI+counters)"));
  CHECK(plan.says("NL_STAGE_COUNTERS=stages"));
  CHECK(plan.says("NL_STAGE_COUNTER_KERNELS="));
  CHECK(plan.says("collector (NVTX only)"));
  CHECK_FALSE(plan.says("s3cret"));
  Outcome sampling = scene.nl_stage({"plan", "--config", "sampling", "--", "true"});
  CHECK(sampling.says("NL_STAGE_PM_SAMPLING_US=500"));
  CHECK(sampling.says("NL_STAGE_CUDA_GRAPHS=graph"));
  CHECK_FALSE(sampling.says("NL_STAGE_COUNTERS"));
}

TEST_CASE("counters: import joins the files of counter passes to a capture") {
  Scene scene;
  write(scene.path / "stages", stage_counters());
  write(scene.path / "kernels", kernel_counters());
  const std::string stages = (scene.path / "stages").string(), kernels = (scene.path / "kernels").string();
  Outcome outcome = scene.nl_stage({"import", "--nsys", kProbe.string(), "--counters", stages, kernels, "--out", scene.bundle().string()});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  std::size_t counted = 0;
  for (const auto& kernel : run["kernels"])
    for (const auto& sample : kernel["ncu"]) counted += sample["measured_by"] == "CUPTI";
  CHECK(counted == 4);
  CHECK(run["provenance"]["inputs_sha256"].size() == 3);
  Outcome alone = scene.nl_stage({"import", "--counters", stages, "--out", (scene.path / "alone").string()});
  CHECK(alone.status != 0);
  CHECK(alone.says("counters and stacks are joined to a capture, and none is given"));
  // A counter pass's own file is a capture too, of ranges only.
  Outcome as_trace = scene.nl_stage({"import", "--collector", stages, "--out", (scene.path / "trace").string()});
  INFO(as_trace.err);
  CHECK(as_trace.status == 0);
  CHECK(scene.text(scene.path / "trace/kernels.md").find("This is a counter pass") != std::string::npos);
  Outcome none =
      scene.nl_stage({"import", "--nsys", kProbe.string(), "--counters", kProbe.string(), "--out", (scene.path / "none").string()});
  CHECK(none.status != 0);
}
