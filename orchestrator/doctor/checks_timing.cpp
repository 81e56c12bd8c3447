#include "orchestrator/doctor/checks_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "orchestrator/machine/gpu_activity.h"
#include "orchestrator/machine/nvml.h"

namespace nl::orchestrator {
namespace {

constexpr int kSmClock = 1;                           // NVML_CLOCK_SM
constexpr unsigned long long kClocksSetByHand = 0x2;  // nvmlClocksEventReasonApplicationsClocksSetting
constexpr unsigned long long kGpuIdle = 0x1;          // nvmlClocksEventReasonGpuIdle

constexpr int kUncorrected = 1, kSinceLoaded = 0;  // NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC

enum class TimingCheck { kVirtualMachine, kClocks, kPersistence, kProcesses, kMig, kEcc };
const std::vector<std::string> kTimingChecks = {"virtual_machine", "clocks", "persistence", "processes", "mig", "ecc"};

std::optional<unsigned> clock_of(int (*function)(NvmlDevice, int, unsigned*), NvmlDevice device) {
  unsigned mhz = 0;
  if (function == nullptr || function(device, kSmClock, &mhz) != 0) return std::nullopt;
  return mhz;
}

bool idle_at_high_clocks(const Nvml& nvml, NvmlDevice device) {
  unsigned long long reasons = 0;
  if (nvml.clocks_event_reasons == nullptr || nvml.clocks_event_reasons(device, &reasons) != 0 || (reasons & kGpuIdle) != 0) return false;
  const auto now = clock_of(nvml.clock_info, device), most = clock_of(nvml.max_clock, device);
  NvmlUtilization busy;
  const bool idle = nvml.utilization != nullptr && nvml.utilization(device, &busy) == 0 && busy.gpu == 0;
  return idle && now && most && 2 * *now > *most;
}

// A GPU that was at work a moment ago is idle, too, before its clocks fall.
bool stays_at_high_clocks(const Nvml& nvml, NvmlDevice device, std::chrono::milliseconds settles) {
  const auto until = std::chrono::steady_clock::now() + settles;
  while (idle_at_high_clocks(nvml, device)) {
    if (std::chrono::steady_clock::now() >= until) return true;
    std::this_thread::sleep_for(settles / 10);
  }
  return false;
}

// NVML has no question for it. Locked clocks show as a reason that limits them, as application clocks that are not the default
// ones, or as a GPU that is not clocked down although it is idle.
std::optional<bool> clocks_locked(const Nvml& nvml, NvmlDevice device, std::chrono::milliseconds settles) {
  unsigned long long reasons = 0;
  const bool has_reasons = nvml.clocks_event_reasons != nullptr && nvml.clocks_event_reasons(device, &reasons) == 0;
  const auto chosen = clock_of(nvml.application_clock, device), usual = clock_of(nvml.default_application_clock, device);
  if (!has_reasons && !chosen && !clock_of(nvml.clock_info, device)) return std::nullopt;
  if ((reasons & kClocksSetByHand) != 0 || (chosen && usual && *chosen != *usual)) return true;
  return stays_at_high_clocks(nvml, device, settles);
}

void read_ecc(const Nvml& nvml, NvmlDevice device, GpuState& state) {
  int now = 0, later = 0;
  unsigned long long errors = 0;
  if (nvml.ecc_mode == nullptr || nvml.ecc_mode(device, &now, &later) != 0) return;
  state.ecc = now != 0;
  state.ecc_after_reset = later != 0;
  if (nvml.ecc_errors != nullptr && nvml.ecc_errors(device, kUncorrected, kSinceLoaded, &errors) == 0) state.ecc_errors = errors;
}

GpuState state_of(const Nvml& nvml, NvmlDevice device, std::chrono::milliseconds settles) {
  GpuState state{nvml.name(device), clocks_locked(nvml, device, settles), {}, {}, nvml.compute_processes(device)};
  int on = 0;
  unsigned mig_now = 0, mig_later = 0;
  if (nvml.persistence_mode != nullptr && nvml.persistence_mode(device, &on) == 0) state.persistence = on != 0;
  if (nvml.mig_mode != nullptr && nvml.mig_mode(device, &mig_now, &mig_later) == 0) state.mig = mig_now != 0;
  read_ecc(nvml, device, state);
  return state;
}

Check make_check(TimingCheck which, const char* subject, bool bad, std::string finding, std::string fix) {
  return {"timing." + kTimingChecks[static_cast<std::size_t>(which)],
          bad ? CheckLevel::kWarning : CheckLevel::kOk,
          subject,
          std::move(finding),
          bad ? std::move(fix) : "",
          ErrorKind::kTool};
}

// /proc/cpuinfo: "flags : fpu … hypervisor …" (x86); /sys/class/dmi/id/sys_vendor: "QEMU", "Amazon EC2"
Check check_virtual_machine(const Host& host) {
  const std::string processor = host.read("/proc/cpuinfo").value_or(""), vendor = host.read("/sys/class/dmi/id/sys_vendor").value_or("");
  const std::string product = host.read("/sys/class/dmi/id/product_name").value_or("");
  const std::string line = vendor.substr(0, vendor.find('\n')) + " " + product.substr(0, product.find('\n'));
  bool found = processor.find(" hypervisor") != std::string::npos;
  for (const char* maker :
       {"QEMU", "VMware", "VirtualBox", "innotek", "Xen", "KVM", "Virtual Machine", "Google Compute Engine", "OpenStack"})
    found = found || line.find(maker) != std::string::npos;
  return make_check(TimingCheck::kVirtualMachine, "virtual machine", found,
                    found
                        ? fmt::format("this is a virtual machine{}: others may share its processors", line == " " ? "" : " (" + line + ")")
                        : "none was detected",
                    "time on a machine of your own");
}

// One finding for all GPUs: what is wrong with the first that fails.
template <class Bad, class Known>
Check check_gpus(TimingCheck which, const char* subject, const std::vector<GpuState>& gpus, const std::string& trouble, const Known& known,
                 const Bad& bad, const std::string& fine, const std::string& wrong, const std::string& fix) {
  if (gpus.empty()) return make_check(which, subject, false, "no GPU is known (" + trouble + ")", "");
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (known(gpus[i]) && bad(gpus[i]))
      return make_check(which, subject, true, fmt::format("GPU {} ({}): {}", i, gpus[i].name, wrong), fix);
  if (std::none_of(gpus.begin(), gpus.end(), known)) return make_check(which, subject, false, "the driver does not say", "");
  return make_check(which, subject, false, fine, "");
}

Check check_processes(const std::vector<GpuState>& gpus, const std::string& trouble) {
  std::vector<int> all;
  for (const GpuState& gpu : gpus)
    if (gpu.processes) all.insert(all.end(), gpu.processes->begin(), gpu.processes->end());
  return check_gpus(
      TimingCheck::kProcesses, "other processes", gpus, trouble, [](const GpuState& gpu) { return gpu.processes.has_value(); },
      [](const GpuState& gpu) { return !gpu.processes->empty(); }, "none is on the GPU", "in use by " + process_names(all),
      "end them, or wait: nl-stage suite --enqueue");
}

// ECC itself costs bandwidth on some GPUs, but is not a fault. Errors are, and so is a switch that waits for a reset.
Check check_ecc(const std::vector<GpuState>& gpus, const std::string& trouble) {
  const auto known = [](const GpuState& gpu) { return gpu.ecc.has_value(); };
  const auto failing = std::find_if(gpus.begin(), gpus.end(), [](const GpuState& gpu) { return gpu.ecc_errors > 0; });
  if (failing != gpus.end())
    return check_gpus(
        TimingCheck::kEcc, "ECC", gpus, trouble, known, [](const GpuState& gpu) { return gpu.ecc_errors > 0; }, "",
        fmt::format("{} memory errors were not corrected", failing->ecc_errors),
        "reset the GPU: sudo nvidia-smi --gpu-reset; where they come back, replace it");
  const bool on = std::any_of(gpus.begin(), gpus.end(), [](const GpuState& gpu) { return gpu.ecc.value_or(false); });
  return check_gpus(
      TimingCheck::kEcc, "ECC", gpus, trouble, known, [](const GpuState& gpu) { return gpu.ecc != gpu.ecc_after_reset; },
      on ? "on, without errors" : "off", "ECC changes with the next reset, and memory bandwidth with it",
      "reset the GPU: sudo nvidia-smi --gpu-reset");
}

}  // namespace

std::vector<std::string> timing_check_names() { return kTimingChecks; }

std::vector<GpuState> read_gpu_states(const std::filesystem::path& library, const std::string& visible, std::string& trouble,
                                      std::chrono::milliseconds settles) {
  const auto nvml = Nvml::load(library, trouble);
  std::vector<GpuState> states;
  if (!nvml) return states;
  for (const NvmlDevice device : visible_devices(*nvml, nvml->devices(trouble), visible))
    states.push_back(state_of(*nvml, device, settles));
  if (states.empty() && trouble.empty()) trouble = "NVML knows no GPU";
  return states;
}

std::vector<Check> timing_warnings(const Host& host, const std::vector<GpuState>& gpus, const std::string& trouble) {
  const auto flag = [&](TimingCheck which, const char* subject, std::optional<bool> GpuState::* member, bool wanted, const char* fine,
                        const char* wrong, const char* fix) {
    return check_gpus(
        which, subject, gpus, trouble, [=](const GpuState& gpu) { return (gpu.*member).has_value(); },
        [=](const GpuState& gpu) { return *(gpu.*member) != wanted; }, fine, wrong, fix);
  };
  return {check_virtual_machine(host),
          flag(TimingCheck::kClocks, "GPU clocks", &GpuState::clocks_locked, true, "locked",
               "its clocks are not locked, so they follow temperature and power", "sudo nvidia-smi --lock-gpu-clocks=MHZ"),
          flag(TimingCheck::kPersistence, "persistence mode", &GpuState::persistence, true, "on",
               "persistence mode is off, so each run waits for the driver", "sudo nvidia-smi --persistence-mode=1"),
          check_processes(gpus, trouble),
          flag(TimingCheck::kMig, "MIG", &GpuState::mig, false, "off", "MIG is on, so its memory is shared",
               "sudo nvidia-smi --multi-instance-gpu=0"),
          check_ecc(gpus, trouble)};
}

std::vector<Check> timing_checks(const Host& host, const std::vector<GpuState>& gpus, const std::string& trouble,
                                 const std::vector<std::string>& waived, const std::vector<std::string>& warnings) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<Check> checks = timing_warnings(host, gpus, trouble);
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (checks[i].level == CheckLevel::kOk) continue;
    const bool may = has(waived, kTimingChecks[i]);
    if (!may && has(warnings, kTimingChecks[i])) continue;
    checks[i].level = may ? CheckLevel::kWarning : CheckLevel::kBlocked;
    if (may) checks[i].finding += " (waived)";
    else checks[i].fix += fmt::format("   # or waive it: --waive {}", kTimingChecks[i]);
  }
  return checks;
}

}  // namespace nl::orchestrator
