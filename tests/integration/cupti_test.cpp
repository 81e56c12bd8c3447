// The collector's GPU half, from the injected library to the bundle. A library stands in for CUPTI; what only a
// GPU can show is in tests/manual/cupti_runs.
#include <cstdlib>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

const std::string kUnit = NL_BUILD_ROOT "/tests/unit/collector/";
const std::string kCollector = NL_BUILD_ROOT "/collector/libnl_collector.so";

// The trace files of a program that "used CUDA" for one prefill and three decode steps.
std::vector<std::string> recorded(const Scene& scene) {
  const fs::path folder = scene.path / "trace";
  fs::create_directories(folder);
  const std::string fake = kUnit + "libfake_cupti.so";
  const std::string command = "NL_STAGE_TRACE_DIR='" + folder.string() + "' CUDA_INJECTION64_PATH=" + kCollector +
                              " NVTX_INJECTION64_PATH=" + kCollector + " FAKE_CUPTI=" + fake + " NL_STAGE_CUPTI=" + fake + " " + kUnit +
                              "gpu_program everything";
  REQUIRE(std::system(command.c_str()) == 0);
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path().string());
  return files;
}

}  // namespace

TEST_CASE("cupti: a recorded trace becomes a bundle with kernels, stages and an export that nsys could have made") {
  if (!fs::exists(kUnit + "gpu_program")) NL_SKIP("built without the collector's GPU half");
  Scene scene;
  std::vector<std::string> arguments{"import", "--out", scene.bundle().string(), "--collector"};
  for (const auto& file : recorded(scene)) arguments.push_back(file);
  Outcome outcome = scene.nl_stage(arguments);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  REQUIRE(run["kernels"].is_array());
  CHECK(run["kernels"][0]["calls"] == 4);
  CHECK(run["kernels"][0]["name"] == "void gemm<128>(float const*, float const*, float*, int)");
  const std::string sqlite = (scene.bundle() / "collector/run.sqlite").string();
  REQUIRE(fs::exists(sqlite));
  Outcome stats = scene.nl_stage({"stats", "--report", "cuda_gpu_kern_sum", sqlite});
  CHECK(stats.status == 0);
  CHECK(stats.out.find("gemm") != std::string::npos);
  Outcome projection = scene.nl_stage({"stats", "--report", "nvtx_gpu_proj_sum", sqlite});
  CHECK(projection.out.find("LLM:decode_step") != std::string::npos);
}

TEST_CASE("cupti: the runner without nsys is planned with the collector loaded by the driver") {
  Scene scene;
  Outcome outcome = scene.nl_stage({"plan", "--config", "cupti", "--set", "capture.cuda_calls=sometimes", "--", "true"});
  CHECK(outcome.status != 0);
  CHECK(outcome.says("capture.cuda_calls"));
}
