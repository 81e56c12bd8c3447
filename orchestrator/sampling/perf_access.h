#pragma once

#include <optional>
#include <string>

namespace nl::orchestrator::sampling {

// Whether the kernel lets this user sample programs that he starts: 0, or the error of perf_event_open.
int try_perf_events();

// Whether the error says that it is forbidden, and not that something else is in the way.
bool is_refusal(int error);

// "perf_event_open is forbidden (perf_event_paranoid is 4)". `paranoid`: that setting of the kernel, where it is known.
std::string perf_trouble(int error, std::optional<long long> paranoid);
// The one command that would allow it.
std::string perf_fix(int error, std::optional<long long> paranoid);

std::optional<long long> perf_paranoid();  // of this machine

}  // namespace nl::orchestrator::sampling
