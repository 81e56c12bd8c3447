#include "orchestrator/machine/tools.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/machine/fake_host.h"

namespace fs = std::filesystem;
using nl::test::FakeHost, nl::test::FakeTree, nl::test::help_text;

TEST_CASE("versions are read from what the tools say") {
  CHECK(nl::orchestrator::parse_tool_version("NVIDIA Nsight Systems version 2022.4.2.1-df9881f").text() == "2022.4.2");
  CHECK(
      nl::orchestrator::parse_tool_version("Copyright (c) 2018-2025 NVIDIA\nVersion 2025.3.1.0 (build 36398880) (public-release)").text() ==
      "2025.3.1");
  CHECK(nl::orchestrator::parse_tool_version("nsys: not found").text().empty());
  CHECK(nl::orchestrator::ToolVersion{2025, 10, 0} > nl::orchestrator::ToolVersion{2025, 9, 3});
}

TEST_CASE("options are read from the help texts") {
  const auto nsys = nl::orchestrator::parse_help_options(help_text("nsys-2022.4.2-profile.txt"));
  const auto has = [](const std::vector<std::string>& options, const char* option) {
    return std::find(options.begin(), options.end(), option) != options.end();
  };
  CHECK(nsys.size() == 53);  // 52 lines, one of which stands for two options
  CHECK(has(nsys, "--cuda-graph-trace"));
  CHECK(has(nsys, "--nvtx-domain-exclude"));
  CHECK_FALSE(has(nsys, "--pytorch"));
  CHECK(has(nl::orchestrator::parse_help_options(help_text("nsys-2025.3.1-profile.txt")), "--pytorch"));
  CHECK(has(nl::orchestrator::parse_help_options(help_text("nsys-2025.3.1-profile.txt")), "--storage-metrics"));
  const auto ncu = nl::orchestrator::parse_help_options(help_text("ncu-2025.3.1.txt") +
                                                        "  -k [ --made-up ] arg              According to --not-an-option\n          "
                                                        "                              --nor-this\n");
  CHECK(has(ncu, "--kernel-name"));
  CHECK(has(ncu, "--print-kernel-base"));
  CHECK(has(ncu, "--made-up"));
  CHECK_FALSE(has(ncu, "--not-an-option"));
  CHECK_FALSE(has(ncu, "--nor-this"));
}

TEST_CASE("the loader's list of missing libraries") {
  CHECK(nl::orchestrator::parse_missing_libraries("\tlinux-vdso.so.1 (0x1)\n\tlibdw.so.1 => not found\n\tlibc.so.6 => /lib/libc.so.6 "
                                                  "(0x2)\n\tlibdw.so.1 => not found\n") == std::vector<std::string>{"libdw.so.1"});
}

TEST_CASE("the order of the search: config, environment, PATH, usual folders") {
  FakeHost fake;
  const auto opt = fake.tree.program("opt/nvidia/nsight-systems/2025.3.1/target-linux-x64/nsys");
  fake.tree.program("opt/nvidia/nsight-systems/2025.3.1/host-linux-x64/QdstrmImporter");
  CHECK(fake.find().nsys->path == opt);
  CHECK(fake.find().nsys->found_by == "Nsight Systems' folder");
  CHECK(fake.find().nsys->version.text() == "2025.3.1");
  CHECK(fake.find().nsys->has_option("--pytorch"));
  CHECK_FALSE(fake.find().nsys->has_option("--gpu-metrics-device"));
  const auto cuda = fake.tree.program("usr/local/cuda-13.0/bin/nsys");
  CHECK(fake.find().nsys->found_by == "CUDA's folder");
  const auto in_path = fake.tree.program("bin/nsys");
  fake.host.env["PATH"] = "/nonexistent:" + (fake.tree.root() / "bin").string();
  CHECK(fake.find().nsys->path == in_path);
  CHECK(fake.find().nsys->found_by == "PATH");
  fake.host.env["NL_STAGE_NSYS"] = cuda;
  CHECK(fake.find().nsys->found_by == "NL_STAGE_NSYS");
  nl::orchestrator::ToolOptions options;
  options.nsys = opt;
  CHECK(fake.find(options).nsys->found_by == "config tools.nsys");
}

TEST_CASE("the newest of several versions is taken") {
  FakeHost fake;
  fake.tree.program("opt/nvidia/nsight-compute/2025.9.0/ncu");
  const auto newest = fake.tree.program("opt/nvidia/nsight-compute/2025.10.1/ncu");
  CHECK(fake.find().ncu->path == newest);
  CHECK(fake.find().ncu->has_option("--filter-mode"));
}

TEST_CASE("a tool that was named and is not there is an error that names the key") {
  FakeHost fake;
  nl::orchestrator::ToolOptions options;
  options.ncu = "/no/such/ncu";
  try {
    fake.find(options);
    FAIL("no error");
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kTool);
    CHECK(error.message == "/no/such/ncu does not exist");
    CHECK(error.where == "tools.ncu");
  }
  fake.host.env["NL_STAGE_NSYS"] = fake.tree.write("plain-file", "x");
  try {
    fake.find();
    FAIL("no error");
  } catch (const nl::Error& error) {
    CHECK(error.message == (fake.tree.root() / "plain-file").string() + " is not executable");
    CHECK(error.where == "NL_STAGE_NSYS");
  }
  fake.host.env = {{"NL_STAGE_COLLECTOR", "/no/such.so"}};
  CHECK_THROWS_AS(fake.find(), nl::Error);
}

TEST_CASE("a tool that does not start is passed over and said") {
  FakeHost fake;
  const auto stub = fake.tree.program("usr/local/cuda/bin/nsys");
  const auto real = fake.tree.program("opt/nvidia/nsight-compute/2025.3.1/host/target-linux-x64/nsys");
  fake.tree.program("opt/nvidia/nsight-compute/2025.3.1/host/host-linux-x64/QdstrmImporter");
  fake.broken.insert(stub);
  const auto tools = fake.find();
  CHECK(tools.nsys->path == real);
  CHECK(tools.nsys->found_by == "inside Nsight Compute");
  CHECK(tools.rejected == std::vector<std::string>{stub.string() + " answers --version with status 1"});
}

TEST_CASE("an nsys whose importer lies elsewhere is started from a private folder") {
  FakeHost fake;
  const std::string home = "opt/nvidia/nsight-compute/2025.3.1/host/";
  const auto real = fake.tree.program(home + "target-linux-x64/nsys");
  fake.tree.write(home + "target-linux-x64/reports/x.py", "");
  const auto importer = fake.tree.program(home + "linux-desktop-glibc_2_11_3-x64/QdstrmImporter");
  const auto nsys = *fake.find().nsys;
  CHECK(nsys.found_at == real);
  CHECK(nsys.importer == importer);
  CHECK(nsys.importer_trouble.empty());
  CHECK(nsys.path.string().starts_with((fake.tree.root() / "cache").string()));
  CHECK_FALSE(fs::is_symlink(nsys.path));  // nsys looks through links to find where it lies
  CHECK(fs::exists(nsys.path.parent_path().parent_path() / "host-linux-x64/QdstrmImporter"));
  CHECK(fs::exists(nsys.path.parent_path() / "reports/x.py"));
  CHECK_FALSE(fs::exists(fake.tree.root() / home / "host-linux-x64"));  // nothing is written beside the tool
  CHECK(fake.find().nsys->path == nsys.path);                           // and it is used again
  fake.host.cache.clear();
  const auto stuck = *fake.find().nsys;
  CHECK(stuck.path == real);
  CHECK(stuck.importer_trouble.find("no private folder could be made") != std::string::npos);
}

TEST_CASE("Debian's layout: target and host folders apart, libraries without a way to them") {
  FakeHost fake;
  const auto real = fake.tree.program("usr/lib/x86_64-linux-gnu/nsight-systems/target-linux-x64/nsys");
  fake.tree.write("usr/lib/x86_64-linux-gnu/nsight-systems/target-linux-x64/libToolsInjection64.so", "");
  fake.tree.program("usr/lib/nsight-systems/host-linux-x64/QdstrmImporter");
  fake.tree.write("usr/lib/nsight-systems/host-linux-x64/libAnalysis.so", "");
  fake.tree.write("usr/lib/x86_64-linux-gnu/libssh.so.4", "");
  fake.missing = {"libAnalysis.so", "libssh.so"};
  const auto nsys = *fake.find().nsys;
  CHECK(nsys.found_at == real);
  CHECK(nsys.importer_trouble.empty());
  CHECK(nsys.missing_libraries.empty());
  REQUIRE(nsys.env.size() == 1);
  CHECK(nsys.env[0].first == "LD_LIBRARY_PATH");
  CHECK(fs::exists(fs::path(nsys.env[0].second) / "libssh.so"));
  CHECK(fake.find().nsys->env == nsys.env);
  fake.missing.push_back("libdw.so.1");
  CHECK(fake.find().nsys->importer_trouble == "libdw.so.1 was not found");
  CHECK(fake.find().nsys->missing_libraries == std::vector<std::string>{"libdw.so.1"});
}

TEST_CASE("libraries, GPUs and injections") {
  FakeHost fake;
  CHECK_FALSE(fake.find().cupti);
  CHECK_FALSE(fake.find().nvml);
  CHECK_FALSE(fake.find().collector);
  CHECK(fake.find().gpu_trouble == "no library");
  const auto wheel = fake.tree.write("venv/lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12", "");
  fake.host.env["VIRTUAL_ENV"] = (fake.tree.root() / "venv").string();
  CHECK(fake.find().cupti == wheel);
  const auto toolkit = fake.tree.write("usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13", "");
  CHECK(fake.find().cupti == toolkit);
  const auto nvml = fake.tree.write("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "");
  fake.host.ask_nvml = [&](const fs::path& library) {
    return nl::orchestrator::GpuInventory{{library == nvml ? "NVIDIA H200" : "?"}, "580.1", "", 13010};
  };
  fake.host.env["CUDA_INJECTION64_PATH"] = "/x.so";
  const auto collector = fake.tree.write("app/lib/x86_64-linux-gnu/nl-stage/libnl_collector.so", "");
  const auto tools = fake.find();
  CHECK(tools.gpus == std::vector<std::string>{"NVIDIA H200"});
  CHECK(tools.driver_version == "580.1");
  CHECK(tools.cuda_driver_version == 13010);
  CHECK(tools.injection_env == std::vector<std::string>{"CUDA_INJECTION64_PATH"});
  CHECK(tools.collector == collector);
}

TEST_CASE("NVML that cannot be loaded says why") {
  FakeTree tree;
  const auto inventory = nl::orchestrator::host_itself().ask_nvml(tree.write("libnvidia-ml.so.1", "no library"));
  CHECK(inventory.names.empty());
  CHECK_FALSE(inventory.trouble.empty());
}

TEST_CASE("the machine itself: its folders' space and rights, and its environment") {
  const nl::orchestrator::Host host = nl::orchestrator::host_itself();
  const fs::path folder = fs::temp_directory_path();
  const auto space = host.space(folder);
  REQUIRE(space);
  CHECK(space->total_bytes == fs::space(folder).capacity);
  CHECK(space->free_bytes == Approx(static_cast<double>(fs::space(folder).available)).margin(1e9));  // others write there too
  CHECK_FALSE(host.space("/no/such/folder"));
  CHECK(host.writable(folder));
  CHECK_FALSE(host.writable("/no/such/folder"));
  CHECK(!host.architecture.empty());
  CHECK(host.env.count("PATH") == 1);
  CHECK(fs::exists(host.program_folder / "orchestrator_tests"));
}
