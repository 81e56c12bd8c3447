#pragma once

#include <optional>
#include <string>

#include "analysis/staging/staged_trace.h"
#include "model/median_step.h"

namespace nl::analysis {

// Of the stage's measured windows the one of median length; of an even number the shorter of the two in the middle, which is the one that the
// timeline calls the median. Nothing where it has none.
std::optional<MedianStep> median_step(const StagedTrace& staged, const std::string& stage);

}  // namespace nl::analysis
