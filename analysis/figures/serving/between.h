#pragma once

#include <vector>

#include "analysis/figures/serving/lives.h"

namespace nl::analysis::serving {

// The worker's time in the window, and when no step of it ran although a request of its own was there.
ServingWorker worker_times(const Trace& trace, const Worker& worker, const std::vector<Life>& lives, std::uint32_t number,
                           const Window& window, std::vector<std::pair<Ns, Ns>>& between);

// What ran in that time, the most of it first. Each moment is of one range: of the scheduler, else of the worker, else of another thread; the
// innermost. Ranges with a whole step in them say nothing of the time between steps.
std::vector<ServingCode> code_between(const Trace& trace, const Events& events, const std::vector<std::vector<std::pair<Ns, Ns>>>& between);

}  // namespace nl::analysis::serving
