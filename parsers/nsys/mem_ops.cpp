#include <unordered_map>

#include <fmt/core.h>

#include "parsers/cuda_names.h"
#include "parsers/nsys/tables.h"

namespace nl::parsers {
namespace {

constexpr const char* kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* kSets = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr const char* kOperations = "ENUM_CUDA_MEMCPY_OPER";

// The first eight columns of every select here.
namespace copy_column {
enum Column {
  kStart,
  kEnd,
  kDevice,
  kContext,
  kStream,
  kCorrelation,
  kGlobalPid,
  kGraphNode,
  kBytes,
  kKind,
  kSrc,
  kDst,
  kMemory = kSrc  // of a set, which has its value before
};
}

using Labels = std::unordered_map<std::int64_t, StringId>;

// nsys counts 0 pageable, 1 pinned, 2 device … 7 unknown; CUPTI, and we, 0 unknown, 1 pageable …
std::uint8_t memory_kind(const NsysRows& row, int column) {
  std::int64_t kind = row.integer(column);
  return !row.is_null(column) && kind >= 0 && kind < 7 ? static_cast<std::uint8_t>(kind + 1) : 0;
}

// 1|CUDA_MEMCPY_KIND_HTOD|Host-to-Device
Labels copy_labels(const NsysDatabase& database, NsysStrings& strings) {
  Labels labels;
  if (database.has_column(kOperations, "label")) {
    NsysRows rows = database.select(kOperations, {"id", "label"});
    while (rows.next()) labels[rows.integer(0)] = strings.intern(fmt::format("[CUDA memcpy {}]", rows.text(1)));
    return labels;
  }
  // Exports without the enumeration: CUPTI's own numbers.
  for (std::int64_t kind = 0; kind < 14; ++kind) labels[kind] = strings.intern(copy_label(kind));
  return labels;
}

bool usable_times(const NsysRows& row, const std::string& what, ImportStats& stats) {
  if (row.is_null(copy_column::kStart) || row.is_null(copy_column::kEnd)) {
    ++stats.rows_damaged[{Code::kNoStartOrEnd, {what}}];
    return false;
  }
  if (row.integer(copy_column::kEnd) < row.integer(copy_column::kStart)) {
    ++stats.rows_damaged[{Code::kEndsBeforeStart, {what}}];
    return false;
  }
  return true;
}

std::int64_t global_pid_of(const NsysRows& row) {
  return row.is_null(copy_column::kGlobalPid) ? kNoProcess : row.integer(copy_column::kGlobalPid);
}

std::uint32_t queue_of(const NsysRows& row, NsysPlaces& places) {
  return places.queue({global_pid_of(row), static_cast<std::int32_t>(row.integer(copy_column::kDevice)),
                       static_cast<std::uint32_t>(row.integer(copy_column::kContext)),
                       static_cast<std::uint32_t>(row.integer(copy_column::kStream))});
}

std::uint32_t correlation_of(const NsysRows& row) {
  return row.is_null(copy_column::kCorrelation) ? kNone : static_cast<std::uint32_t>(row.integer(copy_column::kCorrelation));
}

// Beside the operation goes the node that it ran from.
void keep(const MemOp& op, const NsysRows& row, RowNodes& nodes, Trace& trace) {
  if (op.in_graph) nodes.add(trace.mem_ops.size(), {global_pid_of(row), row.integer(copy_column::kGraphNode)});
  trace.mem_ops.push_back(op);
}

MemOp common_part(const NsysRows& row, NsysPlaces& places) {
  MemOp op;
  op.start_ns = row.integer(copy_column::kStart);
  op.end_ns = row.integer(copy_column::kEnd);
  op.bytes = static_cast<std::uint64_t>(row.integer(copy_column::kBytes));
  op.queue = queue_of(row, places);
  op.api = correlation_of(row);
  op.in_graph = !row.is_null(copy_column::kGraphNode);
  return op;
}

void read_copies(const NsysDatabase& database, NsysStrings& strings, NsysPlaces& places, RowNodes& nodes, Trace& trace) {
  Labels labels = copy_labels(database, strings);
  NsysRows row = database.select(kCopies, {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "graphNodeId",
                                           "bytes", "copyKind", "srcKind", "dstKind"});
  auto& read = trace.stats.rows_read[kCopies];
  while (row.next()) {
    ++read;
    if (!usable_times(row, "copy", trace.stats)) continue;
    MemOp op = common_part(row, places);
    op.kind = copy_kind(row.integer(copy_column::kKind));
    if (auto label = labels.find(row.integer(copy_column::kKind)); label != labels.end()) op.label = label->second.value;
    else ++trace.stats.rows_damaged[{Code::kUnknownCopy}];
    op.src_kind = memory_kind(row, copy_column::kSrc);
    op.dst_kind = memory_kind(row, copy_column::kDst);
    keep(op, row, nodes, trace);
  }
}

void read_sets(const NsysDatabase& database, NsysStrings& strings, NsysPlaces& places, RowNodes& nodes, Trace& trace) {
  NsysRows row = database.select(kSets, {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "graphNodeId",
                                         "bytes", "value", "memKind"});
  std::uint32_t label = strings.intern("[CUDA memset]").value;
  auto& read = trace.stats.rows_read[kSets];
  while (row.next()) {
    ++read;
    if (!usable_times(row, "set", trace.stats)) continue;
    MemOp op = common_part(row, places);
    op.kind = MemOpKind::kMemset;
    op.label = label;
    op.dst_kind = memory_kind(row, copy_column::kMemory);
    keep(op, row, nodes, trace);
  }
}

}  // namespace

void read_mem_ops(const NsysDatabase& database, NsysStrings& strings, NsysPlaces& places, GraphNodes* nodes, Trace& trace) {
  trace.has_mem_data = database.has_table(kCopies) || database.has_table(kSets);
  std::uint64_t rows = 0;
  for (const char* table : {kCopies, kSets}) {
    if (database.has_table(table)) rows += database.rows_of(table).count;
    else trace.stats.tables_absent.push_back(table);
  }
  trace.mem_ops.reserve(rows);
  RowNodes ran_from;
  if (database.has_table(kCopies)) read_copies(database, strings, places, ran_from, trace);
  if (database.has_table(kSets)) read_sets(database, strings, places, ran_from, trace);
  if (nodes != nullptr) nodes->add_mem_ops(0, std::move(ran_from));
}

void read_graph_runs(const NsysDatabase& database, NsysPlaces& places, Trace& trace) {
  if (!database.has_table(kGraphs)) return;
  NsysRows row = database.select(kGraphs, {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"});
  auto& read = trace.stats.rows_read[kGraphs];
  while (row.next()) {
    ++read;
    if (!usable_times(row, "graph run", trace.stats)) continue;
    trace.graph_runs.push_back(
        {row.integer(copy_column::kStart), row.integer(copy_column::kEnd), queue_of(row, places), correlation_of(row)});
  }
}

}  // namespace nl::parsers
