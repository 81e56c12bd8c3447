#pragma once

#include "orchestrator/machine/tools.h"
#include "orchestrator/machine/tools_host.h"

namespace nl::orchestrator {

// Finds the importer of an nsys that was found, and sees that nsys will find it too. nsys looks in the
// folder host-linux-* beside its own; where the importer lies elsewhere (inside Nsight Compute, in
// Debian's packages) a private folder is made in the cache that has both, and its nsys is started
// instead. Libraries that it misses and that its own folders have are supplied the same way. Nothing
// outside the cache is written.
void settle_importer(Tool& nsys, const Host& host);

}  // namespace nl::orchestrator
