#pragma once

#include <filesystem>
#include <vector>

#include "model/trace.h"

namespace nl {

// The files that the injected collector wrote, one per process, of one run. A file that ends in the
// middle of a record (the process was killed) gives all records before it.
Trace read_collector_traces(const std::vector<std::filesystem::path>& files);

}  // namespace nl
