#include "orchestrator/capture/timeline.h"

#include "analysis/ranks/one_run.h"
#include "analysis/staging/found/found.h"
#include "analysis/staging/traced_steps.h"
#include "analysis/trace/gpu_order.h"
#include "exporters/nsys_sqlite/nsys_sqlite.h"
#include "model/error.h"
#include "orchestrator/capture/duty.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/config/units.h"
#include "parsers/collector/trace.h"

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

}  // namespace

Trace with_stages(Trace trace, const Config& config) {
  analysis::order_by_start(trace);
  analysis::add_found_stages(trace, {config.stages.map.begin(), config.stages.map.end()});
  const bool asked = one_in(config.capture.duty).value_or(1) > 1 && trace.stats.source_format == SourceFormat::kCollector;
  const bool marks = asked && marks_steps(trace);
  analysis::keep_traced_steps(trace, warmup_rule(config), asked ? analysis::PausedBy::kDuty : analysis::PausedBy::kWindow);
  if (asked && trace.has_kernel_data && !trace.duty)
    trace.stats.notes.push_back({marks ? Code::kDutyNeverPaused : Code::kDutyNoSteps, {config.capture.duty}});
  analysis::ranks::tell_ranks(trace);
  return trace;
}

Trace read_nsys_timeline(const std::filesystem::path& sqlite, const Config& config, const parsers::NsysTables& tables) {
  return with_stages(parsers::read_nsys_sqlite(sqlite, tables), config);
}

Trace read_collector_timeline(const std::vector<std::filesystem::path>& files, const Config& config) {
  return with_stages(parsers::read_collector_traces(files), config);
}

Trace import_collector_files(const std::vector<std::filesystem::path>& files, const std::filesystem::path& sqlite) {
  std::string trouble;
  {
    Trace all = parsers::read_collector_traces(files, parsers::CallRows::kAll);
    if (!all.has_kernel_data) return all;
    trouble = write_export(all, sqlite);
  }  // an export has millions of calls that the analysis does not need
  Trace trace = parsers::read_collector_traces(files);
  if (trouble.empty()) return trace;
  std::error_code ignored;
  std::filesystem::remove(sqlite, ignored);
  trace.stats.notes.push_back({Code::kSqliteNotWritten, {sqlite.filename().string(), trouble}});
  return trace;
}

}  // namespace nl::orchestrator
