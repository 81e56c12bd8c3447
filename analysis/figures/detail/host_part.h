#pragma once

#include <vector>

#include "analysis/figures/detail/gpu_part.h"
#include "analysis/staging/iterations.h"
#include "analysis/staging/windows.h"

namespace nl::analysis {

// The threads' ranges and CUDA calls, in the order of start.
void add_host_slices(const DetailParts& parts);

// The windows of stages as steps. `listed`: by window, its place in the list or kNone.
std::vector<DetailStep> list_steps(const std::vector<Window>& windows, const std::vector<std::uint32_t>& listed);
// At most about `most` of them, evenly, and all that lie in exact windows.
std::vector<std::uint32_t> listed_steps(const std::vector<Window>& windows, const Spans& exact, std::size_t most);
void find_exact_windows(const Spans& exact, std::vector<DetailStep>& steps);

}  // namespace nl::analysis
