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
  std::vector<std::uint32_t> of_range;  // index into names; kNone: it is not a layer
  std::vector<std::string> names;
};
LayerRanges layer_ranges(const Trace& trace);

// The model's modules, from the ranges of the domain LLM.layers, in the order in which they first run, with the kernels that each
// launches.
struct LayerTable {
  std::vector<LayerEntry> layers;
  std::string note;  // why there are none, or which are left out
};
LayerTable layer_table(const Trace& trace);
// The same, with times from another tally.
LayerTable layer_table(const Trace& trace, const std::function<RangeTally(const RangeItems&)>& tally);

}  // namespace nl::analysis
