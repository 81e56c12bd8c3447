#pragma once

#include <vector>

#include "analysis/account/host_watch.h"
#include "analysis/staging/windows.h"
#include "model/run.h"

namespace nl::analysis {

// Fills host_code of the stages, which are those of the table in its order, and Run::host. `hits` by stage; empty: nobody
// looked at the host.
void fill_host_code(const Trace& trace, const std::vector<Window>& windows, const std::vector<HostHits>& hits, Run& run);

}  // namespace nl::analysis
