#pragma once

#include "orchestrator/doctor/doctor.h"

namespace nl::orchestrator {

// A check that found nothing wrong.
Check passed(const std::string& id, const std::string& subject, std::string finding);

// Are the capturing tools there, and do they start?
Check check_nsys(const Toolset& tools, const Host& host);
Check check_importer(const Toolset& tools, const Host& host);
Check check_ncu(const Toolset& tools, const Config& config);
Check check_gpu(const Toolset& tools, const Host& host);
Check check_cupti(const Toolset& tools);
Check check_collector(const Toolset& tools, const Host& host);
std::vector<Check> check_rejected(const Toolset& tools);

// Traces `true` with nsys and looks for the report: what a real capture would need, all at once.
Check check_trial_capture(const Toolset& tools, const Host& host);

// The Debian or Ubuntu package that has a shared library; "" where unknown.
std::string package_of(const std::string& library);

// Does something on the machine, or in the container, break captures?
Check check_counters(const Toolset& tools, const Host& host);
// The collector's counters: a run goes on without them, so this never blocks one.
Check check_cupti_counters(const Toolset& tools, const Config& config, const Host& host);
Check check_paranoid(const Config& config, const Host& host);
// The collector's own sampler: a run goes on without it, so this never blocks one.
Check check_native_stacks(const Config& config, const Host& host);
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
