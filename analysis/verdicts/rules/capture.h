#pragma once

#include <set>
#include <string>

#include "analysis/verdicts/rules/fields.h"

namespace nl::analysis::rules {

// "needs kernel counters (ncu or the collector), and the model's shape"
std::string capture_reason(const std::set<Capture>& captures, const Run& run);

// The command that would capture them: nl-stage run with the workload's own command behind it. Empty where it was just
// tried and refused; the reason then says why, and what to do.
std::string capture_command(const std::set<Capture>& captures, const Run& run);

}  // namespace nl::analysis::rules
