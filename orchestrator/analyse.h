#pragma once

#include "orchestrator/evidence.h"
#include "orchestrator/explain.h"

namespace nl::orchestrator {

// The run that the evidence makes, for `run` and `import` alike: the only place that builds one. A Ctrl-C until its end
// is among the run's problems.
Run analyse(const Evidence& evidence, const Knowledge& knowledge);

}  // namespace nl::orchestrator
