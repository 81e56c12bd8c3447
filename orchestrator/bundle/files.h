#pragma once

#include <future>

#include "model/evidence.h"
#include "model/run.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/inputs.h"
#include "orchestrator/config/config.h"

namespace nl::orchestrator {

// config.yaml and inputs.yaml: known before anything runs, so written before.
void write_configuration(const Bundle& bundle, const Config& config, const std::vector<Input>& inputs);

// The tables of `nsys stats`, where they are wanted: beside the analysis, which keeps one processor busy.
std::future<void> write_stats(const Bundle& bundle, const Config& config, const Trace& trace);

// trace.pftrace, where it is wanted, and detail.json.gz. Returns what had to be left out of the trace.
std::optional<Remark> write_trace_files(const Bundle& bundle, const Config& config, const Evidence& evidence, const Run& run);

// Everything else, the manifest last; run.json is validated against its schema before it is written. Returns its text.
std::string write_bundle(const Bundle& bundle, const Config& config, const Evidence& evidence, const Run& run);

}  // namespace nl::orchestrator
