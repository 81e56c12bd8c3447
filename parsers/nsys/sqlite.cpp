#include "parsers/nsys/sqlite.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "model/error_code.h"
#include "parsers/clock_bounds.h"
#include "parsers/nsys/correlation.h"
#include "parsers/nsys/database.h"
#include "parsers/nsys/records.h"
#include "parsers/nsys/strings.h"
#include "parsers/nsys/tables.h"
#include "parsers/registry.h"

namespace nl::parsers {
namespace {

constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kApi = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kRanges = "NVTX_EVENTS";

void check_it_is_an_export(const NsysDatabase& database) {
  if (has_export_tables(database)) return;
  throw CodedError(ErrorCode::kUnknownFormat, "this SQLite file has none of the tables of an nsys export", database.file(),
                   "make one from a report: nsys export --type sqlite --output FILE.sqlite REPORT.nsys-rep");
}

// Whether the capture could have had the data; a table that is not there is written down.
bool present(const NsysDatabase& database, const char* table, ImportStats& stats) {
  if (database.has_table(table)) return true;
  stats.tables_absent.emplace_back(table);
  return false;
}

// Where the export does not say whose the GPU work is and only one process called the API, it is its.
void assign_lone_process(Trace& trace) {
  if (trace.processes.size() != 1) return;
  for (Queue& queue : trace.queues)
    if (queue.process == kNone) queue.process = 0;
}

void close_capture(Trace& trace) {
  Ns last = trace.duration_ns;
  for (const Kernel& kernel : trace.kernels) last = std::max(last, kernel.end_ns());
  for (const MemOp& op : trace.mem_ops) last = std::max(last, op.end_ns);
  for (const GraphRun& run : trace.graph_runs) last = std::max(last, run.end_ns);
  for (const ApiCall& call : trace.api_calls) last = std::max(last, call.end_ns());
  trace.duration_ns = last;
}

void note_strings(const NsysStrings& strings, ImportStats& stats) {
  if (strings.mended()) stats.rows_damaged[{Code::kNotUtf8}] += strings.mended();
  if (strings.missing()) stats.notes.push_back({Code::kStringIdsMissing, {std::to_string(strings.missing())}});
}

void read_gpu_work(const NsysDatabase& database, const NsysTables& tables, NsysStrings& strings, NsysPlaces& places, GraphNodes* nodes,
                   Trace& trace) {
  trace.has_kernel_data = present(database, kKernels, trace.stats);
  if (tables.kernels && trace.has_kernel_data) read_kernels(database, strings, places, nodes, trace);
  if (tables.mem_ops) read_mem_ops(database, strings, places, nodes, trace);
  if (tables.kernels) read_graph_runs(database, places, trace);
}

void read_api(const NsysDatabase& database, const NsysTables& tables, NsysStrings& strings, NsysPlaces& places, Trace& trace) {
  trace.has_api_data = present(database, kApi, trace.stats);
  bool whose = !trace.has_kernel_data || database.has_column(kKernels, "globalPid");
  if (!whose) trace.stats.notes.push_back({Code::kKernelsWithoutProcess});
  const bool calls = tables.api && trace.has_api_data;
  if (!calls) return forget_launches(trace);
  Launches launches(trace, !whose);
  read_api_calls(database, launches, strings, places, trace, tables.all_calls);
  if (tables.host) {
    read_os_calls(database, strings, places, trace);
    read_host_samples(database, strings, places, trace);
  }
  if (std::uint64_t repeated = launches.link(trace)) trace.stats.notes.push_back({Code::kCorrelationRepeated, {std::to_string(repeated)}});
}

// A file that is damaged or cut short is taken for an export too: no other format here is SQLite, and the reader says what is
// wrong with it.
bool is_nsys_export(const FileHead& head) {
  if (!head.starts_with(std::string_view("SQLite format 3\0", 16))) return false;
  try {
    return has_export_tables(NsysDatabase(head.path));
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

Trace read_nsys_sqlite(const std::filesystem::path& file, const NsysTables& tables) {
  NsysDatabase database(file);
  check_it_is_an_export(database);
  Trace trace;
  trace.stats.source_format = SourceFormat::kNsysSqlite;
  NsysStrings strings(database, trace.strings);
  NsysPlaces places(trace);
  read_capture_facts(database, trace);
  // Where a node was made tells something only beside the ranges that were open then.
  const bool join_nodes = tables.ranges && has_node_events(database);
  GraphNodes nodes;
  read_gpu_work(database, tables, strings, places, join_nodes ? &nodes : nullptr, trace);
  read_api(database, tables, strings, places, trace);
  trace.has_range_data = present(database, kRanges, trace.stats);
  close_capture(trace);
  if (tables.ranges && trace.has_range_data) read_ranges(database, strings, places, trace);
  if (join_nodes) link_graph_nodes(database, nodes, places, trace);
  assign_lone_process(trace);
  if (tables.kernels && tables.mem_ops && tables.api) note_clocks(read_waits(database, places, trace), trace);
  read_place_names(database, strings, places, trace);
  note_strings(strings, trace.stats);
  trace.duration_ns = std::max(trace.duration_ns, trace.last_range_event_ns.value_or(0));
  return trace;
}

std::map<std::string, std::string> read_nsys_machine(const std::filesystem::path& file) {
  constexpr std::array kTold = {"NvDriverVersion", "CpuDescription",         "CpuCores",         "CpuArchitecture",
                                "OsDescription",   "SoftwareReleaseVersion", "CudaDriverVersion"};
  std::map<std::string, std::string> machine;
  try {
    const NsysDatabase database(file);
    if (!database.has_columns("TARGET_INFO_SYSTEM_ENV", {"name", "value"})) return machine;
    NsysRows row = database.select("TARGET_INFO_SYSTEM_ENV", {"name", "value"});
    while (row.next())
      if (std::find(kTold.begin(), kTold.end(), row.text(0)) != kTold.end()) machine[std::string(row.text(0))] = row.text(1);
  } catch (const Error&) {
    machine.clear();
  }
  return machine;
}

struct NsysSums::Reading {
  explicit Reading(const std::filesystem::path& file) : database(file), strings(database, trace.strings), places(trace) {}
  std::vector<RowSpan> spans_of(const char* table) const {
    const RowSpan span = database.rows_of(table);
    return database.split(table, span, parts_for(span.count));
  }

  Trace trace;
  NsysDatabase database;
  NsysStrings strings;
  NsysPlaces places;
  bool whose = true;  // the export says whose the GPU work is
  std::vector<RowSpan> calls, kernels;
};

NsysSums::NsysSums(const std::filesystem::path& file, const NsysTables& tables) : reading_(new Reading(file)) {
  auto& [trace, database, strings, places, whose, calls, kernels] = *reading_;
  check_it_is_an_export(database);
  trace.has_kernel_data = present(database, kKernels, trace.stats);
  trace.has_api_data = present(database, kApi, trace.stats);
  trace.has_range_data = present(database, kRanges, trace.stats);
  whose = !trace.has_kernel_data || database.has_column(kKernels, "globalPid");
  if (trace.has_api_data) calls = reading_->spans_of(kApi);
  if (trace.has_kernel_data) kernels = reading_->spans_of(kKernels);
  if (tables.mem_ops) read_mem_ops(database, strings, places, nullptr, trace);
  if (tables.ranges && trace.has_range_data) read_ranges(database, strings, places, trace);
}

NsysSums::~NsysSums() = default;
Trace& NsysSums::trace() { return reading_->trace; }
std::size_t NsysSums::call_parts() const { return reading_->calls.size(); }
std::size_t NsysSums::kernel_parts() const { return reading_->kernels.size(); }

std::vector<LaunchedRow> NsysSums::mem_ops() const {
  std::vector<LaunchedRow> rows;
  for (const MemOp& op : reading_->trace.mem_ops)
    rows.push_back({op.start_ns, op.end_ns, {}, reading_->whose ? reading_->trace.queues[op.queue].process : 0, op.api});
  return rows;
}

void NsysSums::read_calls(const TakeCalls& take) {
  auto& [trace, database, strings, places, whose, calls, kernels] = *reading_;
  sum_api_calls(database, calls, take, whose, strings, places, trace);
}

std::vector<ApiStat> NsysSums::read_kernels(const TakeWork& take) {
  auto& [trace, database, strings, places, whose, calls, kernels] = *reading_;
  return sum_kernels(database, kernels, take, whose, strings, places, trace);
}

void NsysSums::finish() {
  auto& [trace, database, strings, places, whose, calls, kernels] = *reading_;
  read_place_names(database, strings, places, trace);
  note_strings(strings, trace.stats);
}

extern const Format kNsysFormat = {.name = "nsys",
                                   .help =
                                       "export of nsys: SQLite, or a folder of Parquet or Arrow files; or a .nsys-rep (needs nsys); "
                                       "several: one of each rank of a run",
                                   .known_as = "an nsys SQLite or .nsys-rep",
                                   .gives = Gives::kNsysExport,
                                   .by_rank = true,
                                   .is_own = is_nsys_export,
                                   .is_own_folder = is_export_folder,
                                   .read = [](const Files& files) -> Reading { return read_nsys_sqlite(files[0]); },
                                   .report_extensions = " .nsys-rep .qdrep "};  // .qdrep: before 2021

}  // namespace nl::parsers
