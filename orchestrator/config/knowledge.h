#pragma once

#include "analysis/analyse.h"
#include "orchestrator/config/config.h"

namespace nl::orchestrator {

// What a configuration tells the analysis, with the rules and devices that it names. Loaded before anything runs, so that a mistake in a
// rule file costs no capture. Error(kConfig) names file and line.
analysis::Knowledge load_knowledge(const Config& config);

analysis::AnalysisOptions analysis_options(const Config& config);

}  // namespace nl::orchestrator
