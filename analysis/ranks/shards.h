#pragma once

#include <cstdint>
#include <vector>

#include "model/trace.h"

namespace nl::analysis::ranks {

// Processes that hold a part of the same model as an earlier process and so work on its tokens: they share at least `fewest` all-reduces with it, one
// for each step. By process; all false where captures of ranks were not joined. Copies of a model share none, and experts exchange tokens all to all.
std::vector<bool> shards_of_others(const Trace& trace, std::uint64_t fewest);

}  // namespace nl::analysis::ranks
