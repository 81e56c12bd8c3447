#include <algorithm>
#include <cstdlib>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

const std::string kProbeExport = (kFixtures / "h200-probe/probe_node.sqlite").string();

std::string nsys_csv(const Scene& scene, const std::string& report) {
  return scene.text(kFixtures / ("h200-probe/probe_node_" + report + ".csv"));
}

}  // namespace

TEST_CASE("stats: one report on standard output is nsys' CSV and nothing else") {
  Scene scene;
  for (std::string report : {"cuda_gpu_kern_sum", "nvtx_gpu_proj_sum", "nvtx_kern_sum"}) {
    Outcome outcome = scene.nl_stage({"stats", "--report", report, kProbeExport});
    CHECK(outcome.status == 0);
    CHECK((outcome.out == nsys_csv(scene, report)));
    CHECK(outcome.err == "");
  }
}

TEST_CASE("stats: several reports are set apart by their titles") {
  Scene scene;
  Outcome outcome = scene.nl_stage({"stats", "--report", "nvtx_sum,cuda_api_sum", kProbeExport});
  CHECK(outcome.status == 0);
  CHECK((outcome.out == "** NVTX Range Summary (nvtx_sum):\n\n" + nsys_csv(scene, "nvtx_sum") +
                            "\n** CUDA API Summary (cuda_api_sum):\n\n" + nsys_csv(scene, "cuda_api_sum")));
}

TEST_CASE("stats: with a prefix each report goes to its own file") {
  Scene scene;
  Outcome outcome = scene.nl_stage({"stats", "-o", (scene.path / "all").string(), kProbeExport});
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "");
  for (std::string report :
       {"cuda_gpu_kern_sum", "cuda_api_sum", "cuda_gpu_mem_time_sum", "nvtx_sum", "nvtx_gpu_proj_sum", "nvtx_kern_sum"})
    CHECK((scene.text(scene.path / ("all_" + report + ".csv")) == nsys_csv(scene, report)));
  scene.nl_stage({"stats", "-r", "nvtx_sum", "-f", "json", "-o", (scene.path / "one").string(), kProbeExport});
  CHECK(nlohmann::json::parse(scene.text(scene.path / "one_nvtx_sum.json")).size() == 13);
}

TEST_CASE("stats: the folders of tables that nsys exports give the bytes that its SQLite gives") {
  Scene scene;
  const std::string unpack = "tar -xJf '" + (kFixtures / "h200-exports/exports.tar.xz").string() + "' -C '" + scene.path.string() + "'";
  REQUIRE(std::system(unpack.c_str()) == 0);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"stats", "--format", "csv"}, {"stats", "--format", "table"}, {"stats", "--json"}}) {
    const auto of = [&](const char* capture) {
      std::vector<std::string> all = words;
      all.push_back((scene.path / capture).string());
      return scene.nl_stage(all);
    };
    const Outcome expected = of("run.sqlite");
    CHECK(expected.status == 0);
    CHECK(expected.out.size() > 2000);
    for (const char* folder : {"run_pqtdir", "run_arwdir/"}) {
      const Outcome outcome = of(folder);
      CHECK(outcome.status == 0);
      CHECK((outcome.out == expected.out));
    }
  }
}

TEST_CASE("stats: what the capture cannot answer is said, and is an error only where nothing else was asked") {
  Scene scene;
  std::string no_copies = (kFixtures / "crafted/ranges.sqlite").string();
  Outcome none = scene.nl_stage({"stats", "--report", "cuda_gpu_mem_time_sum", no_copies});
  CHECK(none.status == 3);
  CHECK(none.out == "");
  CHECK(none.err.find("cuda_gpu_mem_time_sum: ") == 0);
  Outcome some = scene.nl_stage({"stats", "--report", "cuda_gpu_mem_time_sum,nvtx_sum", no_copies});
  CHECK(some.status == 0);
  CHECK(some.err.find("cuda_gpu_mem_time_sum: ") == 0);
}

TEST_CASE("stats: wrong arguments and files are refused with what to do") {
  Scene scene;
  Outcome report = scene.nl_stage({"stats", "--report", "gpukernsum", kProbeExport});
  CHECK(report.status != 0);
  CHECK(report.says("cuda_gpu_kern_sum"));
  Outcome rep = scene.nl_stage({"stats", "capture.nsys-rep"});
  CHECK(rep.status != 0);
  CHECK(rep.says("nsys export --type sqlite --output capture.sqlite capture.nsys-rep"));
  Outcome absent = scene.nl_stage({"stats", (scene.path / "absent.sqlite").string()});
  CHECK(absent.status != 0);
  CHECK(absent.says("absent.sqlite"));
  Outcome folder = scene.nl_stage({"stats", "-o", (scene.path / "no/such/folder/x").string(), kProbeExport});
  CHECK(folder.status != 0);
  CHECK(folder.says("cannot be written"));
}
