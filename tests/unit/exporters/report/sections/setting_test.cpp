#include "exporters/report/sections/sections.h"
#include "tests/catch.h"

using namespace nl;
using namespace nl::exporters::report;

namespace {

std::string version_named(const Run& run, const std::string& what) {
  for (const auto& [name, version] : software_versions(run))
    if (name == what) return version;
  return "no such row";
}

}  // namespace

TEST_CASE("environment: CUDA is the workload's, else the driver's") {
  Run run;
  run.software.cuda_driver_version = "13.0";
  CHECK(version_named(run, "CUDA") == "13.0");
  run.software.versions = {{"cuda_runtime", "12.9"}, {"torch", "2.11.0"}};
  CHECK(version_named(run, "CUDA") == "12.9");
  CHECK(version_named(run, "PyTorch") == "2.11.0");
}

TEST_CASE("environment: the engine has its version where the process told it") {
  Run run;
  CHECK(version_named(run, "Engine").empty());
  run.software.backend = "vllm";
  CHECK(version_named(run, "Engine") == "vllm");
  run.software.versions = {{"vllm", "0.11.2"}};
  CHECK(version_named(run, "Engine") == "vllm 0.11.2");
  run.session.emplace();
  run.session->backend = "onnxruntime";
  run.session->version = "1.23.2";
  CHECK(version_named(run, "Engine") == "onnxruntime 1.23.2");
}

TEST_CASE("environment: an imported capture names the nsys that made it, one of another tool none") {
  Run run;
  run.import_stats.tool_version = "2025.3.1";
  run.import_stats.source_format = SourceFormat::kCollector;
  CHECK(version_named(run, "nsys").empty());
  run.import_stats.source_format = SourceFormat::kNsysSqlite;
  CHECK(version_named(run, "nsys") == "2025.3.1");
  run.software.nsys_version = "2026.1";
  CHECK(version_named(run, "nsys") == "2026.1");
}
