#include "orchestrator/doctor/checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "orchestrator/bundle/sha256.h"
#include "orchestrator/capture/plan.h"
#include "orchestrator/config/choices.h"
#include "orchestrator/sampling/perf_access.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024, kGiB = 1024 * kMiB;

// "Name:   value" lines of /proc files.
std::optional<std::string> field(const std::optional<std::string>& text, const std::string& name) {
  const auto start = text ? ("\n" + *text).find("\n" + name + ":") : std::string::npos;
  if (start == std::string::npos) return std::nullopt;
  const std::string line = text->substr(start + name.size() + 1, text->find('\n', start) - start - name.size() - 1);
  const auto first = line.find_first_not_of(" \t");
  return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
}

std::optional<long long> number(const std::optional<std::string>& text, int base = 10) {
  if (!text) return std::nullopt;
  long long value = 0;
  auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), value, base);
  if (failed != std::errc{}) return std::nullopt;
  return value;
}

bool has_sys_admin(const Host& host) {
  const auto effective = number(field(host.read("/proc/self/status"), "CapEff"), 16);
  return effective && (*effective >> 21 & 1);
}

bool in_container(const Host& host) {
  return host.exists("/.dockerenv") || host.exists("/run/.containerenv") || !host.variable("KUBERNETES_SERVICE_HOST").empty();
}

std::string size_text(std::uint64_t bytes) {
  return bytes >= kGiB ? fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(kGiB))
                       : fmt::format("{} MiB", bytes / kMiB);
}

// Two keys need perf events; this is the one that asks for more.
CpuSampling widest_sampling(const Config& config) {
  return std::max(choice<CpuSampling>(config.nsys.sample), choice<CpuSampling>(config.nsys.cpuctxsw));
}

Check space_check(const std::string& id, const std::string& subject, const fs::path& folder, const std::string& fix, const Host& host) {
  if (!host.writable(folder)) return {id, CheckLevel::kBlocked, subject, fmt::format("{} cannot be written to", folder.string()), fix};
  const auto space = host.space(folder);
  if (!space)
    return {id, CheckLevel::kWarning, subject, fmt::format("the space of {} is unknown", folder.string()), "df -h " + folder.string()};
  const std::string finding = fmt::format("{} is writable, {} free", folder.string(), size_text(space->free_bytes));
  if (space->free_bytes >= kGiB) return passed(id, subject, finding);
  const auto level = space->free_bytes < 64 * kMiB ? CheckLevel::kBlocked : CheckLevel::kWarning;
  return {id, level, subject, finding + "; a capture may need more than 1 GiB", fix};
}

}  // namespace

Check passed(const std::string& id, const std::string& subject, std::string finding) {
  return {id, CheckLevel::kOk, subject, std::move(finding), ""};
}

// /proc/driver/nvidia/params: "RmProfilingAdminOnly: 1"
Check check_counters(const Toolset& tools, const Host& host) {
  const std::string id = "counters.permission", subject = "GPU counters";
  if (tools.gpus.empty())
    return {id, CheckLevel::kWarning, subject, "no GPU: kernels and counters cannot be measured here",
            "run nl-stage where the GPU is; `nl-stage import` reads captures that were made there"};
  const auto restricted = field(host.read("/proc/driver/nvidia/params"), "RmProfilingAdminOnly");
  if (restricted == "0") return passed(id, subject, "open to every user");
  if (has_sys_admin(host)) return passed(id, subject, "permitted: this process has CAP_SYS_ADMIN");
  if (!restricted)
    return {id, CheckLevel::kWarning, subject, "/proc/driver/nvidia/params does not say who may read them",
            "sudo nl-stage …   # where ncu reports ERR_NVGPUCTRPERM"};
  return {id, CheckLevel::kBlocked, subject, "restricted to administrators (ERR_NVGPUCTRPERM), and this process has no CAP_SYS_ADMIN",
          in_container(host) ? "docker run --cap-add=SYS_ADMIN …"
                             : "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
                               "/etc/modprobe.d/nvidia-profiling.conf && "
                               "sudo update-initramfs -u && sudo reboot   # or: sudo -E nl-stage run …, or: --set ncu.enabled=false"};
}

Check check_cupti_counters(const Toolset& tools, const Config& config, const Host& host) {
  const std::string id = "counters.cupti", subject = "counters without ncu";
  if (tools.gpus.empty()) return passed(id, subject, "not used: no GPU");
  const CounterChoice choice = choose_counters(config, tools);
  if (choice.meter != Meter::kCupti) return passed(id, subject, "not used: " + choice.why);
  const Check permission = check_counters(tools, host);
  if (permission.level == CheckLevel::kBlocked)
    return {id, CheckLevel::kWarning, subject, choice.why + "; counters are " + permission.finding, permission.fix};
  if (!tools.cupti)
    return {id, CheckLevel::kWarning, subject, choice.why + "; no libcupti was found here (PyTorch brings its own)",
            "sudo apt-get install cuda-cupti-13-0   # or pip install nvidia-cuda-cupti; --set tools.cupti=PATH names one"};
  return passed(id, subject, fmt::format("{}; {}, {}", choice.why, tools.cupti->string(), permission.finding));
}

Check check_paranoid(const Config& config, const Host& host) {
  const std::string id = "perf_event_paranoid", subject = "CPU sampling";
  const auto level = number(host.read("/proc/sys/kernel/perf_event_paranoid"));
  const bool system_wide = widest_sampling(config) == CpuSampling::kSystemWide;
  const bool asked = widest_sampling(config) != CpuSampling::kNone;
  const long long most = system_wide ? 0 : 2;
  if (!level) return passed(id, subject, "perf_event_paranoid is unknown; sampling is " + std::string(asked ? "asked for" : "off"));
  if (*level <= most || has_sys_admin(host)) return passed(id, subject, fmt::format("perf_event_paranoid is {}", *level));
  const std::string finding =
      fmt::format("perf_event_paranoid is {}: the kernel allows no {}sampling", *level, system_wide ? "system-wide " : "");
  return {id, asked ? CheckLevel::kBlocked : CheckLevel::kWarning, subject, finding + (asked ? "" : "; it is off in this configuration"),
          fmt::format("sudo sysctl kernel.perf_event_paranoid={}", most)};
}

Check check_native_stacks(const Config& config, const Host& host) {
  const std::string id = "native_stacks", subject = "native stacks";
  if (config.mark.host_samples_hz <= 0) return passed(id, subject, "not sampled (mark.host_samples_hz is 0)");
  const int error = host.try_perf_events ? host.try_perf_events() : 0;
  if (error == 0) return passed(id, subject, "the kernel lets nl-stage sample programs that it starts (perf_event_open)");
  const auto paranoid = number(host.read("/proc/sys/kernel/perf_event_paranoid"));
  return {id, CheckLevel::kWarning, subject,
          sampling::perf_trouble(error, paranoid) + ": the collector's traces name no function of a native program",
          sampling::is_refusal(error) ? sampling::perf_fix(error, paranoid) : "nl-stage run --set mark.host_samples_hz=0 …"};
}

Check check_temporary(const Host& host) {
  return space_check("tmpdir", "temporary files", host.temporary_folder(),
                     "export TMPDIR=DIR   # a writable folder with more than 1 GiB free", host);
}

// The nearest folder that is there: the rest of the path will be made.
Check check_artifacts(const Config& config, const Host& host) {
  std::error_code failed;
  fs::path folder = fs::absolute(config.artifacts.dir, failed).lexically_normal();
  while (!fs::is_directory(folder, failed) && folder.has_relative_path()) folder = folder.parent_path();
  Check check =
      space_check("artifacts", "bundle folder", folder, "nl-stage run --out DIR …   # a writable folder with more than 1 GiB free", host);
  check.kind = ErrorKind::kOutput;
  return check;
}

Check check_libcrypto() {
  const std::string id = "libcrypto", subject = "digests";
  if (const Libcrypto* library = libcrypto()) return passed(id, subject, library->version);
  return {id, CheckLevel::kWarning, subject, "libcrypto.so.3 is not found: bundles have no SHA-256 digests",
          "sudo apt-get install libssl3"};
}

Check check_injection(const Toolset& tools) {
  const std::string id = "injection", subject = "other injections";
  if (tools.injection_env.empty()) return passed(id, subject, "CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH are not set");
  return {
      id, CheckLevel::kWarning, subject,
      fmt::format("{} set: ncu refuses to start beside it; nl-stage run unsets it for its passes", fmt::join(tools.injection_env, " and ")),
      fmt::format("unset {}", fmt::join(tools.injection_env, " "))};
}

// /proc/<pid>/comm: "nv-hostengine"
Check check_profilers(const Host& host) {
  const std::string id = "profilers", subject = "other profilers";
  std::vector<std::string> found;
  bool dcgm = false;
  for (const auto& path : host.match("/proc/[0-9]*/comm")) {
    const std::string pid = path.parent_path().filename().string();
    std::string name = host.read("/proc/" + pid + "/comm").value_or("");
    name.erase(name.find_last_not_of('\n') + 1);
    const bool holds = name == "nv-hostengine" || name == "dcgm-exporter";
    dcgm |= holds;
    if (holds || name == "nsys" || name == "nsys-ui" || name == "ncu" || name == "ncu-ui" || name == "nvprof")
      found.push_back(fmt::format("{} ({})", name, pid));
  }
  if (found.empty()) return passed(id, subject, "none is running");
  return {id, CheckLevel::kWarning, subject, fmt::format("running: {}; counters can be held by one at a time", fmt::join(found, ", ")),
          dcgm ? "dcgmi profile --pause   # and --resume afterwards" : "nsys sessions list; nsys shutdown --session=NAME"};
}

Check check_ncu_lock(const Host& host) {
  const std::string id = "ncu.lock", subject = "ncu's lock file";
  const fs::path lock = host.temporary_folder() / "nsight-compute-lock";
  std::error_code failed;
  if (!fs::exists(lock, failed)) return passed(id, subject, "none");
  if (host.writable(lock)) return passed(id, subject, lock.string() + " can be opened");
  return {id, CheckLevel::kBlocked, subject, fmt::format("{} belongs to another user: ncu cannot open it", lock.string()),
          fmt::format("sudo rm {}   # or: export TMPDIR=DIR", lock.string())};
}

Check check_memory(const Host& host) {
  const std::string id = "container.memory", subject = "memory limit";
  auto limit = number(host.read("/sys/fs/cgroup/memory.max"));
  if (!limit) limit = number(host.read("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  if (!limit || *limit <= 0 || *limit > (1LL << 60)) return passed(id, subject, "none");
  const auto bytes = static_cast<std::uint64_t>(*limit);
  if (bytes >= 4 * kGiB) return passed(id, subject, size_text(bytes));
  return {id, CheckLevel::kWarning, subject, size_text(bytes) + ": the workload and the importer share it", "docker run --memory=8g …"};
}

Check check_shared_memory(const Host& host) {
  const std::string id = "container.shm", subject = "/dev/shm";
  if (!host.exists("/dev/shm")) return passed(id, subject, "not there");
  const auto space = host.space(host.at("/dev/shm"));
  if (!space) return passed(id, subject, "its size cannot be read");
  if (space->total_bytes > 64 * kMiB) return passed(id, subject, size_text(space->total_bytes));
  return {id, CheckLevel::kWarning, subject, size_text(space->total_bytes) + ": data loaders and NCCL want more",
          "docker run --shm-size=2g …"};
}

Check check_ptrace(const Host& host) {
  const std::string id = "container.ptrace", subject = "ptrace";
  const auto scope = number(host.read("/proc/sys/kernel/yama/ptrace_scope"));
  if (!scope || *scope < 2) return passed(id, subject, "allowed for own children");
  return {id, CheckLevel::kWarning, subject, fmt::format("ptrace_scope is {}: attaching to processes is not allowed", *scope),
          *scope == 3 ? "reboot with kernel.yama.ptrace_scope=1" : "sudo sysctl kernel.yama.ptrace_scope=1"};
}

// /proc/self/status: "Seccomp:	2"
Check check_seccomp(const Config& config, const Host& host) {
  const std::string id = "container.seccomp", subject = "system call filter";
  const bool filtered = field(host.read("/proc/self/status"), "Seccomp") == "2";
  const bool asked = widest_sampling(config) != CpuSampling::kNone;
  if (!filtered || !asked) return passed(id, subject, filtered ? "on; CPU sampling is off, so it does not matter" : "none");
  return {id, CheckLevel::kWarning, subject, "on: it may forbid perf_event_open, which CPU sampling needs",
          "docker run --cap-add=SYS_ADMIN --security-opt seccomp=unconfined …"};
}

}  // namespace nl::orchestrator
