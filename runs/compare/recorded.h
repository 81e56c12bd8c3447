#pragma once

#include <optional>
#include <string>

#include "analysis/runs/compare/compare.h"

namespace nl::runs {

// How much runs of this workload on this hardware differ, by what the ledger has of the stage's window. `ledger`: its location; empty: the default
// one. Nothing where there is no ledger, it is off or cannot be read, or it has fewer than three runs.
std::optional<analysis::RecordedWander> recorded_wander(const Run& run, const std::string& stage, const std::string& ledger);

// The same of any metric of the ledger.
std::optional<analysis::RecordedWander> recorded_metric(const Run& run, const std::string& metric, const std::string& ledger);

}  // namespace nl::runs
