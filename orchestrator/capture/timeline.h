#pragma once

#include <filesystem>
#include <vector>

#include "model/trace.h"
#include "orchestrator/config/config.h"
#include "parsers/nsys/sqlite.h"

// Captures with a timeline, read together with their stages: those that the workload marks, or those that are found in what it does.
// Nothing else reads them.
namespace nl::orchestrator {

Trace read_nsys_timeline(const std::filesystem::path& sqlite, const Config& config, const parsers::NsysTables& tables = {});

// What the collector left, one file a process.
Trace read_collector_timeline(const std::vector<std::filesystem::path>& files, const Config& config);

// A trace that another reader made.
Trace with_stages(Trace trace, const Config& config);

// The trace of the collector's files of one run, read from the files themselves. Beside it `sqlite` is written, the same
// capture as nsys would have exported it, for nsys' own tools and other people's scripts. Files with ranges only make no
// export. Where it cannot be written, a note says why there is none.
Trace import_collector_files(const std::vector<std::filesystem::path>& files, const std::filesystem::path& sqlite);

}  // namespace nl::orchestrator
