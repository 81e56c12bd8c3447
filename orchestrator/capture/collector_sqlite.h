#pragma once

#include <filesystem>
#include <vector>

#include "model/trace.h"

namespace nl::orchestrator {

// The collector's files of one run as an nsys export, written to `sqlite`, and the trace that the one importer reads
// of it; what the files' reader counted and noted stays. Files with ranges only make no export. Where it
// cannot be written, the files are read without it, and a note says why there is none.
Trace import_collector_files(const std::vector<std::filesystem::path>& files, const std::filesystem::path& sqlite);

}  // namespace nl::orchestrator
