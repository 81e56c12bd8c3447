#pragma once

#include "orchestrator/doctor/doctor.h"
#include "orchestrator/machine/tools_host.h"

// What of the machine, or the container, breaks captures?
namespace nl::orchestrator {

Check check_counters(const Toolset& tools, const Host& host);
// The collector's counters: a run goes on without them, so this never blocks one.
Check check_cupti_counters(const Toolset& tools, const Config& config, const Host& host);
Check check_paranoid(const Config& config, const Host& host);
Check check_temporary(const Host& host);
Check check_artifacts(const Config& config, const Host& host);
Check check_libcrypto();
Check check_injection(const Toolset& tools);
Check check_profilers(const Host& host);
Check check_ncu_lock(const Host& host);
Check check_memory(const Host& host);
Check check_shared_memory(const Host& host);
Check check_ptrace(const Host& host);
Check check_seccomp(const Config& config, const Host& host);

}  // namespace nl::orchestrator
