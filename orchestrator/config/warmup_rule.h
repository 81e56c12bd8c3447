#pragma once

#include "analysis/staging/iterations.h"
#include "orchestrator/config/config.h"

namespace nl::orchestrator {

// analysis.warmup and analysis.warmup_factor as the analysis takes them. Error(kConfig) where warmup is neither a word nor a
// number; load_config() asks too.
analysis::WarmupRule warmup_rule(const Config& config);

}  // namespace nl::orchestrator
