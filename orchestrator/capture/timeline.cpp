#include "orchestrator/capture/timeline.h"

#include <utility>

#include "analysis/staging/found/found.h"
#include "parsers/collector/trace.h"

namespace nl::orchestrator {

Trace with_stages(Trace trace, const Config& config) {
  analysis::add_found_stages(trace, {config.stages.map.begin(), config.stages.map.end()});
  return trace;
}

Trace read_nsys_timeline(const std::filesystem::path& sqlite, const Config& config, const parsers::NsysTables& tables) {
  return with_stages(parsers::read_nsys_sqlite(sqlite, tables), config);
}

Trace read_collector_timeline(const std::vector<std::filesystem::path>& files, const Config& config) {
  return with_stages(parsers::read_collector_traces(files), config);
}

}  // namespace nl::orchestrator
