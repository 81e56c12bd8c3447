#pragma once

#include <functional>
#include <optional>

#include "orchestrator/evidence.h"
#include "orchestrator/explain.h"

namespace nl::orchestrator {

// Writes the trace file of a run whose findings are known; what had to be left out of it is for the run to say.
using TraceWriter = std::function<std::optional<Remark>(const Run& run)>;

// The run that the evidence makes, for `run` and `import` alike: the only place that builds one. A Ctrl-C until its end
// is among the run's problems.
Run analyse(const Evidence& evidence, const Knowledge& knowledge, const TraceWriter& write_trace = {});

}  // namespace nl::orchestrator
