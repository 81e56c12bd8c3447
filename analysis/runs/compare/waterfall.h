#pragma once

#include "analysis/runs/compare/stage_lines.h"

namespace nl::analysis {

// From A's window of the stage to B's. Nothing where a side has no budget of it.
std::optional<Waterfall> waterfall_of(const Sides& sides, const std::string& stage, const std::vector<StageKernels>& kernels);

}  // namespace nl::analysis
