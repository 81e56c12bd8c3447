#include "orchestrator/machine/tools.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "model/error.h"
#include "orchestrator/machine/tools_host.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using nl::test::FakeTree;

namespace {

std::string help(const std::string& name) { return nl::test::read_file(fs::path(NL_FIXTURES) / "help" / name); }

// A machine whose programs answer as the real ones do, without any being started.
struct FakeHost {
  FakeHost() {
    host.root = tree.root();
    host.architecture = "x86_64";
    host.cache = tree.root() / "cache";
    host.program_folder = tree.root() / "app/bin";
    host.ask_nvml = [](const fs::path&) { return nl::orchestrator::GpuInventory{{}, {}, "no library"}; };
    host.space = [](const fs::path&) { return std::nullopt; };
    host.writable = [](const fs::path&) { return true; };
    host.start = [this](const nl::orchestrator::ProcessSpec& spec) { return answer(spec); };
  }

  nl::orchestrator::ProcessResult answer(const nl::orchestrator::ProcessSpec& spec) {
    started.push_back(spec);
    nl::orchestrator::ProcessResult result;
    const std::string program = fs::path(spec.argv[0]).filename();
    if (broken.count(spec.argv[0])) {
      result.exit_status = 1;
      return result;
    }
    if (spec.env.count("LD_TRACE_LOADED_OBJECTS")) {
      for (const auto& library : missing)
        if (!fs::exists(library_path(spec) / library)) result.stdout_text += "\t" + library + " => not found\n";
      return result;
    }
    if (program == "ncu")
      result.stdout_text = spec.argv[1] == "--version"
                               ? "Copyright (c) 2018-2025 NVIDIA Corporation\nVersion 2025.3.1.0 (build 1)\n"
                               : help("ncu-2025.3.1.txt");
    else if (spec.argv[1] == "profile")
      result.stdout_text = help("nsys-2025.3.1-profile.txt");
    else if (spec.argv[1] == "export")
      result.stdout_text = help("nsys-2025.3.1-export.txt");
    else
      result.stdout_text = "NVIDIA Nsight Systems version 2025.3.1.0\n";
    return result;
  }

  static fs::path library_path(const nl::orchestrator::ProcessSpec& spec) {
    const auto found = spec.env.find("LD_LIBRARY_PATH");
    return found == spec.env.end() ? fs::path("/nonexistent")
                                   : fs::path(found->second.substr(0, found->second.find(':')));
  }

  nl::orchestrator::Toolset find(const nl::orchestrator::ToolOptions& options = {}) { return nl::orchestrator::find_tools(options, host); }

  FakeTree tree;
  nl::orchestrator::Host host;
  std::set<std::string> broken;
  std::vector<std::string> missing;
  std::vector<nl::orchestrator::ProcessSpec> started;
};

}  // namespace

TEST_CASE("versions are read from what the tools say") {
  CHECK(nl::orchestrator::parse_tool_version("NVIDIA Nsight Systems version 2022.4.2.1-df9881f").text() == "2022.4.2");
  CHECK(nl::orchestrator::parse_tool_version("Copyright (c) 2018-2025 NVIDIA\nVersion 2025.3.1.0 (build 36398880) (public-release)")
            .text() == "2025.3.1");
  CHECK(nl::orchestrator::parse_tool_version("nsys: not found").text().empty());
  CHECK(nl::orchestrator::ToolVersion{2025, 10, 0} > nl::orchestrator::ToolVersion{2025, 9, 3});
}

TEST_CASE("options are read from the help texts") {
  const auto nsys = nl::orchestrator::parse_help_options(help("nsys-2022.4.2-profile.txt"));
  const auto has = [](const std::vector<std::string>& options, const char* option) {
    return std::find(options.begin(), options.end(), option) != options.end();
  };
  CHECK(nsys.size() == 53);  // 52 lines, one of which stands for two options
  CHECK(has(nsys, "--cuda-graph-trace"));
  CHECK(has(nsys, "--nvtx-domain-exclude"));
  CHECK_FALSE(has(nsys, "--pytorch"));
  CHECK(has(nl::orchestrator::parse_help_options(help("nsys-2025.3.1-profile.txt")), "--pytorch"));
  CHECK(has(nl::orchestrator::parse_help_options(help("nsys-2025.3.1-profile.txt")), "--storage-metrics"));
  const auto ncu = nl::orchestrator::parse_help_options(help("ncu-2025.3.1.txt") +
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
    return nl::orchestrator::GpuInventory{{library == nvml ? "NVIDIA H200" : "?"}, "580.1", ""};
  };
  fake.host.env["CUDA_INJECTION64_PATH"] = "/x.so";
  const auto collector = fake.tree.write("app/lib/x86_64-linux-gnu/nl-stage/libnl_collector.so", "");
  const auto tools = fake.find();
  CHECK(tools.gpus == std::vector<std::string>{"NVIDIA H200"});
  CHECK(tools.driver_version == "580.1");
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

TEST_CASE("every usual place of every tool is looked into") {
  struct Found {
    const char *file, *found_by;
  };
  for (const Found& found : {Found{"usr/local/cuda-13.0/bin/nsys", "CUDA's folder"},
                             {"opt/nvidia/nsight-systems/2025.3.1/bin/nsys", "Nsight Systems' folder"},
                             {"opt/nvidia/nsight-systems/2025.3.1/target-linux-x64/nsys", "Nsight Systems' folder"},
                             {"opt/nvidia/nsight-systems-cli/bin/nsys", "Nsight Systems' folder"},
                             {"opt/nvidia/nsight-systems-cli/target-linux-x64/nsys", "Nsight Systems' folder"},
                             {"usr/local/cuda/nsight-systems-2025.3.1/target-linux-x64/nsys", "CUDA's folder"},
                             {"usr/lib/nsight-systems/bin/nsys", "Debian's folder"},
                             {"usr/lib/x86_64-linux-gnu/nsight-systems/target-linux-x64/nsys", "Debian's folder"},
                             {"opt/nvidia/nsight-compute/2025.3.1/host/target-linux-x64/nsys", "inside Nsight Compute"},
                             {"usr/local/cuda/nsight-compute-2025.3.1/host/target-linux-x64/nsys", "inside Nsight Compute"},
                             {"usr/local/cuda/bin/ncu", "CUDA's folder"},
                             {"opt/nvidia/nsight-compute/2025.3.1/ncu", "Nsight Compute's folder"},
                             {"usr/local/cuda/nsight-compute-2025.3.1/ncu", "CUDA's folder"},
                             {"usr/lib/nsight-compute/ncu", "Debian's folder"},
                             {"usr/lib/x86_64-linux-gnu/nsight-compute/ncu", "Debian's folder"}}) {
    INFO(found.file);
    FakeHost fake;
    const auto file = fake.tree.program(found.file);
    const auto tools = fake.find();
    const auto& tool = file.filename() == "ncu" ? tools.ncu : tools.nsys;
    REQUIRE(tool);
    CHECK(tool->found_at == file);
    CHECK(tool->found_by == found.found_by);
    CHECK((file.filename() == "ncu" ? tools.nsys : tools.ncu).has_value() == false);
  }
  for (const char* place : {"usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13", "usr/local/cuda/targets/sbsa-linux/lib/libcupti.so.13",
                            "usr/local/cuda/lib64/libcupti.so", "usr/lib/x86_64-linux-gnu/libcupti.so.12", "usr/lib64/libcupti.so.12",
                            "usr/local/lib/python3.12/dist-packages/nvidia/cuda_cupti/lib/libcupti.so.12",
                            "usr/lib/python3/dist-packages/nvidia/cuda_cupti/lib/libcupti.so.12", "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
                            "usr/lib64/libnvidia-ml.so.1", "usr/lib/libnvidia-ml.so.1", "usr/lib/wsl/lib/libnvidia-ml.so.1",
                            "usr/local/nvidia/lib64/libnvidia-ml.so.1", "app/collector/libnl_collector.so", "app/lib/nl-stage/libnl_collector.so",
                            "app/lib/x86_64-linux-gnu/nl-stage/libnl_collector.so", "app/lib64/nl-stage/libnl_collector.so"}) {
    INFO(place);
    FakeHost fake;
    const auto file = fake.tree.write(place, "");
    const auto tools = fake.find();
    const std::string name = file.filename().string();
    CHECK((name.starts_with("libcupti") ? tools.cupti : name.starts_with("libnvidia") ? tools.nvml : tools.collector) == file);
    CHECK(tools.cupti.has_value() + tools.nvml.has_value() + tools.collector.has_value() == 1);
  }
}

TEST_CASE("libraries: what is named wins, then the loader's path, then the usual places, then Python's") {
  FakeHost fake;
  const std::string wheel = "lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12";
  const auto in_home = fake.tree.write("home/.local/" + wheel, "");
  fake.host.env["HOME"] = (fake.tree.root() / "home").string();
  CHECK(fake.find().cupti == in_home);
  const auto in_conda = fake.tree.write("conda/" + wheel, "");
  fake.host.env["CONDA_PREFIX"] = (fake.tree.root() / "conda").string();
  CHECK(fake.find().cupti == in_conda);
  const auto in_venv = fake.tree.write("venv/" + wheel, "");
  fake.host.env["VIRTUAL_ENV"] = (fake.tree.root() / "venv").string();
  CHECK(fake.find().cupti == in_venv);
  fake.tree.write("usr/lib64/libcupti.so.13", "");
  const auto in_path = fake.tree.write("loader/libcupti.so", "");
  fake.host.env["LD_LIBRARY_PATH"] = "/none::" + (fake.tree.root() / "loader").string();
  CHECK(fake.find().cupti == in_path);
  const auto named = fake.tree.write("named.so", "");
  for (const auto& [variable, key] : {std::pair("NL_STAGE_CUPTI", "tools.cupti"), std::pair("NL_STAGE_NVML", "tools.nvml"), std::pair("NL_STAGE_COLLECTOR", "tools.collector")}) {
    INFO(variable);
    fake.host.env[variable] = "/no/such.so";
    try {
      fake.find();
      FAIL("no error");
    } catch (const nl::Error& error) {
      CHECK(error.message == "/no/such.so does not exist");
      CHECK(error.where == variable);
      CHECK(error.fix == std::string("correct ") + variable + ", or remove it to search the usual places");
    }
    fake.host.env[variable] = named;
  }
  auto tools = fake.find();
  CHECK(tools.cupti == named);
  CHECK(tools.nvml == named);
  CHECK(tools.collector == named);
  nl::orchestrator::ToolOptions options;
  options.cupti = in_conda;
  options.nvml = in_home;
  options.collector = in_path;
  tools = fake.find(options);
  CHECK(tools.cupti == in_conda);
  CHECK(tools.nvml == in_home);
  CHECK(tools.collector == in_path);
}

TEST_CASE("how tools are asked, and each answer that does not count") {
  FakeHost fake;
  const auto ncu = fake.tree.program("usr/lib/nsight-compute/ncu");
  fake.host.start = [&](const nl::orchestrator::ProcessSpec& spec) {
    fake.started.push_back(spec);
    return fake.answer(spec);
  };
  CHECK(fake.find().ncu);
  REQUIRE(fake.started.size() >= 2);
  CHECK(fake.started[0].argv == std::vector<std::string>{ncu.string(), "--version"});
  CHECK(fake.started[0].env == std::map<std::string, std::string>{{"LC_ALL", "C"}});
  CHECK(fake.started[0].timeout_s == 20);
  CHECK(fake.started[0].grace_s == 1);
  CHECK(fake.started.back().argv == std::vector<std::string>{ncu.string(), "--help"});
  nl::orchestrator::ProcessResult result;
  fake.host.start = [&](const nl::orchestrator::ProcessSpec&) { return result; };
  const auto rejected = [&] { return fake.find().rejected; };
  using Texts = std::vector<std::string>;
  CHECK(rejected() == Texts{ncu.string() + " answers --version without a version"});
  result.exit_status = 3;
  CHECK(rejected() == Texts{ncu.string() + " answers --version with status 3"});
  result.timed_out = true;
  CHECK(rejected() == Texts{ncu.string() + " does not answer --version within 20 s"});
  fake.host.start = [](const nl::orchestrator::ProcessSpec&) -> nl::orchestrator::ProcessResult { throw nl::Error(nl::ErrorKind::kTool, "no such thing"); };
  CHECK(rejected() == Texts{ncu.string() + " cannot be started: no such thing"});
  nl::orchestrator::ToolOptions options;
  options.ncu = ncu;
  try {
    fake.find(options);
    FAIL("no error");
  } catch (const nl::Error& error) {
    CHECK(error.message == ncu.string() + " cannot be started: no such thing");
    CHECK(error.where == "tools.ncu");
    CHECK(error.fix == "correct tools.ncu, or remove it to search the usual places");
  }
  // The version and the help may come on standard error.
  fake.host.start = [&](const nl::orchestrator::ProcessSpec& spec) {
    auto answer = fake.answer(spec);
    std::swap(answer.stdout_text, answer.stderr_text);
    return answer;
  };
  REQUIRE(fake.find().ncu);
  CHECK(fake.find().ncu->version.text() == "2025.3.1");
  CHECK_FALSE(fake.find().ncu->has_option("--no-such-option"));
  CHECK(fake.find().ncu->has_option("--kernel-name"));
}

TEST_CASE("options of the export are those of the export, and an unknown help allows every option") {
  FakeHost fake;
  fake.tree.program("usr/local/cuda/bin/nsys");
  const auto nsys = *fake.find().nsys;
  CHECK(nsys.has_export_option("--force-overwrite"));
  CHECK(nsys.has_export_option("--type"));
  CHECK_FALSE(nsys.has_export_option("--pytorch"));
  CHECK(nsys.has_option("--pytorch"));
  CHECK_FALSE(nsys.has_option("--type"));
  CHECK(nl::orchestrator::Tool().has_option("--anything"));
  CHECK(nl::orchestrator::Tool().has_export_option("--anything"));
}

TEST_CASE("NVML that only the loader knows, a second injection, and the folders of an Arm machine") {
  FakeHost fake;
  fake.host.ask_nvml = [](const fs::path& library) { return nl::orchestrator::GpuInventory{{library.string()}, "1", ""}; };
  fake.host.env["NVTX_INJECTION64_PATH"] = "/y.so";
  const auto tools = fake.find();
  CHECK(tools.nvml == fs::path("libnvidia-ml.so.1"));
  CHECK(tools.gpus == std::vector<std::string>{"libnvidia-ml.so.1"});
  CHECK(tools.injection_env == std::vector<std::string>{"NVTX_INJECTION64_PATH"});
  fake.host.architecture = "aarch64";
  fake.tree.program("opt/nvidia/nsight-systems/2025.3.1/target-linux-x64/nsys");
  CHECK_FALSE(fake.find().nsys);
  const auto plain = fake.tree.program("opt/nvidia/nsight-systems/2025.3.1/target-linux-armv8/nsys");
  CHECK(fake.find().nsys->found_at == plain);
  CHECK(fake.find().nsys->importer_trouble == "there is no " + (fake.tree.root() / "opt/nvidia/nsight-systems/2025.3.1/host-linux-armv8/QdstrmImporter").string());
  const auto server = fake.tree.program("opt/nvidia/nsight-systems/2025.3.1/target-linux-sbsa-armv8/nsys");
  const auto importer = fake.tree.program("opt/nvidia/nsight-systems/2025.3.1/host-linux-armv8/QdstrmImporter");
  CHECK(fake.find().nsys->found_at == server);
  CHECK(fake.find().nsys->importer == importer);
}

TEST_CASE("an importer that does not start is told by its status, or by why it cannot be started") {
  FakeHost fake;
  fake.tree.program("opt/nvidia/nsight-systems/2025.3.1/target-linux-x64/nsys");
  const auto importer = fake.tree.program("opt/nvidia/nsight-systems/2025.3.1/host-linux-x64/QdstrmImporter");
  fake.host.start = [&](const nl::orchestrator::ProcessSpec& spec) {
    auto answer = fake.answer(spec);
    if (spec.argv[0] == importer && !spec.env.count("LD_TRACE_LOADED_OBJECTS")) {
      CHECK(spec.argv == std::vector<std::string>{importer.string(), "--version"});
      CHECK(spec.timeout_s == 20);
      answer.exit_status = 7;
    }
    return answer;
  };
  CHECK(fake.find().nsys->importer_trouble == "it ends with status 7");
  fake.host.start = [&](const nl::orchestrator::ProcessSpec& spec) {
    if (spec.argv[0] == importer) throw nl::Error(nl::ErrorKind::kTool, "wrong format");
    return fake.answer(spec);
  };
  CHECK(fake.find().nsys->importer_trouble == "wrong format");
}

TEST_CASE("what is read of versions, help texts and the loader's list, at their edges") {
  using nl::orchestrator::parse_tool_version;
  CHECK(parse_tool_version("2018.0.1").text() == "2018.0.1");
  CHECK(parse_tool_version("2017.9.9").text() == "");
  CHECK(parse_tool_version("2099.1.2").text() == "2099.1.2");
  CHECK(parse_tool_version("20100.1.2").text() == "");
  CHECK(parse_tool_version("2025.3").text() == "");
  CHECK(parse_tool_version("2025.3-1, then 2024.1.2").text() == "2024.1.2");
  using nl::orchestrator::parse_help_options;
  using Texts = std::vector<std::string>;
  CHECK(parse_help_options("    -a, --four-in\n     --five-in\n\t(Beta) --beta=\n(none\n no --option\n--zed --zed  --after\n--\n  --on-[a|b]= \n") ==
        Texts{"--beta", "--four-in", "--on-a", "--on-b", "--zed"});
  CHECK(nl::orchestrator::parse_missing_libraries("\tb.so => not found\n a.so => not found\n => not found\nlast.so => not found") == Texts{"a.so", "b.so", "last.so"});
}

TEST_CASE("a made machine's files: what is read, matched and temporary") {
  FakeTree tree;
  nl::orchestrator::Host host;
  host.root = tree.root();
  tree.write("a/x1/f", "text\n");
  tree.write("a/x10/f", "");
  tree.write("a/x9/f", "");
  tree.write("a/y/f", "");
  CHECK(host.at("/a/x1") == tree.root() / "a/x1");
  CHECK(host.read("/a/x1/f") == "text\n");
  CHECK_FALSE(host.read("/a/none"));
  CHECK(host.exists("/a"));
  CHECK_FALSE(host.exists("/b"));
  CHECK(host.match("/a/x*/f") == std::vector<fs::path>{tree.root() / "a/x10/f", tree.root() / "a/x9/f", tree.root() / "a/x1/f"});
  CHECK(host.match("/a/x1/f") == std::vector<fs::path>{tree.root() / "a/x1/f"});
  CHECK(host.match("/a/x*/none").empty());
  CHECK(host.temporary_folder() == tree.root() / "tmp");
  host.env["TMPDIR"] = "/elsewhere";
  CHECK(host.temporary_folder() == "/elsewhere");
  CHECK(host.variable("TMPDIR") == "/elsewhere");
  CHECK(host.variable("NONE") == "");
  CHECK(nl::orchestrator::is_executable_file(tree.program("p")));
  CHECK_FALSE(nl::orchestrator::is_executable_file(tree.write("q", "")));
  CHECK_FALSE(nl::orchestrator::is_executable_file(tree.root()));
}

TEST_CASE("this machine's cache: XDG's folder, else the home's, else one of the user's in the temporary folder") {
  std::map<std::string, std::optional<std::string>> kept;
  for (const char* name : {"XDG_CACHE_HOME", "HOME", "TMPDIR"}) kept[name] = std::getenv(name) ? std::optional<std::string>(std::getenv(name)) : std::nullopt;
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  setenv("HOME", "/home/me", 1);
  setenv("TMPDIR", "/tmp/mine", 1);
  const fs::path by_xdg = nl::orchestrator::host_itself().cache;
  unsetenv("XDG_CACHE_HOME");
  const fs::path by_home = nl::orchestrator::host_itself().cache;
  unsetenv("HOME");
  const fs::path by_user = nl::orchestrator::host_itself().cache;
  for (const auto& [name, value] : kept) value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  CHECK(by_xdg == "/xdg/nl-stage");
  CHECK(by_home == "/home/me/.cache/nl-stage");
  CHECK(by_user == "/tmp/mine/nl-stage-" + std::to_string(geteuid()));
}

TEST_CASE("a runtime library that only the loader's path has is linked for nsys, and that path is kept behind it") {
  FakeHost fake;
  fake.tree.program("opt/nvidia/nsight-systems/2025.3.1/target-linux-x64/nsys");
  fake.tree.program("opt/nvidia/nsight-systems/2025.3.1/host-linux-x64/QdstrmImporter");
  const auto library = fake.tree.write("loader/libssh.so.4", "");
  const std::string path = ":/none:" + library.parent_path().string();
  fake.host.env["LD_LIBRARY_PATH"] = path;
  fake.missing = {"libssh.so"};
  const auto nsys = *fake.find().nsys;
  REQUIRE(nsys.env.size() == 1);
  CHECK(nsys.env[0].second.ends_with("-lib:" + path));
  CHECK(fs::read_symlink(fs::path(nsys.env[0].second.substr(0, nsys.env[0].second.find(':'))) / "libssh.so") == library);
  fake.missing = {"libother.so.4"};  // of libssh alone a runtime library will do
  fake.tree.write("loader/libother.so.4", "");
  fake.host.cache.clear();
  CHECK(fake.find().nsys->importer_trouble == "libother.so.4 was not found");
}
