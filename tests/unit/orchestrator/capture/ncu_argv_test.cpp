#include "orchestrator/capture/tool_arguments.h"

#include <algorithm>

#include "tests/catch.h"
#include "tests/unit/orchestrator/capture/pass_words.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;
using nl::orchestrator::KernelNameBase;

namespace {

nl::orchestrator::Tool ncu() {
  nl::orchestrator::Tool tool;
  tool.path = "/opt/ncu";
  tool.version = {2025, 3, 1};
  tool.help_options = nl::orchestrator::parse_help_options(nl::test::read_file(fs::path(NL_FIXTURES) / "help/ncu-2025.3.1.txt"));
  return tool;
}

void forget(nl::orchestrator::Tool& tool, const std::string& option) { std::erase(tool.help_options, option); }

nl::orchestrator::NcuRequest two_kernels() {
  nl::orchestrator::NcuRequest request;
  request.kernels = {
      {"void scale<float>(T1 *)", "_Z5scaleIfEvPT_", "scale"}, {"gemm.x", "gemm$x.1", "gemm"}, {"again", "_Z5scaleIfEvPT_", "scale"}};
  return request;
}

}  // namespace

TEST_CASE("kernels are named by an anchored expression of escaped mangled names") {
  std::vector<nl::Remark> notes;
  const auto filter = nl::orchestrator::ncu_name_filter(two_kernels(), notes);
  CHECK(filter.base == KernelNameBase::kMangled);
  CHECK(filter.expression == "regex:^(_Z5scaleIfEvPT_|gemm\\$x\\.1)$");
  CHECK(notes.empty());
}

TEST_CASE("names fall back to short ones") {
  std::vector<nl::Remark> notes;
  auto request = two_kernels();
  request.kernels[1].mangled_name.clear();
  CHECK(nl::orchestrator::ncu_name_filter(request, notes).expression == "regex:^(scale|gemm)$");
  CHECK(nl::orchestrator::ncu_name_filter(request, notes).base == KernelNameBase::kFunction);
  CHECK(notes.front().code == nl::Code::kNoMangledNames);
  notes.clear();
  request = two_kernels();
  request.kernel_name_base = KernelNameBase::kDemangled;
  CHECK(nl::orchestrator::ncu_name_filter(request, notes).expression == "regex:^(void scale<float>\\(T1 \\*\\)|gemm\\.x|again)$");
  request = {};
  for (int i = 0; i < 60; ++i) request.kernels.push_back({"n", std::to_string(i) + std::string(2000, 'x'), "short" + std::to_string(i)});
  CHECK(nl::orchestrator::ncu_name_filter(request, notes).base == KernelNameBase::kFunction);
  CHECK(notes.size() == 1);
  for (auto& kernel : request.kernels) kernel.short_name = kernel.mangled_name;
  CHECK(nl::orchestrator::ncu_name_filter(request, notes).expression.empty());
  CHECK(nl::orchestrator::ncu_name_filter({}, notes).expression.empty());
}

TEST_CASE("the whole ncu command of 2025.3") {
  nl::orchestrator::Config config;
  config.ncu.sections = {"SpeedOfLight", "Occupancy"};
  config.ncu.metrics = {"a.sum", "b.avg"};
  std::vector<nl::Remark> notes;
  CHECK(nl::orchestrator::ncu_profile_argv(config, ncu(), "/b/ncu/profile", {KernelNameBase::kMangled, "regex:^(k)$"},
                                           {"LLM@prefill/", "LLM\\@prefill/"}, notes) == Arguments{"/opt/ncu",
                                                                                                   "--target-processes",
                                                                                                   "all",
                                                                                                   "--nvtx",
                                                                                                   "--nvtx-include",
                                                                                                   "LLM@prefill/",
                                                                                                   "--nvtx-include",
                                                                                                   "LLM\\@prefill/",
                                                                                                   "--kernel-name-base",
                                                                                                   "mangled",
                                                                                                   "--kernel-name",
                                                                                                   "regex:^(k)$",
                                                                                                   "--filter-mode",
                                                                                                   "per-launch-config",
                                                                                                   "--launch-count",
                                                                                                   "1",
                                                                                                   "--replay-mode",
                                                                                                   "kernel",
                                                                                                   "--graph-profiling",
                                                                                                   "node",
                                                                                                   "--clock-control",
                                                                                                   "none",
                                                                                                   "--cache-control",
                                                                                                   "none",
                                                                                                   "--section",
                                                                                                   "SpeedOfLight",
                                                                                                   "--section",
                                                                                                   "Occupancy",
                                                                                                   "--metrics",
                                                                                                   "a.sum,b.avg",
                                                                                                   "--import-sass",
                                                                                                   "no",
                                                                                                   "--force-overwrite",
                                                                                                   "--export",
                                                                                                   "/b/ncu/profile"});
  CHECK(notes.empty());
}

TEST_CASE("what an older ncu lacks is left out and said") {
  nl::orchestrator::Tool old = ncu();
  old.version = {2021, 1, 0};
  for (const char* option : {"--filter-mode", "--graph-profiling", "--import-sass", "--print-kernel-base"}) forget(old, option);
  nl::orchestrator::Config config;
  config.ncu.set = "full";
  config.ncu.launch_skip = 3;
  std::vector<nl::Remark> notes;
  const auto argv = nl::orchestrator::ncu_profile_argv(config, old, "/b/p", {}, {}, notes);
  CHECK(argv == Arguments{"/opt/ncu", "--target-processes", "all", "--nvtx", "--launch-skip", "3", "--launch-count", "40", "--replay-mode",
                          "kernel", "--clock-control", "none", "--cache-control", "none", "--set", "full", "--force-overwrite", "--export",
                          "/b/p"});
  CHECK(nl::test::texts_of(notes) == Arguments{"ncu 2021.1.0 has no --filter-mode: the launch count holds for all kernels together.",
                                               "ncu 2021.1.0 has no --graph-profiling: kernels inside CUDA graphs may not be measured."});
  CHECK(nl::orchestrator::ncu_export_argv(old, "/b/p.ncu-rep", "raw") ==
        Arguments{"/opt/ncu", "--import", "/b/p.ncu-rep", "--csv", "--page", "raw", "--print-units", "base"});
}

TEST_CASE("the export names kernels as nsys does") {
  CHECK(nl::orchestrator::ncu_export_argv(ncu(), "/b/p.ncu-rep", "details") == Arguments{"/opt/ncu", "--import", "/b/p.ncu-rep", "--csv",
                                                                                         "--page", "details", "--print-units", "base",
                                                                                         "--print-kernel-base", "mangled"});
}
