#pragma once

#include "model/run.h"
#include "model/trace.h"

namespace nl::analysis {

// Run::layers from the ranges of the domain LLM.layers: the model's modules in the order in which they first run,
// with the kernels that each launches. Run::layers_note says why there are none, or which are left out.
void add_layers(const Trace& trace, Run& run);

}  // namespace nl::analysis
