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
  for (const char* place :
       {"usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13", "usr/local/cuda/targets/sbsa-linux/lib/libcupti.so.13",
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
  for (const auto& [variable, key] : {std::pair("NL_STAGE_CUPTI", "tools.cupti"), std::pair("NL_STAGE_NVML", "tools.nvml"),
                                      std::pair("NL_STAGE_COLLECTOR", "tools.collector")}) {
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
  fake.host.start = [](const nl::orchestrator::ProcessSpec&) -> nl::orchestrator::ProcessResult {
    throw nl::Error(nl::ErrorKind::kTool, "no such thing");
  };
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
  CHECK(fake.find().nsys->importer_trouble ==
        "there is no " + (fake.tree.root() / "opt/nvidia/nsight-systems/2025.3.1/host-linux-armv8/QdstrmImporter").string());
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
  CHECK(parse_help_options(
            "    -a, --four-in\n     --five-in\n\t(Beta) --beta=\n(none\n no --option\n--zed --zed  --after\n--\n  --on-[a|b]= \n") ==
        Texts{"--beta", "--four-in", "--on-a", "--on-b", "--zed"});
  CHECK(nl::orchestrator::parse_missing_libraries("\tb.so => not found\n a.so => not found\n => not found\nlast.so => not found") ==
        Texts{"a.so", "b.so", "last.so"});
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
  for (const char* name : {"XDG_CACHE_HOME", "HOME", "TMPDIR"})
    kept[name] = std::getenv(name) ? std::optional<std::string>(std::getenv(name)) : std::nullopt;
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
  fake.missing = {"libother.so.4"};  // only for libssh a runtime library is enough
  fake.tree.write("loader/libother.so.4", "");
  fake.host.cache.clear();
  CHECK(fake.find().nsys->importer_trouble == "libother.so.4 was not found");
}
