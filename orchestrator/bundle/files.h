#pragma once

#include "model/run.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/inputs.h"
#include "orchestrator/config/config.h"
#include "orchestrator/evidence.h"

namespace nl::orchestrator {

// config.yaml and inputs.yaml: known before anything runs, so written before.
void write_configuration(const Bundle& bundle, const Config& config, const std::vector<Input>& inputs);

// trace.pftrace, where it is wanted; what had to be left out of it.
std::optional<Remark> write_trace(const Bundle& bundle, const Config& config, const Evidence& evidence, const Run& run);

// Everything else, the manifest last; run.json is validated against its schema before it is written. Returns its text.
std::string write_bundle(const Bundle& bundle, const Config& config, const Evidence& evidence, const Run& run);

}  // namespace nl::orchestrator
