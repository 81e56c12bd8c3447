#include "orchestrator/sampling/perf_access.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "orchestrator/sampling/perf_rings.h"

namespace nl::orchestrator::sampling {
namespace {

constexpr long long kMostParanoid = 2;  // with which the kernel lets users sample their own programs

bool by_setting(std::optional<long long> paranoid) { return paranoid && *paranoid > kMostParanoid; }

}  // namespace

int try_perf_events() {
  PerfRings rings;
  return rings.open({.hertz = 1, .only_first_cpu = true});
}

bool is_refusal(int error) { return error == EACCES || error == EPERM || error == ENOSYS; }

std::string perf_trouble(int error, std::optional<long long> paranoid) {
  if (error == ENOSYS) return "perf_event_open is not there, or a filter of system calls hides it";
  if (!is_refusal(error)) return fmt::format("perf_event_open failed: {}", std::strerror(error));
  return fmt::format("perf_event_open is forbidden{}", by_setting(paranoid) ? fmt::format(" (perf_event_paranoid is {})", *paranoid)
                                                                            : " by a filter of system calls, as containers have one");
}

std::string perf_fix(int error, std::optional<long long> paranoid) {
  if (!is_refusal(error)) return {};
  if (by_setting(paranoid)) return fmt::format("sudo sysctl kernel.perf_event_paranoid={}", kMostParanoid);
  return "docker run --cap-add=PERFMON …";
}

std::optional<long long> perf_paranoid() {
  std::ifstream in("/proc/sys/kernel/perf_event_paranoid");
  long long level = 0;
  return in >> level ? std::optional(level) : std::nullopt;
}

}  // namespace nl::orchestrator::sampling
