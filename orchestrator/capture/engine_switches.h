#pragma once

#include <optional>

#include "model/codes.h"
#include "orchestrator/capture/plan.h"
#include "orchestrator/config/config.h"

// mark.engine: what the workload's environment gets so that an inference engine says more of itself (docs/engines.md).
namespace nl::orchestrator {

// The engine's own switches for its ranges, unless workload.env sets them, and what asks our hooks for the requests of each step
// (nvtx/python/auto). Nothing where mark.engine is off, or mark.auto is.
void switch_engine_on(Pass& pass, const Config& config);

// What a plan says of it; empty: nothing is switched on.
std::optional<Remark> engine_remark(const Config& config);

}  // namespace nl::orchestrator
