#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "orchestrator/capture/plan.h"

// A limit on the size of a trace (capture.max_size), and what is traced where it is exceeded.
namespace nl::orchestrator {

// Of the files below a folder; with `since` only of those that were written after.
std::uint64_t bytes_below(const std::filesystem::path& folder, std::optional<std::filesystem::file_time_type> since = {});

// Ends the pass when what it writes is larger than capture.max_size: in the bundle, and by nsys in its folder of temporary files,
// where it keeps the events until the workload has ended.
void limit_trace_size(Pass& pass, const Plan& plan);

// The plan with less in its trace, pass for pass, and in words what it goes without; nothing where there is no less.
struct LighterPlan {
  Plan plan;
  std::string without;
};
std::optional<LighterPlan> lighter_plan(const Plan& plan);

}  // namespace nl::orchestrator
