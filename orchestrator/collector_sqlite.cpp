#include "orchestrator/collector_sqlite.h"

#include "exporters/nsys_sqlite.h"
#include "parsers/collector_trace.h"
#include "parsers/nsys_sqlite.h"

namespace nl {

Trace import_collector_files(const std::vector<std::filesystem::path>& files, const std::filesystem::path& sqlite) {
  Trace beside;  // what an export of nsys has no place for
  {
    Trace all = read_collector_traces(files, CallRows::kAll);
    if (!all.has_kernel_data) return all;
    std::filesystem::create_directories(sqlite.parent_path());
    write_nsys_sqlite(all, sqlite);
    beside.stats = std::move(all.stats);
    beside.metric_series = std::move(all.metric_series);
    beside.stalls = std::move(all.stalls);
    beside.clock = all.clock;
  }  // millions of calls, before they are read again
  Trace trace = read_nsys_sqlite(sqlite);
  trace.session_end_ns.reset();
  trace.stats = std::move(beside.stats);
  trace.metric_series = std::move(beside.metric_series);
  trace.stalls = std::move(beside.stalls);
  trace.clock = beside.clock;
  return trace;
}

}  // namespace nl
