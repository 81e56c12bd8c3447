#pragma once

#include <chrono>
#include <string>

#include "runs/orchestrator_names.h"

namespace nl::runs {

// What --since and --until take, as LedgerFilter has it: "2026-11-16" and "2026-11-16T12:00:00Z" as they are; "90m", "24h", "7d" so long before
// now. Throws Error(kUsage).
std::string moment_text(const std::string& text, const std::string& flag, std::chrono::system_clock::time_point now);

}  // namespace nl::runs
