#pragma once

#include <set>
#include <string>

#include "analysis/rules/fields.h"

namespace nl::analysis::rules {

// As docs/rules.md calls it: "ncu", "model" …
std::string_view capture_word(Capture capture);

// "needs kernel counters (ncu or the collector), and the model's shape"
std::string capture_reason(const std::set<Capture>& captures);

// The command that would capture them: nl-stage run with the workload's own command behind it.
std::string capture_command(const std::set<Capture>& captures, const Run& run);

}  // namespace nl::analysis::rules
