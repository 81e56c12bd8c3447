#include "orchestrator/capture/collector_sqlite.h"

#include <fmt/core.h>

#include "exporters/nsys_sqlite/nsys_sqlite.h"
#include "model/error.h"
#include "parsers/collector/trace.h"
#include "parsers/nsys/sqlite.h"

namespace nl::orchestrator {
namespace {

// Empty, or why there is no export.
std::string write_export(const Trace& trace, const std::filesystem::path& sqlite) {
  try {
    std::filesystem::create_directories(sqlite.parent_path());
    exporters::write_nsys_sqlite(trace, sqlite);
    return {};
  } catch (const Error& error) {
    if (error.kind != ErrorKind::kOutput) throw;
    return error.message;
  } catch (const std::filesystem::filesystem_error& error) {
    return error.code().message();
  }
}

// What an export of nsys has no place for.
void move_beside(Trace& from, Trace& to) {
  to.stats = std::move(from.stats);
  to.metric_series = std::move(from.metric_series);
  to.stalls = std::move(from.stalls);
  to.clock = from.clock;
}

// The files themselves are whole: a full disk costs the export only.
Trace without_export(const std::vector<std::filesystem::path>& files, const std::filesystem::path& sqlite, const std::string& why) {
  std::error_code ignored;
  std::filesystem::remove(sqlite, ignored);
  Trace trace = parsers::read_collector_traces(files);
  trace.stats.notes.push_back(fmt::format("there is no {}, the capture as an export of nsys: {}", sqlite.filename().string(), why));
  return trace;
}

}  // namespace

Trace import_collector_files(const std::vector<std::filesystem::path>& files, const std::filesystem::path& sqlite) {
  Trace beside;
  std::string trouble;
  {
    Trace all = parsers::read_collector_traces(files, parsers::CallRows::kAll);
    if (!all.has_kernel_data) return all;
    trouble = write_export(all, sqlite);
    move_beside(all, beside);
  }  // millions of calls, before they are read again
  if (!trouble.empty()) return without_export(files, sqlite, trouble);
  Trace trace = parsers::read_nsys_sqlite(sqlite);
  trace.session_end_ns.reset();
  move_beside(beside, trace);
  return trace;
}

}  // namespace nl::orchestrator
