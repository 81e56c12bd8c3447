#pragma once

#include "orchestrator/evidence.h"
#include "orchestrator/explain.h"

namespace nl::orchestrator {

// The run that the evidence makes, for `run` and `import` alike: the only place that builds one.
Run analyse(const Evidence& evidence, const Knowledge& knowledge);

}  // namespace nl::orchestrator
