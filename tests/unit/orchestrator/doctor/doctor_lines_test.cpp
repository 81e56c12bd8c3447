#include "orchestrator/doctor/doctor.h"

#include <algorithm>
#include <cerrno>
#include <functional>

#include "tests/catch.h"
#include "tests/unit/orchestrator/doctor/made_machine.h"

namespace fs = std::filesystem;
using Level = nl::orchestrator::CheckLevel;
using nl::test::kMiB, nl::test::Machine;

namespace {

// "level id: finding | fix", without the line of libcrypto, which is that of this very machine.
std::vector<std::string> lines_of(const std::vector<nl::orchestrator::Check>& checks, const fs::path& root) {
  std::vector<std::string> lines;
  for (const auto& check : checks) {
    if (check.id == "libcrypto") continue;
    std::string line = std::string(nl::orchestrator::level_name(check.level)) + " " + check.id + ": " + check.finding;
    if (!check.fix.empty()) line += " | " + check.fix;
    for (std::size_t at; (at = line.find(root.string())) != std::string::npos;) line.replace(at, root.string().size(), "ROOT");
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> ids_of(const std::vector<nl::orchestrator::Check>& checks) {
  std::vector<std::string> ids;
  for (const auto& check : checks) ids.push_back(check.id);
  return ids;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("the doctor of a healthy machine: every line") {
  Machine machine;
  machine.config.artifacts.dir = machine.tree.root() / "runs/not/there";
  machine.tools.cupti = "/c/libcupti.so.13";
  CHECK(lines_of(nl::orchestrator::diagnose(machine.tools, machine.config, machine.host), machine.tree.root()) ==
        Lines{"ok nsys: 2025.3.1 at /opt/nsight/target-linux-x64/nsys (PATH)",
              "ok nsys.importer: starts: /opt/nsight/host-linux-x64/QdstrmImporter",
              "ok ncu: 2025.3.1 at /opt/nsight/target-linux-x64/nsys (PATH)",
              "ok cupti: /c/libcupti.so.13",
              "ok gpu: NVIDIA H200; driver unknown",
              "ok collector: /lib/libnl_collector.so",
              "warning counters.permission: /proc/driver/nvidia/params does not say who may read them | sudo nl-stage …   # where ncu "
              "reports ERR_NVGPUCTRPERM",
              "ok counters.cupti: not used: ncu was found",
              "ok perf_event_paranoid: perf_event_paranoid is unknown; sampling is off",
              "ok native_stacks: the kernel lets nl-stage sample programs that it starts (perf_event_open)",
              "ok tmpdir: ROOT/tmp is writable, 8.0 GiB free",
              "ok artifacts: ROOT is writable, 8.0 GiB free",
              "ok injection: CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH are not set",
              "ok profilers: none is running",
              "ok ncu.lock: none",
              "ok container.memory: none",
              "ok container.shm: not there",
              "ok container.ptrace: allowed for own children",
              "ok container.seccomp: none",
              "ok timing.virtual_machine: none was detected",
              "ok nsys.trial: nsys traced `true` and made a report"});
}

TEST_CASE("the doctor of a sick machine: every line") {
  Machine machine;
  machine.capabilities("0");
  machine.makes_report = false;
  machine.space = {200 * kMiB, 64 * kMiB};
  machine.config.artifacts.dir = machine.tree.root();
  machine.config.nsys.cpuctxsw = "system-wide";
  machine.tools.nsys->path = "/cache/nsys";
  machine.tools.nsys->importer_trouble = "libdw.so.1 was not found";
  machine.tools.nsys->missing_libraries = {"libdw.so.1", "libodd.so", "libssh.so"};
  machine.tools.ncu.reset();
  machine.tools.collector.reset();
  machine.tools.driver_version = "580.1";
  machine.tools.gpus = {"NVIDIA H200", "NVIDIA L4"};
  machine.tools.rejected = {"/x does not start", "/y neither"};
  machine.tools.injection_env = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
  machine.read_only = machine.tree.write("tmp/nsight-compute-lock", "");
  machine.tree.write("proc/driver/nvidia/params", "XRmProfilingAdminOnly: 0\nRmProfilingAdminOnly:\t 1 \r\nLast: 0");
  machine.tree.write("proc/sys/kernel/perf_event_paranoid", "1\n");
  machine.host.try_perf_events = [] { return EPERM; };
  machine.tree.write("proc/12/comm", "nsys\n");
  machine.tree.write("proc/9/comm", "ncu-ui\n");
  machine.tree.write("sys/fs/cgroup/memory.max", "1073741824\n");
  machine.tree.write("dev/shm/x", "");
  machine.tree.write("proc/sys/kernel/yama/ptrace_scope", "3\n");
  const auto checks = nl::orchestrator::diagnose(machine.tools, machine.config, machine.host);
  CHECK(
      lines_of(checks, machine.tree.root()) ==
      Lines{
          "ok nsys: 2025.3.1 at /opt/nsight/target-linux-x64/nsys (PATH), started as /cache/nsys",
          "blocked nsys.importer: /opt/nsight/host-linux-x64/QdstrmImporter: libdw.so.1 was not found; captures would end without a report "
          "(missing: libdw.so.1, libodd.so, libssh.so) | sudo apt-get install libdw1 libssh-4",
          "warning ncu: not found: kernels are timed, but not measured | sudo apt-get install cuda-nsight-compute-13-0   # from NVIDIA's "
          "repository",
          "ok cupti: not found; nsys and ncu bring their own, the collector looks for one in the workload's process too",
          "ok gpu: NVIDIA H200, NVIDIA L4; driver 580.1",
          "warning collector: libnl_collector.so was not found: there is no fallback where nsys is missing | "
          "install the nl-stage package again, which has it, or name one: NL_STAGE_COLLECTOR=PATH",
          "warning tools.rejected: /x does not start | remove it, or name the right one: NL_STAGE_NSYS=PATH, NL_STAGE_NCU=PATH",
          "warning tools.rejected: /y neither | remove it, or name the right one: NL_STAGE_NSYS=PATH, NL_STAGE_NCU=PATH",
          "blocked counters.permission: restricted to administrators (ERR_NVGPUCTRPERM), and this process has no CAP_SYS_ADMIN | "
          "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-profiling.conf && sudo "
          "update-initramfs -u && "
          "sudo reboot   # or: sudo -E nl-stage run …, or: --set ncu.enabled=false",
          "ok counters.cupti: not used: neither ncu nor the collector was found: nothing can count",
          "blocked perf_event_paranoid: perf_event_paranoid is 1: the kernel allows no system-wide sampling | sudo sysctl "
          "kernel.perf_event_paranoid=0",
          "warning native_stacks: perf_event_open is forbidden by a filter of system calls, as containers have one: the collector's traces "
          "name no function of a native program | docker run --cap-add=PERFMON …",
          "warning tmpdir: ROOT/tmp is writable, 200 MiB free; a capture may need more than 1 GiB | "
          "export TMPDIR=DIR   # a writable folder with more than 1 GiB free",
          "warning artifacts: ROOT is writable, 200 MiB free; a capture may need more than 1 GiB | "
          "nl-stage run --out DIR …   # a writable folder with more than 1 GiB free",
          "warning injection: CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH set: ncu refuses to start beside it; nl-stage run unsets it "
          "for its passes | "
          "unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH",
          "warning profilers: running: nsys (12), ncu-ui (9); counters can be held by one at a time | nsys sessions list; nsys shutdown "
          "--session=NAME",
          "blocked ncu.lock: ROOT/tmp/nsight-compute-lock belongs to another user: ncu cannot open it | "
          "sudo rm ROOT/tmp/nsight-compute-lock   # or: export TMPDIR=DIR",
          "warning container.memory: 1.0 GiB: the workload and the importer share it | docker run --memory=8g …",
          "warning container.shm: 64 MiB: data loaders and NCCL want more | docker run --shm-size=2g …",
          "warning container.ptrace: ptrace_scope is 3: attaching to processes is not allowed | reboot with kernel.yama.ptrace_scope=1",
          "warning container.seccomp: on: it may forbid perf_event_open, which CPU sampling needs | "
          "docker run --cap-add=SYS_ADMIN --security-opt seccomp=unconfined …",
          "ok timing.virtual_machine: none was detected",
          "blocked nsys.trial: nsys traced `true` but made no report: Importer error status: An unknown error occurred. | "
          "sudo apt-get install libdw1 libssh-4"});
  CHECK(nl::orchestrator::any_blocked(checks));
}

TEST_CASE("the doctor of a machine with a GPU: what makes its timings doubtful, as warnings") {
  Machine machine;
  machine.tools.nvml = NL_BUILD_ROOT "/tests/unit/orchestrator/libfake_nvml.so";
  machine.tree.write("sys/class/dmi/id/sys_vendor", "QEMU\n");
  setenv("NL_FAKE_NVML_ECC_SWITCH", "1", 1);
  Lines timing;
  for (const std::string& line : lines_of(nl::orchestrator::diagnose(machine.tools, machine.config, machine.host), machine.tree.root()))
    if (line.find(" timing.") != std::string::npos) timing.push_back(line);
  unsetenv("NL_FAKE_NVML_ECC_SWITCH");
  CHECK(timing == Lines{"warning timing.virtual_machine: this is a virtual machine (QEMU ): others may share its processors | time on a "
                        "machine of your own",
                        "warning timing.clocks: GPU 0 (NVIDIA H200): its clocks are not locked, so they follow temperature and power | "
                        "sudo nvidia-smi --lock-gpu-clocks=MHZ",
                        "warning timing.persistence: GPU 0 (NVIDIA H200): persistence mode is off, so each run waits for the driver | sudo "
                        "nvidia-smi --persistence-mode=1",
                        "ok timing.processes: none is on the GPU", "ok timing.mig: off",
                        "warning timing.ecc: GPU 0 (NVIDIA H200): ECC changes with the next reset, and memory bandwidth with it | reset "
                        "the GPU: sudo nvidia-smi --gpu-reset"});
}

TEST_CASE("preflight: which checks a configuration on a machine has") {
  struct Wanted {
    const char* what;
    std::function<void(Machine&)> change;
    Lines ids;
  };
  const std::vector<Wanted> table = {
      {"all there",
       [](Machine&) {},
       {"nsys", "nsys.importer", "gpu", "perf_event_paranoid", "counters.permission", "ncu.lock", "profilers", "tmpdir", "artifacts",
        "injection"}},
      {"no ncu: the collector counts",
       [](Machine& machine) { machine.tools.ncu.reset(); },
       {"nsys", "nsys.importer", "gpu", "perf_event_paranoid", "ncu", "counters.cupti", "tmpdir", "artifacts", "injection"}},
      {"ncu is off",
       [](Machine& machine) { machine.config.ncu.enabled = false, machine.tools.ncu.reset(); },
       {"nsys", "nsys.importer", "gpu", "perf_event_paranoid", "tmpdir", "artifacts", "injection"}},
      {"no GPU",
       [](Machine& machine) { machine.tools.gpus.clear(); },
       {"nsys", "nsys.importer", "gpu", "perf_event_paranoid", "tmpdir", "artifacts", "injection"}},
      {"no nsys",
       [](Machine& machine) { machine.tools.nsys.reset(); },
       {"nsys", "counters.permission", "ncu.lock", "profilers", "tmpdir", "artifacts", "injection"}},
      {"no collector",
       [](Machine& machine) { machine.tools.collector.reset(); },
       {"nsys", "nsys.importer", "gpu", "perf_event_paranoid", "counters.permission", "ncu.lock", "profilers", "tmpdir", "artifacts",
        "injection"}},
      {"nothing traces",
       [](Machine& machine) { machine.config.nsys.enabled = false, machine.tools.collector.reset(); },
       {"tmpdir", "artifacts", "injection"}},
      {"no nsys, no collector",
       [](Machine& machine) { machine.tools.nsys.reset(), machine.tools.collector.reset(); },
       {"nsys", "tmpdir", "artifacts", "injection"}},
  };
  for (const Wanted& wanted : table) {
    INFO(wanted.what);
    Machine machine;
    wanted.change(machine);
    CHECK(ids_of(nl::orchestrator::preflight(machine.tools, machine.config, machine.host)) == wanted.ids);
  }
  Machine bare;
  bare.tools.nsys.reset();
  const auto ids = ids_of(nl::orchestrator::diagnose(bare.tools, bare.config, bare.host));
  CHECK(std::find(ids.begin(), ids.end(), "nsys.importer") == ids.end());
  CHECK(std::find(ids.begin(), ids.end(), "nsys.trial") == ids.end());
}

TEST_CASE("the doctor's bounds: space, memory, sampling") {
  Machine machine;
  const auto line = [&](const nl::orchestrator::Check& check) { return lines_of({check}, machine.tree.root()).front(); };
  const std::string fix = " | export TMPDIR=DIR   # a writable folder with more than 1 GiB free",
                    more = "; a capture may need more than 1 GiB";
  const auto with_free = [&](std::uint64_t bytes) {
    machine.space.free_bytes = bytes;
    return line(nl::orchestrator::check_temporary(machine.host));
  };
  CHECK(with_free(1024 * kMiB) == "ok tmpdir: ROOT/tmp is writable, 1.0 GiB free");
  CHECK(with_free(1024 * kMiB - 1) == "warning tmpdir: ROOT/tmp is writable, 1023 MiB free" + more + fix);
  CHECK(with_free(64 * kMiB) == "warning tmpdir: ROOT/tmp is writable, 64 MiB free" + more + fix);
  CHECK(with_free(64 * kMiB - 1) == "blocked tmpdir: ROOT/tmp is writable, 63 MiB free" + more + fix);
  machine.host.space = [](const fs::path&) { return std::nullopt; };
  CHECK(line(nl::orchestrator::check_temporary(machine.host)) == "warning tmpdir: the space of ROOT/tmp is unknown | df -h ROOT/tmp");
  machine.tree.write("dev/shm/x", "");
  CHECK(line(nl::orchestrator::check_shared_memory(machine.host)) == "ok container.shm: its size cannot be read");
  machine.host.space = [&](const fs::path& path) {
    CHECK(path == machine.tree.root() / "dev/shm");
    return std::optional(nl::orchestrator::FileSpace{0, 64 * kMiB + 1});
  };
  CHECK(line(nl::orchestrator::check_shared_memory(machine.host)) == "ok container.shm: 64 MiB");
  const auto with_limit = [&](const std::string& text) {
    machine.tree.write("sys/fs/cgroup/memory.max", text);
    return line(nl::orchestrator::check_memory(machine.host));
  };
  CHECK(with_limit("4294967296") == "ok container.memory: 4.0 GiB");
  CHECK(with_limit("4294967295") == "warning container.memory: 4.0 GiB: the workload and the importer share it | docker run --memory=8g …");
  CHECK(with_limit("0") == "ok container.memory: none");
  CHECK(with_limit("1152921504606846976") == "ok container.memory: 1073741824.0 GiB");
  CHECK(with_limit("1152921504606846977") == "ok container.memory: none");
  fs::remove(machine.tree.root() / "sys/fs/cgroup/memory.max");
  machine.tree.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "8589934592\n");
  CHECK(line(nl::orchestrator::check_memory(machine.host)) == "ok container.memory: 8.0 GiB");
  const auto sampled = [&](const char* sample, const char* level) {
    machine.config.nsys.sample = sample;
    machine.tree.write("proc/sys/kernel/perf_event_paranoid", level);
    return line(nl::orchestrator::check_paranoid(machine.config, machine.host));
  };
  CHECK(sampled("process-tree", "2\n") == "ok perf_event_paranoid: perf_event_paranoid is 2");
  CHECK(sampled("process-tree", "3\n") ==
        "blocked perf_event_paranoid: perf_event_paranoid is 3: the kernel allows no sampling | sudo sysctl kernel.perf_event_paranoid=2");
  CHECK(sampled("none", "3\n") ==
        "warning perf_event_paranoid: perf_event_paranoid is 3: the kernel allows no sampling; it is off in this configuration | "
        "sudo sysctl kernel.perf_event_paranoid=2");
  CHECK(sampled("system-wide", "0\n") == "ok perf_event_paranoid: perf_event_paranoid is 0");
  CHECK(sampled("system-wide", "x\n") == "ok perf_event_paranoid: perf_event_paranoid is unknown; sampling is asked for");
  machine.capabilities("200000");  // CAP_SYS_ADMIN alone
  CHECK(sampled("system-wide", "4\n") == "ok perf_event_paranoid: perf_event_paranoid is 4");
  machine.config.nsys.sample = "none";
  CHECK(line(nl::orchestrator::check_seccomp(machine.config, machine.host)) ==
        "ok container.seccomp: on; CPU sampling is off, so it does not matter");
  machine.tree.write("proc/self/status", "Seccomp:\t0\n");
  machine.config.nsys.sample = "process-tree";
  CHECK(line(nl::orchestrator::check_seccomp(machine.config, machine.host)) == "ok container.seccomp: none");
  machine.tree.write("proc/sys/kernel/yama/ptrace_scope", "2\n");
  CHECK(line(nl::orchestrator::check_ptrace(machine.host)) ==
        "warning container.ptrace: ptrace_scope is 2: attaching to processes is not allowed | sudo sysctl kernel.yama.ptrace_scope=1");
}

TEST_CASE("each sign of a container, and each profiler's name, is known") {
  for (const char* sign : {".dockerenv", "run/.containerenv", "KUBERNETES_SERVICE_HOST"}) {
    Machine machine;
    machine.capabilities("0");
    machine.tree.write("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
    if (*sign == 'K') machine.host.env[sign] = "10.0.0.1";
    else machine.tree.write(sign, "");
    CHECK(nl::orchestrator::check_counters(machine.tools, machine.host).fix == "docker run --cap-add=SYS_ADMIN …");
  }
  for (const std::string name : {"nv-hostengine", "dcgm-exporter", "nsys", "nsys-ui", "ncu", "ncu-ui", "nvprof"}) {
    Machine machine;
    machine.tree.write("proc/7/comm", name + "\n");
    const auto check = nl::orchestrator::check_profilers(machine.host);
    CHECK(check.finding == "running: " + name + " (7); counters can be held by one at a time");
    CHECK(check.fix.starts_with(name[0] == 'd' || name == "nv-hostengine" ? "dcgmi profile --pause   # and --resume afterwards"
                                                                          : "nsys sessions list"));
  }
}

TEST_CASE("a fix names a script of the source tree only where that is") {
  Machine machine;
  machine.tools.nsys.reset();
  machine.tools.collector.reset();
  const auto fixes = [&] {
    return nl::orchestrator::check_nsys(machine.tools, machine.host).fix +
           nl::orchestrator::check_collector(machine.tools, machine.host).fix;
  };
  CHECK(fixes().find("tools/") == std::string::npos);
  const std::string tree = (machine.tree.root() / "src").string();
  machine.tree.write("src/tools/fetch-nsys", "");
  machine.host.program_folder = machine.tree.root() / "src/out/cli";
  CHECK(nl::orchestrator::check_nsys(machine.tools, machine.host).fix.find("# or " + tree + "/tools/fetch-nsys,") != std::string::npos);
  CHECK(nl::orchestrator::check_collector(machine.tools, machine.host).fix ==
        "cd " + tree + " && tools/setup && meson setup --reconfigure out && ninja -C out");
}

TEST_CASE("what nsys' and ncu's absence means, by what else is there") {
  Machine machine;
  const auto line = [&](const nl::orchestrator::Check& check) { return lines_of({check}, machine.tree.root()).front(); };
  const std::string get_nsys = " | sudo apt-get install nsight-systems   # from NVIDIA's repository, or Nsight Systems from NVIDIA's site";
  const std::string get_ncu = " | sudo apt-get install cuda-nsight-compute-13-0   # from NVIDIA's repository";
  machine.tools.ncu.reset();
  machine.config.ncu.enabled = false;
  CHECK(line(nl::orchestrator::check_ncu(machine.tools, machine.config)) ==
        "warning ncu: not found; this configuration does not ask for it" + get_ncu);
  machine.tools.nsys->importer_trouble = "there is none";
  machine.tools.nsys->importer.clear();
  CHECK(line(nl::orchestrator::check_importer(machine.tools, machine.host)) ==
        "blocked nsys.importer: not found: there is none; captures would end without a report" + get_nsys);
  machine.tools.nsys->importer_trouble.clear();
  CHECK(line(nl::orchestrator::check_importer(machine.tools, machine.host)) == "ok nsys.importer: found by nsys itself");
  machine.tools.nsys->importer_trouble = "it ends";
  machine.tools.nsys->importer = "/elsewhere/QdstrmImporter";
  machine.tools.nsys->found_at = "/opt/nsight/target-linux-sbsa-armv8/nsys";
  CHECK(line(nl::orchestrator::check_importer(machine.tools, machine.host)) ==
        "blocked nsys.importer: /elsewhere/QdstrmImporter: it ends; captures would end without a report | sudo ln -s /elsewhere "
        "/opt/nsight/host-linux-armv8");
  machine.tools.nsys.reset();
  CHECK(line(nl::orchestrator::check_nsys(machine.tools, machine.host)) ==
        "warning nsys: not found: nl-stage's own collector records kernels and ranges (CUPTI)" + get_nsys);
  machine.tools.gpus.clear();
  CHECK(line(nl::orchestrator::check_nsys(machine.tools, machine.host)) ==
        "warning nsys: not found: only NVTX ranges can be captured, by nl-stage's own collector" + get_nsys);
  machine.tools.collector.reset();
  CHECK(line(nl::orchestrator::check_nsys(machine.tools, machine.host)) ==
        "blocked nsys: not found; the collector is not found either: nothing can be captured" + get_nsys);
  CHECK(line(nl::orchestrator::check_gpu(machine.tools, machine.host)) ==
        "warning gpu: not found: NVTX ranges can be captured, kernels cannot | run on a machine with an NVIDIA GPU and its driver");
  machine.tree.write("proc/driver/nvidia/version", "x");
  CHECK(line(nl::orchestrator::check_gpu(machine.tools, machine.host)) ==
        "warning gpu: the driver is loaded, but there is no /dev/nvidia*: this container was started without a GPU | "
        "docker run --gpus all …   # with the NVIDIA container toolkit");
  machine.tree.write("dev/dxg", "");
  machine.tools.gpu_trouble = "mismatch";
  CHECK(line(nl::orchestrator::check_gpu(machine.tools, machine.host)) ==
        "warning gpu: the driver is loaded, but NVML says: mismatch | nvidia-smi   # a version mismatch needs a reboot or a matching "
        "libnvidia-ml");
  CHECK(nl::orchestrator::package_of("libssh.so.4") == "libssh-4");
  CHECK(nl::orchestrator::package_of("libother.so") == "");
}

TEST_CASE("the trial capture: how nsys is started, and what its silence, its words or its absence become") {
  Machine machine;
  machine.tools.nsys->env = {{"LD_LIBRARY_PATH", "/ours"}};
  machine.tools.injection_env = {"CUDA_INJECTION64_PATH"};
  nl::orchestrator::ProcessSpec started;
  nl::orchestrator::ProcessResult result;
  result.stdout_text = "from stdout\nmore";
  machine.host.start = [&](const nl::orchestrator::ProcessSpec& spec) {
    started = spec;
    return result;
  };
  const auto finding = [&] { return nl::orchestrator::check_trial_capture(machine.tools, machine.host).finding; };
  CHECK(finding() == "nsys traced `true` but made no report: from stdout");
  REQUIRE(started.argv.size() == 7);
  const std::string folder = started.argv[5].substr(9, started.argv[5].size() - 9 - 6);
  CHECK(started.argv[5].ends_with("/trial"));
  CHECK(folder.starts_with((machine.tree.root() / "tmp/nl-stage-trial-").string()));
  started.argv.erase(started.argv.begin() + 5);
  CHECK(started.argv == Lines{"/opt/nsight/target-linux-x64/nsys", "profile", "--trace=nvtx", "--sample=none", "--cpuctxsw=none", "true"});
  CHECK(started.env == std::map<std::string, std::string>{{"LD_LIBRARY_PATH", "/ours"}});
  CHECK(started.unset_env == Lines{"CUDA_INJECTION64_PATH"});
  CHECK(started.timeout_s == 60);
  result.stderr_text = "from stderr\n";
  CHECK(finding() == "nsys traced `true` but made no report: from stderr");
  result.timed_out = true;
  CHECK(finding() == "nsys traced `true` but made no report: it did not end within 60 s");
  machine.host.start = [](const nl::orchestrator::ProcessSpec&) -> nl::orchestrator::ProcessResult {
    throw nl::Error(nl::ErrorKind::kTool, "cannot start");
  };
  CHECK(finding() == "nsys traced `true` but made no report: cannot start");
  CHECK(nl::orchestrator::check_trial_capture(machine.tools, machine.host).fix ==
        "sudo apt-get install nsight-systems   # from NVIDIA's repository, or Nsight Systems from NVIDIA's site");
  machine.host.env["TMPDIR"] = "/no/such/folder";
  CHECK(lines_of({nl::orchestrator::check_trial_capture(machine.tools, machine.host)}, machine.tree.root()) ==
        Lines{"blocked nsys.trial: no folder can be made in /no/such/folder | export TMPDIR=DIR   # a folder that you may write to"});
}

TEST_CASE("checks as JSON: every byte") {
  using nl::orchestrator::Check;
  const std::vector<Check> checks = {{"a", Level::kOk, "first", "fine", ""},
                                     {"b", Level::kWarning, "the second", "so so", "do it"},
                                     {"c", Level::kBlocked, "3", "bad", "stop"}};
  CHECK(nl::orchestrator::checks_json({checks[2]}) == R"({
  "blocked": true,
  "checks": [
    {
      "id": "c",
      "level": "blocked",
      "subject": "3",
      "finding": "bad",
      "fix": "stop"
    }
  ]
}
)");
  CHECK(nl::orchestrator::checks_json({checks[0], checks[1]}).starts_with("{\n  \"blocked\": false,"));
}
