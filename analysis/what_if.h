#pragma once

#include <string>
#include <vector>

#include "analysis/analyse.h"
#include "analysis/replay/predict.h"
#include "model/evidence.h"
#include "model/prediction.h"

namespace nl::analysis {

struct WhatIfQuestion {
  std::string stage;                 // empty: the unit of the program, else the stage that takes the longest
  std::vector<NamedChange> changes;  // made together; empty: all that apply, one by one, and the best sequence of them
};

// What a stage of the captured program would take after changes. Reads no clock and no files.
WhatIf what_if(const Evidence& evidence, const Knowledge& knowledge, const WhatIfQuestion& question);

}  // namespace nl::analysis
