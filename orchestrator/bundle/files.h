#pragma once

#include "model/run.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/config/config.h"
#include "orchestrator/evidence.h"

namespace nl::orchestrator {

// config.yaml and inputs.yaml: known before anything runs, so written before.
void write_configuration(const Bundle& bundle, const Config& config);

// Everything else, the manifest last; run.json is validated against its schema before it is written. What had to be left
// out of trace.pftrace is added to the run's adaptations.
void write_bundle(const Bundle& bundle, const Config& config, const Evidence& evidence, Run& run);

}  // namespace nl::orchestrator
