#pragma once

#include <vector>

#include "analysis/figures/serving/marks.h"
#include "model/load.h"

namespace nl::analysis::serving {

// Adds the network's part to the requests that the client recorded, by their names, and says in `out` what came of it. `requests` are all of
// the bill.
void join_client(const std::vector<LoadRun>& loads, const Trace& trace, std::vector<ServingRequest>& requests, Damage& damage,
                 Serving& out);

}  // namespace nl::analysis::serving
