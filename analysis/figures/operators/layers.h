#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/figures/operators/range_tally.h"
#include "model/run.h"
#include "model/trace.h"

namespace nl::analysis {

// The layers that ranges stand for.
struct LayerRanges {
  std::vector<std::uint32_t> of_range;  // index into names; kNone: it is no layer
  std::vector<std::string> names;
};
LayerRanges layer_ranges(const Trace& trace);

// Run::layers from the ranges of the domain LLM.layers: the model's modules in the order in which they first run,
// with the kernels that each launches. Run::layers_note says why there are none, or which are left out.
void add_layers(const Trace& trace, Run& run);
// The same with times that are tallied otherwise.
void add_layers(const Trace& trace, const std::function<RangeTally(const RangeItems&)>& tally, Run& run);

}  // namespace nl::analysis
