#pragma once

#include <string>

#include "model/evidence.h"
#include "model/prediction_pair.h"

namespace nl::runs {

// What predictions of this capture come from, and the scale of their intervals by the pairs that the ledger has of its hardware. `ledger`: its location;
// empty: the default one. A ledger that is off, absent or cannot be read scales nothing.
PredictionOrigin prediction_origin(const Evidence& evidence, const std::string& ledger);

// "nsys", "collector"; empty: not known
std::string tracer_text(SourceFormat format);

}  // namespace nl::runs
