#pragma once

#include "orchestrator/doctor/doctor.h"
#include "orchestrator/machine/tools_host.h"

// Is what captures there, and does it start?
namespace nl::orchestrator {

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

}  // namespace nl::orchestrator
