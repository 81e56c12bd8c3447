#pragma once

#include "analysis/iterations.h"
#include "orchestrator/config.h"

namespace nl {

// analysis.warmup and analysis.warmup_factor as the analysis takes them.
WarmupRule warmup_rule(const Config& config);

}  // namespace nl
