#include "orchestrator/capture/tool_arguments.h"

#include "tests/catch.h"
#include "tests/unit/orchestrator/capture/pass_words.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

namespace {

nl::orchestrator::Tool nsys(const std::string& version) {
  const fs::path help = fs::path(NL_FIXTURES) / "help";
  nl::orchestrator::Tool tool;
  tool.path = "/opt/nsys";
  tool.version = nl::orchestrator::parse_tool_version(version);
  tool.help_options = nl::orchestrator::parse_help_options(nl::test::read_file(help / ("nsys-" + version + "-profile.txt")));
  tool.export_options = nl::orchestrator::parse_help_options(nl::test::read_file(help / ("nsys-" + version + "-export.txt")));
  return tool;
}

const Arguments kDefault = {"/opt/nsys",
                            "profile",
                            "--trace=cuda,nvtx,osrt",
                            "--sample=none",
                            "--cpuctxsw=none",
                            "--cuda-graph-trace=node",
                            "--wait=all",
                            "--force-overwrite=true",
                            "--output=/b/nsys/run"};

}  // namespace

TEST_CASE("the default trace is the same for every version") {
  for (const char* version : {"2022.4.2", "2023.4.4", "2025.3.1"}) {
    std::vector<nl::Remark> notes;
    CHECK(nl::orchestrator::nsys_profile_argv({}, nsys(version), "/b/nsys/run", notes) == kDefault);
    CHECK(notes.empty());
  }
}

TEST_CASE("PyTorch ranges where the version has them") {
  nl::orchestrator::Config config;
  config.nsys.pytorch = "autograd-shapes-nvtx";
  std::vector<nl::Remark> notes;
  auto argv = nl::orchestrator::nsys_profile_argv(config, nsys("2025.3.1"), "/b/nsys/run", notes);
  CHECK(argv.at(6) == "--pytorch=autograd-shapes-nvtx");
  CHECK(notes.empty());
  for (const char* version : {"2022.4.2", "2023.4.4"}) {
    notes.clear();
    CHECK(nl::orchestrator::nsys_profile_argv(config, nsys(version), "/b/nsys/run", notes) == kDefault);
    CHECK(nl::test::texts_of(notes) ==
          Arguments{"nsys " + std::string(version) + " has no --pytorch: PyTorch operators are not in the trace."});
  }
}

TEST_CASE("a gated capture stops with its range and sees unregistered strings") {
  nl::orchestrator::Config config;
  config.nsys.capture_range = "nvtx";
  config.nsys.nvtx_capture = "decode_all@LLM";
  config.nsys.sample = "process-tree";
  config.nsys.extra_args = {"--stats=true"};
  std::vector<nl::Remark> notes;
  CHECK(nl::orchestrator::nsys_profile_argv(config, nsys("2022.4.2"), "/b/nsys/run", notes) ==
        Arguments{"/opt/nsys", "profile", "--trace=cuda,nvtx,osrt", "--sample=process-tree", "--cpuctxsw=none", "--cuda-graph-trace=node",
                  "--capture-range=nvtx", "--capture-range-end=stop", "--nvtx-capture=decode_all@LLM",
                  "--env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0", "--wait=all", "--force-overwrite=true", "--output=/b/nsys/run",
                  "--stats=true"});
  config.nsys.capture_range = "cudaProfilerApi";
  const auto argv = nl::orchestrator::nsys_profile_argv(config, nsys("2025.3.1"), "/b/nsys/run", notes);
  CHECK(argv.at(6) == "--capture-range=cudaProfilerApi");
  CHECK(argv.at(8) == "--wait=all");
  CHECK(notes.empty());
}

TEST_CASE("the export") {
  for (const char* version : {"2022.4.2", "2023.4.4", "2025.3.1"})
    CHECK(nl::orchestrator::nsys_export_argv(nsys(version), "/b/run.nsys-rep", "/b/run.sqlite") ==
          Arguments{"/opt/nsys", "export", "--type=sqlite", "--force-overwrite=true", "--lazy=true", "--quiet=true",
                    "--output=/b/run.sqlite", "/b/run.nsys-rep"});
  nl::orchestrator::Tool old = nsys("2022.4.2");
  old.export_options = {"--type", "--output"};
  CHECK(nl::orchestrator::nsys_export_argv(old, "/b/r", "/b/s").size() == 6);
}
