#pragma once

#include "analysis/verdicts/rules/value.h"
#include "model/run.h"

namespace nl::analysis::rules {

// The bytes that the matrix products of a kernel move at least: both operands and the result, once. From the shapes of the
// operators that launch it; of several, the largest. Where the model's dtype is not known, four bytes an element.
Value least_traffic(const Run& run, const KernelEntry& kernel);

}  // namespace nl::analysis::rules
