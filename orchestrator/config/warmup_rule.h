#pragma once

#include "analysis/stages/iterations.h"
#include "orchestrator/config/config.h"

namespace nl::orchestrator {

// analysis.warmup and analysis.warmup_factor as the analysis takes them.
analysis::WarmupRule warmup_rule(const Config& config);

}  // namespace nl::orchestrator
