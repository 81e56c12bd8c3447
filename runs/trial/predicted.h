#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "model/comparison.h"
#include "model/prediction.h"
#include "model/prediction_pair.h"
#include "model/run.h"

// A prediction that a trial is held against.
namespace nl::runs {

struct AskedPrediction {
  std::string from;  // as it was named
  Prediction prediction;
  PredictionOrigin origin;
  std::size_t among = 1;  // so many predictions, of which this is the first that was not refused
};

// `from` is a file that `whatif --json` printed, or a run (a bundle, a run.json, a name of the ledger at `ledger`) with predictions in its run.json. Throws
// Error(kInput) where there is none to be tried.
AskedPrediction asked_prediction(const std::string& from, const std::string& ledger = {});

// The prediction beside what the comparison says of its stage; nothing where that was not compared. `a`: a run of side A.
std::optional<PredictionPair> pair_of(const AskedPrediction& asked, const Comparison& comparison, const Run& a);

}  // namespace nl::runs
