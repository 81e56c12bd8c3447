#include "orchestrator/doctor/checks_timing.h"

#include <cstdlib>

#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

using namespace nl::orchestrator;

namespace {

const std::string kTimedNvml = NL_BUILD_ROOT "/tests/unit/orchestrator/libfake_nvml.so";

GpuState quiet_gpu() { return {"NVIDIA H200", true, true, false, std::vector<int>{}}; }

struct TimedMachine {
  nl::test::FakeTree tree;
  Host host;
  TimedMachine() { host.root = tree.root(); }
  std::string levels(const std::vector<GpuState>& gpus, const std::vector<std::string>& waived = {}) const {
    std::string text;
    for (const Check& check : timing_checks(host, gpus, "no driver", waived))
      if (check.level != CheckLevel::kOk) text += check.id + " " + std::string(level_name(check.level)) + "; ";
    return text;
  }
};

}  // namespace

TEST_CASE("timing checks: a quiet machine passes, with a GPU and without") {
  const TimedMachine machine;
  CHECK(machine.levels({quiet_gpu()}) == "");
  CHECK(machine.levels({}) == "");
  CHECK(machine.levels({{"old", {}, {}, {}, {}}}) == "");
  CHECK(timing_checks(machine.host, {}, "no driver", {})[1].finding == "no GPU is known (no driver)");
  CHECK(timing_checks(machine.host, {{"old", {}, {}, {}, {}}}, "", {})[1].finding == "the driver does not say");
}

TEST_CASE("timing checks: each blocks, and is waived by its name alone") {
  const TimedMachine machine;
  GpuState gpu = quiet_gpu();
  std::string name;
  SECTION("clocks") { name = "clocks", gpu.clocks_locked = false; }
  SECTION("persistence") { name = "persistence", gpu.persistence = false; }
  SECTION("processes") { name = "processes", gpu.processes = {{4711}}; }
  SECTION("MIG") { name = "mig", gpu.mig = true; }
  SECTION("ECC that changes with a reset") { name = "ecc", gpu.ecc = true, gpu.ecc_after_reset = false; }
  SECTION("memory errors") { name = "ecc", gpu.ecc = gpu.ecc_after_reset = true, gpu.ecc_errors = 3; }
  CHECK(machine.levels({quiet_gpu(), gpu}) == "timing." + name + " blocked; ");
  CHECK(machine.levels({quiet_gpu(), gpu}, {name}) == "timing." + name + " warning; ");
  CHECK(machine.levels({gpu}, {"virtual_machine"}) == "timing." + name + " blocked; ");
  for (const Check& check : timing_checks(machine.host, {quiet_gpu(), gpu}, "", {})) {
    if (check.level == CheckLevel::kOk) continue;
    CHECK(nl::test::has(check.finding, "GPU 1 (NVIDIA H200): "));
    CHECK(nl::test::has(check.fix, "--waive " + name));
  }
  for (const Check& check : timing_checks(machine.host, {gpu}, "", {}, {name})) {
    CHECK(check.level != CheckLevel::kBlocked);
    CHECK_FALSE(nl::test::has(check.finding, "waived"));
  }
}

TEST_CASE("timing checks: doctor warns, and ECC that is on or off is no fault") {
  const TimedMachine machine;
  GpuState gpu = quiet_gpu();
  gpu.clocks_locked = false;
  gpu.ecc = gpu.ecc_after_reset = true;
  const auto warnings = timing_warnings(machine.host, {gpu}, "");
  REQUIRE(warnings.size() == timing_check_names().size());
  CHECK(warnings[1].level == CheckLevel::kWarning);
  CHECK(warnings[1].fix == "sudo nvidia-smi --lock-gpu-clocks=MHZ");
  CHECK(warnings[5].level == CheckLevel::kOk);
  CHECK(warnings[5].finding == "on, without errors");
  gpu.ecc = gpu.ecc_after_reset = false;
  CHECK(timing_warnings(machine.host, {gpu}, "")[5].finding == "off");
  gpu.ecc_errors = 3;
  CHECK(timing_warnings(machine.host, {gpu}, "")[5].finding == "GPU 0 (NVIDIA H200): 3 memory errors were not corrected");
}

TEST_CASE("timing checks: a virtual machine is known by its processor or its maker") {
  const TimedMachine machine;
  SECTION("the flag of x86") { machine.tree.write("proc/cpuinfo", "flags\t\t: fpu vme hypervisor lahf_lm\n"); }
  SECTION("QEMU") { machine.tree.write("sys/class/dmi/id/sys_vendor", "QEMU\n"); }
  SECTION("Hyper-V") { machine.tree.write("sys/class/dmi/id/product_name", "Virtual Machine\n"); }
  CHECK(machine.levels({}) == "timing.virtual_machine blocked; ");
  CHECK(machine.levels({}, {"virtual_machine"}) == "timing.virtual_machine warning; ");
}

TEST_CASE("timing checks: a machine of its own is none") {
  const TimedMachine machine;
  machine.tree.write("proc/cpuinfo", "flags\t\t: fpu vme lahf_lm\n");
  machine.tree.write("sys/class/dmi/id/sys_vendor", "Supermicro\n");
  CHECK(machine.levels({}) == "");
}

TEST_CASE("timing checks: the state of the GPUs comes from NVML") {
  nl::test::Folder folder;
  setenv("NL_FAKE_NVML_PROCESSES", folder.file("processes", "4711").c_str(), 1);
  std::string trouble;
  const auto busy = read_gpu_states(kTimedNvml, "", trouble);
  REQUIRE(busy.size() == 1);
  CHECK(busy[0].name == "NVIDIA H200");
  CHECK(busy[0].clocks_locked == false);
  CHECK(busy[0].persistence == false);
  CHECK(busy[0].mig == false);
  CHECK(busy[0].processes == std::vector<int>{4711});
  CHECK(busy[0].ecc == true);
  CHECK(busy[0].ecc_after_reset == true);
  CHECK(busy[0].ecc_errors == 0);
  unsetenv("NL_FAKE_NVML_PROCESSES");
  setenv("NL_FAKE_NVML_FIT", "1", 1);  // an administrator was there
  const auto fit = read_gpu_states(kTimedNvml, "", trouble);
  CHECK(fit[0].clocks_locked == true);
  CHECK(fit[0].persistence == true);
  unsetenv("NL_FAKE_NVML_FIT");
  setenv("NL_FAKE_NVML_ECC_ERRORS", "1", 1);
  CHECK(read_gpu_states(kTimedNvml, "", trouble)[0].ecc_errors == 3);
  unsetenv("NL_FAKE_NVML_ECC_ERRORS");
  CHECK(read_gpu_states("/nonexistent.so", "", trouble).empty());
}

// Seen on an H200: half a second after a run it was idle at 1980 MHz, and then at 345.
TEST_CASE("timing checks: clocks that fall soon after the last work are not locked") {
  using namespace std::chrono_literals;
  std::string trouble;
  setenv("NL_FAKE_NVML", "slowing", 1);
  CHECK(read_gpu_states(kTimedNvml, "", trouble, 200ms)[0].clocks_locked == false);
  setenv("NL_FAKE_NVML", "held", 1);
  CHECK(read_gpu_states(kTimedNvml, "", trouble, 20ms)[0].clocks_locked == true);
  unsetenv("NL_FAKE_NVML");
}
