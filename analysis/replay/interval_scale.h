#pragma once

#include <span>
#include <vector>

#include "model/prediction_pair.h"

// What pairs of predictions and outcomes say of the predictions to come.
namespace nl::analysis {

// Split conformal prediction: the factor to the logarithm of a shipped interval with which nine in ten outcomes are in it. 1 where there are fewer than nine
// pairs: then no factor would be known to do that.
double interval_scale(std::span<const PredictionPair> pairs);

// The pairs of each hardware, by its name.
std::vector<PredictionRecord> prediction_records(std::vector<PredictionPair> pairs);

}  // namespace nl::analysis
