#pragma once

#include <filesystem>
#include <vector>

#include "model/trace.h"

namespace nl::orchestrator {

// The trace of the collector's files of one run, read from the files themselves. Beside it `sqlite` is written, the same
// capture as nsys would have exported it, for nsys' own tools and other people's scripts. Files with ranges only make no
// export. Where it cannot be written, a note says why there is none.
Trace import_collector_files(const std::vector<std::filesystem::path>& files, const std::filesystem::path& sqlite);

}  // namespace nl::orchestrator
