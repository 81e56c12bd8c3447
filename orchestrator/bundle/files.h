#pragma once

#include "model/run.h"
#include "model/trace.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/config/config.h"
#include "orchestrator/capture/verdict.h"

namespace nl::orchestrator {

// config.yaml and inputs.yaml: known before anything runs, so written before.
void write_configuration(const Bundle& bundle, const Config& config);

// Everything else, the manifest last. Fills status and problems of the run from the verdict; run.json is
// validated against its schema before it is written.
void write_bundle(const Bundle& bundle, const Config& config, const Trace& trace, const Verdict& verdict, Run& run);

}  // namespace nl::orchestrator
