#include "orchestrator/collector_sqlite.h"

#include "exporters/nsys_sqlite.h"
#include "parsers/collector_trace.h"
#include "parsers/nsys_sqlite.h"

namespace nl {

Trace import_collector_files(const std::vector<std::filesystem::path>& files, const std::filesystem::path& sqlite) {
  ImportStats stats;
  {
    Trace all = read_collector_traces(files, CallRows::kAll);
    if (!all.has_kernel_data) return all;
    std::filesystem::create_directories(sqlite.parent_path());
    write_nsys_sqlite(all, sqlite);
    stats = std::move(all.stats);
  }  // millions of calls, before they are read again
  Trace trace = read_nsys_sqlite(sqlite);
  trace.session_end_ns.reset();
  trace.stats = std::move(stats);
  return trace;
}

}  // namespace nl
