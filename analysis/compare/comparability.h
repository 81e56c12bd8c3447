#pragma once

#include "analysis/compare/sides.h"

namespace nl::analysis {

// Whether the sides have in common what they should: machine, model, workload and the way of measuring.
Comparability comparability_of(const Sides& sides, const CompareOptions& options);

}  // namespace nl::analysis
