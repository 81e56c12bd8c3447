#pragma once

#include "orchestrator/config/config.h"

namespace nl::orchestrator {

// A configuration with a backend runs `nl-stage session`, this program once more, as its workload, and has one stage more.
// Throws Error(kUsage) where it names no model file.
void use_session(Config& config);

}  // namespace nl::orchestrator
