#include "orchestrator/doctor/doctor.h"

#include <algorithm>
#include <cerrno>
#include <functional>

#include "tests/catch.h"
#include "tests/unit/orchestrator/doctor/made_machine.h"

namespace fs = std::filesystem;
using Level = nl::orchestrator::CheckLevel;
using nl::test::kMiB, nl::test::Machine;

TEST_CASE("counter permission") {
  Machine machine;
  const auto check = [&] { return nl::orchestrator::check_counters(machine.tools, machine.host); };
  machine.capabilities("0000000000000000");
  machine.tree.write("proc/driver/nvidia/params", "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\n");
  CHECK(check().level == Level::kOk);
  machine.tree.write("proc/driver/nvidia/params", "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n");
  CHECK(check().level == Level::kBlocked);
  CHECK(check().fix.find("NVreg_RestrictProfilingToAdminUsers=0") != std::string::npos);
  machine.tree.write(".dockerenv", "");
  CHECK(check().fix == "docker run --cap-add=SYS_ADMIN …");
  machine.capabilities("000001ffffffffff");
  CHECK(check().level == Level::kOk);
  machine.capabilities("000001ffffdfffff");  // everything but CAP_SYS_ADMIN
  CHECK(check().level == Level::kBlocked);
  fs::remove(machine.tree.root() / "proc/driver/nvidia/params");
  CHECK(check().level == Level::kWarning);
  machine.tools.gpus.clear();
  CHECK(check().level == Level::kWarning);
}

TEST_CASE("counters without ncu: who counts, with what, and whether it is allowed") {
  Machine machine;
  const auto check = [&] { return nl::orchestrator::check_cupti_counters(machine.tools, machine.config, machine.host); };
  machine.capabilities("0000000000000000");
  machine.tree.write("proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  CHECK(check().finding == "not used: ncu was found");
  machine.tools.ncu.reset();
  CHECK(check().level == Level::kWarning);
  CHECK(check().finding.find("no libcupti was found here") != std::string::npos);
  CHECK(check().fix.find("tools.cupti=PATH") != std::string::npos);
  CHECK(nl::orchestrator::check_ncu(machine.tools, machine.config).finding == "not found: nl-stage's own collector counts instead (CUPTI)");
  machine.tools.cupti = "/c/libcupti.so.13";
  CHECK(check().level == Level::kOk);
  CHECK(check().finding == "ncu was not found: the collector counts instead (CUPTI); /c/libcupti.so.13, open to every user");
  machine.tree.write("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  CHECK(check().level == Level::kWarning);  // a run goes on without
  CHECK(check().fix.find("NVreg_RestrictProfilingToAdminUsers=0") != std::string::npos);
  CHECK_FALSE(nl::orchestrator::any_blocked(nl::orchestrator::preflight(machine.tools, machine.config, machine.host)));
  machine.config.capture.counters = "off";
  CHECK(check().finding == "not used: no counters are asked for (capture.counters is off)");
  machine.config.capture.counters = "auto";
  machine.tools.gpus.clear();
  CHECK(check().level == Level::kOk);
  CHECK(check().finding == "not used: no GPU");
  CHECK(nl::orchestrator::check_counters(machine.tools, machine.host).level == Level::kWarning);  // "ok" would be no answer
  CHECK(nl::orchestrator::check_counters(machine.tools, machine.host).finding.starts_with("no GPU"));
  CHECK(nl::orchestrator::check_ncu(machine.tools, machine.config).finding == "not found; without a GPU there is nothing to measure");
}

TEST_CASE("perf_event_paranoid matters only where sampling is asked for") {
  Machine machine;
  machine.capabilities("0");
  machine.tree.write("proc/sys/kernel/perf_event_paranoid", "4\n");
  CHECK(nl::orchestrator::check_paranoid(machine.config, machine.host).level == Level::kWarning);
  machine.config.nsys.sample = "process-tree";
  CHECK(nl::orchestrator::check_paranoid(machine.config, machine.host).level == Level::kBlocked);
  CHECK(nl::orchestrator::check_paranoid(machine.config, machine.host).fix == "sudo sysctl kernel.perf_event_paranoid=2");
  machine.tree.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  CHECK(nl::orchestrator::check_paranoid(machine.config, machine.host).level == Level::kOk);
  machine.config.nsys.sample = "system-wide";
  CHECK(nl::orchestrator::check_paranoid(machine.config, machine.host).fix == "sudo sysctl kernel.perf_event_paranoid=0");
  CHECK(nl::orchestrator::check_seccomp(machine.config, machine.host).level == Level::kWarning);
}

TEST_CASE("room for temporary files and for the bundle") {
  Machine machine;
  CHECK(nl::orchestrator::check_temporary(machine.host).level == Level::kOk);
  machine.space.free_bytes = 500 * kMiB;
  CHECK(nl::orchestrator::check_temporary(machine.host).level == Level::kWarning);
  CHECK(nl::orchestrator::check_temporary(machine.host).finding.find("500 MiB free") != std::string::npos);
  machine.space.free_bytes = 10 * kMiB;
  CHECK(nl::orchestrator::check_temporary(machine.host).level == Level::kBlocked);
  machine.space.free_bytes = 8192 * kMiB;
  machine.read_only = machine.tree.root() / "tmp";
  CHECK(nl::orchestrator::check_temporary(machine.host).level == Level::kBlocked);
  machine.config.artifacts.dir = machine.tree.root() / "tmp/not/yet/there";
  CHECK(nl::orchestrator::check_artifacts(machine.config, machine.host).level == Level::kBlocked);
  CHECK(nl::orchestrator::check_artifacts(machine.config, machine.host).finding ==
        (machine.tree.root() / "tmp").string() + " cannot be written to");
  // What a run that is refused for it ends with.
  CHECK(nl::orchestrator::check_artifacts(machine.config, machine.host).kind == nl::ErrorKind::kOutput);
  CHECK(nl::orchestrator::check_temporary(machine.host).kind == nl::ErrorKind::kTool);
}

TEST_CASE("other profilers") {
  Machine machine;
  machine.tree.write("proc/1/comm", "init\n");
  CHECK(nl::orchestrator::check_profilers(machine.host).level == Level::kOk);
  machine.tree.write("proc/4711/comm", "nv-hostengine\n");
  CHECK(nl::orchestrator::check_profilers(machine.host).level == Level::kWarning);
  CHECK(nl::orchestrator::check_profilers(machine.host).finding == "running: nv-hostengine (4711); counters can be held by one at a time");
  CHECK(nl::orchestrator::check_profilers(machine.host).fix.starts_with("dcgmi profile --pause"));
  CHECK(nl::orchestrator::check_ncu_lock(machine.host).level == Level::kOk);
  machine.read_only = machine.tree.write("tmp/nsight-compute-lock", "");
  CHECK(nl::orchestrator::check_ncu_lock(machine.host).level == Level::kBlocked);
  machine.read_only = "/none";
  CHECK(nl::orchestrator::check_ncu_lock(machine.host).level == Level::kOk);
  CHECK(nl::orchestrator::check_injection(machine.tools).level == Level::kOk);
  machine.tools.injection_env = {"CUDA_INJECTION64_PATH"};
  CHECK(nl::orchestrator::check_injection(machine.tools).level == Level::kWarning);
  CHECK(nl::orchestrator::check_injection(machine.tools).fix == "unset CUDA_INJECTION64_PATH");
}

TEST_CASE("container limits") {
  Machine machine;
  CHECK(nl::orchestrator::check_memory(machine.host).finding == "none");
  machine.tree.write("sys/fs/cgroup/memory.max", "max\n");
  CHECK(nl::orchestrator::check_memory(machine.host).finding == "none");
  machine.tree.write("sys/fs/cgroup/memory.max", "1073741824\n");
  CHECK(nl::orchestrator::check_memory(machine.host).level == Level::kWarning);
  fs::remove(machine.tree.root() / "sys/fs/cgroup/memory.max");
  machine.tree.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(nl::orchestrator::check_memory(machine.host).level == Level::kOk);
  machine.tree.write("dev/shm/x", "");
  CHECK(nl::orchestrator::check_shared_memory(machine.host).level == Level::kOk);
  machine.space.total_bytes = 64 * kMiB;
  CHECK(nl::orchestrator::check_shared_memory(machine.host).fix == "docker run --shm-size=2g …");
  machine.tree.write("proc/sys/kernel/yama/ptrace_scope", "1\n");
  CHECK(nl::orchestrator::check_ptrace(machine.host).level == Level::kOk);
  machine.tree.write("proc/sys/kernel/yama/ptrace_scope", "2\n");
  CHECK(nl::orchestrator::check_ptrace(machine.host).fix == "sudo sysctl kernel.yama.ptrace_scope=1");
}

TEST_CASE("tools that are missing or broken") {
  Machine machine;
  CHECK(nl::orchestrator::check_nsys(machine.tools, machine.host).finding == "2025.3.1 at /opt/nsight/target-linux-x64/nsys (PATH)");
  CHECK(nl::orchestrator::check_importer(machine.tools, machine.host).level == Level::kOk);
  machine.tools.nsys->importer_trouble = "libdw.so.1 was not found";
  machine.tools.nsys->missing_libraries = {"libdw.so.1"};
  CHECK(nl::orchestrator::check_importer(machine.tools, machine.host).level == Level::kBlocked);
  CHECK(nl::orchestrator::check_importer(machine.tools, machine.host).finding ==
        "/opt/nsight/host-linux-x64/QdstrmImporter: libdw.so.1 was not found; captures would end without a report");
  CHECK(nl::orchestrator::check_importer(machine.tools, machine.host).fix == "sudo apt-get install libdw1");
  machine.tools.nsys->missing_libraries = {"libodd.so.9"};
  CHECK(nl::orchestrator::check_importer(machine.tools, machine.host).fix.ends_with("apt-file search libodd.so.9"));
  machine.tools.nsys->missing_libraries.clear();
  CHECK(nl::orchestrator::check_importer(machine.tools, machine.host).fix ==
        "sudo ln -s /opt/nsight/host-linux-x64 /opt/nsight/host-linux-x64");
  machine.tools.nsys.reset();
  CHECK(nl::orchestrator::check_nsys(machine.tools, machine.host).level == Level::kWarning);
  machine.tools.collector.reset();
  CHECK(nl::orchestrator::check_nsys(machine.tools, machine.host).level == Level::kBlocked);
  CHECK(nl::orchestrator::check_collector(machine.tools, machine.host).level == Level::kWarning);
  machine.tools.ncu.reset();
  CHECK(nl::orchestrator::check_ncu(machine.tools, machine.config).level == Level::kWarning);
}

TEST_CASE("GPUs that are not there") {
  Machine machine;
  machine.tools.driver_version = "580.1";
  CHECK(nl::orchestrator::check_gpu(machine.tools, machine.host).finding == "NVIDIA H200; driver 580.1");
  machine.tools.gpus.clear();
  CHECK(nl::orchestrator::check_gpu(machine.tools, machine.host).finding == "not found: NVTX ranges can be captured, kernels cannot");
  machine.tree.write("proc/driver/nvidia/version", "x");
  CHECK(nl::orchestrator::check_gpu(machine.tools, machine.host).fix.starts_with("docker run --gpus all"));
  machine.tree.write("dev/nvidia0", "");
  machine.tools.gpu_trouble = "Driver/library version mismatch";
  CHECK(nl::orchestrator::check_gpu(machine.tools, machine.host).finding ==
        "the driver is loaded, but NVML says: Driver/library version mismatch");
}

TEST_CASE("the trial capture wants a report, not a status") {
  Machine machine;
  CHECK(nl::orchestrator::check_trial_capture(machine.tools, machine.host).level == Level::kOk);
  machine.makes_report = false;
  const auto check = nl::orchestrator::check_trial_capture(machine.tools, machine.host);
  CHECK(check.level == Level::kBlocked);
  CHECK(check.finding == "nsys traced `true` but made no report: Importer error status: An unknown error occurred.");
  CHECK(fs::is_empty(machine.tree.root() / "tmp"));
  machine.host.env["TMPDIR"] = "/no/such/folder";
  CHECK(nl::orchestrator::check_trial_capture(machine.tools, machine.host).level == Level::kBlocked);
}

TEST_CASE("preflight refuses only what the plan needs") {
  Machine machine;
  machine.capabilities("0");
  machine.tree.write("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  machine.config.artifacts.dir = machine.tree.root();
  CHECK(nl::orchestrator::any_blocked(nl::orchestrator::preflight(machine.tools, machine.config, machine.host)));
  machine.config.ncu.enabled = false;
  CHECK_FALSE(nl::orchestrator::any_blocked(nl::orchestrator::preflight(machine.tools, machine.config, machine.host)));
  machine.tools.nsys->importer_trouble = "gone";
  CHECK(nl::orchestrator::any_blocked(nl::orchestrator::preflight(machine.tools, machine.config, machine.host)));
  machine.config.nsys.enabled = false;
  CHECK_FALSE(nl::orchestrator::any_blocked(nl::orchestrator::preflight(machine.tools, machine.config, machine.host)));
}

TEST_CASE("every check has a fix unless it is ok") {
  Machine machine;
  machine.capabilities("0");
  machine.makes_report = false;
  machine.space = {kMiB, kMiB};
  machine.tools.rejected = {"/x does not start"};
  machine.tools.injection_env = {"NVTX_INJECTION64_PATH"};
  machine.host.try_perf_events = [] { return EMFILE; };
  machine.tree.write("proc/sys/kernel/perf_event_paranoid", "4\n");
  machine.tree.write("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  const auto checks = nl::orchestrator::diagnose(machine.tools, machine.config, machine.host);
  CHECK(checks.size() == 23);
  for (const auto& check : checks) {
    INFO(check.id);
    CHECK(check.fix.empty() == (check.level == Level::kOk));
    CHECK_FALSE(check.finding.empty());
  }
  CHECK(nl::orchestrator::checks_json(checks).find("\"id\": \"nsys.trial\"") != std::string::npos);
  CHECK(nl::orchestrator::checks_json(checks).find("\"fix\": \"unset NVTX_INJECTION64_PATH\"") != std::string::npos);
}

TEST_CASE("native stacks: a kernel that refuses is a warning, with what would allow it, and only where they are asked for") {
  Machine machine;
  const auto check = [&] { return nl::orchestrator::check_native_stacks(machine.config, machine.host); };
  CHECK(check().level == Level::kOk);
  machine.host.try_perf_events = [] { return EACCES; };
  machine.tree.write("proc/sys/kernel/perf_event_paranoid", "3\n");
  CHECK(check().level == Level::kWarning);
  CHECK(check().finding ==
        "perf_event_open is forbidden (perf_event_paranoid is 3): the collector's traces name no function of a native program");
  CHECK(check().fix == "sudo sysctl kernel.perf_event_paranoid=2");
  machine.tree.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  CHECK(check().fix == "docker run --cap-add=PERFMON …");
  machine.config.mark.host_samples_hz = 0;
  CHECK(check().level == Level::kOk);
}
