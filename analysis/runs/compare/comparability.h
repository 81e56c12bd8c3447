#pragma once

#include "analysis/runs/compare/sides.h"

namespace nl::analysis {

// Whether the sides have in common what they should: machine, model, workload and the way of measuring.
// has_stages: some run had one before it was taken as a whole capture.
Comparability comparability_of(const Sides& sides, const CompareOptions& options, bool has_stages);

}  // namespace nl::analysis
