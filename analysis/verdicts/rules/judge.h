#pragma once

#include "model/rule.h"
#include "model/run.h"

namespace nl::analysis {

// Fills run.findings (the most severe and certain first) and run.abstentions: the rules that no subject has
// the captured inputs for. Needs everything else of the run. Error(kConfig) for rules that load_rules() would
// have refused.
void judge(const Rules& rules, Run& run);

}  // namespace nl::analysis
