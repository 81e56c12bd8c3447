#include "exporters/nsys_sqlite/nsys_sqlite.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exporters/nsys_sqlite/enums.h"
#include "exporters/nsys_sqlite/sqlite_table.h"
#include "model/metric_series.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

constexpr std::int64_t kMachine = std::int64_t{1} << 48;  // hardware 0, virtual machine 1, as nsys numbers the only one
constexpr std::int64_t kPriority = 20;                    // of a thread's name; nsys gives all of them this one

// The columns of a table of work on a GPU.
std::string on_gpu(const std::string& more) {
  return "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, "
         "streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, " +
         more;
}

using Number = SqliteNumber;

// Samples in nsys' tables for its own, GPU_METRICS and TARGET_INFO_GPU_METRICS. As there, the last byte of a typeId is
// the GPU. Unlike there, the names are ncu's, counters are rates, and percentages keep their fraction, which SQLite's
// INTEGER columns take: the mean of many small values is right.
void write_gpu_metrics(SqliteFile& file, const std::vector<MetricSeries>& all) {
  SqliteTable info(
      file, "TARGET_INFO_GPU_METRICS",
      "typeId INTEGER NOT NULL, sourceId INTEGER NOT NULL, typeName TEXT NOT NULL, metricId INTEGER NOT NULL, metricName TEXT NOT NULL");
  SqliteTable table(file, "GPU_METRICS", "timestamp INTEGER, typeId INTEGER NOT NULL, metricId INTEGER NOT NULL, value INTEGER NOT NULL");
  std::map<std::string, std::int64_t> numbers;
  std::set<std::pair<std::int64_t, std::int64_t>> named;
  for (const MetricSeries& series : all) {
    const std::int64_t type = series.device & 0xFF;
    std::vector<std::pair<std::int64_t, SampledMetric>> metrics;
    for (const std::string& metric : series.metrics) {
      const SampledMetric shown(metric);
      const std::int64_t id = numbers.try_emplace(shown.name, static_cast<std::int64_t>(numbers.size())).first->second;
      if (named.emplace(type, id).second)
        info.add(type, std::int64_t{0}, "GPU Metrics [" + std::to_string(series.device) + "]", id, shown.name);
      metrics.emplace_back(id, shown);
    }
    for (std::size_t row = 0; row < series.start_ns.size(); ++row)
      for (std::size_t i = 0; i < metrics.size(); ++i)
        if (const auto value = metrics[i].second.value(series, row, i)) table.add(series.start_ns[row], type, metrics[i].first, *value);
  }
}

class NsysExport {
 public:
  NsysExport(const Trace& trace, SqliteFile& file) : trace_(trace), file_(file), string_ids_(trace.strings.size(), -1) {}

  void write() {
    // The order of equal rows in a report is that of the names' ids.
    for (const ApiStat& stat : trace_.api_stats) id_of(stat.name);
    write_facts();
    write_places();
    write_enums(file_);
    if (trace_.has_kernel_data) write_kernels();
    if (trace_.has_mem_data) write_mem_ops();
    if (!trace_.graph_runs.empty()) write_graph_runs();
    if (!trace_.graph_nodes.empty()) write_graph_nodes();
    if (trace_.has_api_data) write_calls();
    if (!trace_.syncs.empty()) write_syncs();
    if (trace_.has_range_data) write_ranges();
    if (!trace_.metric_series.empty()) write_gpu_metrics(file_, trace_.metric_series);
    write_strings();
  }

 private:
  std::int64_t id_of(StringId string) {
    std::int64_t& id = string_ids_[string.value];
    if (id < 0) id = next_string_++;
    return id;
  }
  Number process_id(std::uint32_t process) const {
    if (process >= trace_.processes.size()) return {};
    return kMachine | std::int64_t{trace_.processes[process].pid & 0xFFFFFF} << 24;
  }
  Number thread_id(std::uint32_t thread) const {
    if (thread >= trace_.threads.size()) return {};
    Number process = process_id(trace_.threads[thread].process);
    if (!process) return {};
    return *process | (trace_.threads[thread].tid & 0xFFFFFF);
  }
  Number correlation_of(std::uint32_t api) const {
    if (api >= trace_.api_calls.size()) return {};
    return trace_.api_calls[api].correlation;
  }
  // Nodes are numbered from 1; 0 is one of which it is not known where it was made.
  static Number node_of(bool in_graph, const std::vector<std::uint32_t>& nodes, std::size_t row) {
    if (!in_graph) return {};
    return row < nodes.size() && nodes[row] != kNone ? std::int64_t{nodes[row]} + 1 : std::int64_t{0};
  }
  const Queue& queue_of(std::uint32_t queue) const {
    static const Queue none;
    return queue < trace_.queues.size() ? trace_.queues[queue] : none;
  }

  void write_facts();
  void write_places();
  void write_devices();
  void write_kernels();
  void write_mem_ops();
  void write_copies();
  void write_sets();
  void write_graph_runs();
  void write_graph_nodes();
  void write_calls();
  void write_syncs();
  void write_ranges();
  void write_domains(SqliteTable& table);
  void write_strings();
  std::int64_t domain_id(std::uint32_t thread, StringId domain);

  const Trace& trace_;
  SqliteFile& file_;
  std::vector<std::int64_t> string_ids_;  // by StringId; -1: not referred to
  std::int64_t next_string_ = 1;
  std::map<std::pair<std::uint32_t, StringId>, std::int64_t> domains_;  // (process, name)
};

std::string utc_text(std::int64_t epoch_ns) {
  std::time_t seconds = epoch_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return text;
}

void NsysExport::write_facts() {
  SqliteTable facts(file_, "META_DATA_EXPORT", "name TEXT NOT NULL, value TEXT");
  facts.add("EXPORT_PRODUCT_NAME", "nl-stage");
  facts.add("EXPORT_PRODUCT_VERSION", trace_.stats.tool_version);
  facts.add("EXPORT_SCHEMA_VERSION", "3.20.3");
  facts.add("EXPORT_SCHEMA_VERSION_MAJOR", "3");
  facts.add("EXPORT_SCHEMA_VERSION_MINOR", "20");
  facts.add("EXPORT_SCHEMA_VERSION_MICRO", "3");
  facts.add("EXPORT_PARAM_LAZY", "true");
  SqliteTable capture(file_, "META_DATA_CAPTURE", "name TEXT NOT NULL, value TEXT");
  capture.add("CAPTURE_SOURCE", key_of(trace_.stats.source_format));
  if (trace_.utc_start_ns) {
    SqliteTable start(file_, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT");
    std::string text = utc_text(*trace_.utc_start_ns);
    start.add(*trace_.utc_start_ns, text, text);
  }
  SqliteTable details(file_, "ANALYSIS_DETAILS",
                      "globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, startTime INTEGER NOT NULL, stopTime INTEGER NOT NULL");
  Ns duration_ns = trace_.session_end_ns.value_or(trace_.duration_ns);
  details.add(kMachine, duration_ns, std::int64_t{0}, duration_ns);
  SqliteTable notes(file_, "DIAGNOSTIC_EVENT",
                    "timestamp INTEGER NOT NULL, timestampType INTEGER NOT NULL, source INTEGER NOT NULL, severity INTEGER NOT NULL, text "
                    "TEXT NOT NULL, globalPid INTEGER");
  for (const Remark& note : trace_.stats.notes)
    notes.add(std::int64_t{0}, std::int64_t{1}, std::int64_t{1}, std::int64_t{1}, line_of(note), nullptr);
}

void NsysExport::write_places() {
  SqliteTable processes(file_, "PROCESSES", "globalPid INTEGER, pid INTEGER, name TEXT");
  for (std::uint32_t i = 0; i < trace_.processes.size(); ++i)
    processes.add(process_id(i), std::int64_t{trace_.processes[i].pid}, trace_.processes[i].name);
  SqliteTable names(file_, "ThreadNames", "nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER");
  SqliteTable strings(file_, "StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL");
  for (std::uint32_t i = 0; i < trace_.threads.size(); ++i) {
    if (trace_.threads[i].name.empty()) continue;
    // Threads' names are not in the pool of the trace.
    strings.add(next_string_, trace_.threads[i].name);
    names.add(next_string_++, kPriority, thread_id(i));
  }
  if (!trace_.devices.empty()) write_devices();
}

void NsysExport::write_devices() {
  SqliteTable gpus(
      file_, "TARGET_INFO_GPU",
      "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, isDiscrete INTEGER, l2CacheSize INTEGER, totalMemory "
      "INTEGER, memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, pwGpuId INTEGER, uuid TEXT, luid INTEGER, chipName TEXT, "
      "cuDevice INTEGER, computeMajor INTEGER, computeMinor INTEGER, smMajor INTEGER, smMinor INTEGER");
  auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  for (const Device& d : trace_.devices)
    gpus.add(kMachine, std::int64_t{d.id}, d.name, d.bus, std::int64_t{1}, number(d.l2_bytes), number(d.memory_bytes),
             number(d.bandwidth_bytes_per_s), number(d.clock_hz), number(d.sm_count), nullptr, d.uuid, nullptr, d.chip, std::int64_t{d.id},
             number(d.compute_major), number(d.compute_minor), number(d.compute_major), number(d.compute_minor));
  SqliteTable mapping(file_, "TARGET_INFO_CUDA_DEVICE", "gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL");
  std::set<std::pair<std::uint32_t, std::int32_t>> written;
  for (const Queue& queue : trace_.queues)
    if (queue.process < trace_.processes.size() && written.emplace(queue.process, queue.device).second)
      mapping.add(std::int64_t{queue.device}, std::int64_t{queue.device}, std::int64_t{trace_.processes[queue.process].pid});
}

void NsysExport::write_kernels() {
  SqliteTable table(
      file_, "CUPTI_ACTIVITY_KIND_KERNEL",
      on_gpu(
          "demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, "
          "registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT "
          "NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT "
          "NULL, localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted "
          "INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER"));
  constexpr std::int64_t kZero = 0;
  for (std::size_t i = 0; i < trace_.kernels.size(); ++i) {
    const Kernel& k = trace_.kernels[i];
    const KernelShape& s = trace_.shapes[k.shape];
    const Queue& q = queue_of(static_cast<std::uint32_t>(k.queue));
    Number mangled = s.mangled_name == StringId() ? Number() : Number(id_of(s.mangled_name));
    table.add(k.start_ns, k.end_ns(), std::int64_t{q.device}, std::int64_t{q.context}, nullptr, std::int64_t{q.stream},
              correlation_of(k.api), process_id(q.process), id_of(s.name), id_of(s.short_name), mangled, nullptr, nullptr,
              std::int64_t{s.registers_per_thread}, std::int64_t{s.grid.x}, std::int64_t{s.grid.y}, std::int64_t{s.grid.z},
              std::int64_t{s.block.x}, std::int64_t{s.block.y}, std::int64_t{s.block.z}, std::int64_t{s.static_shared_bytes},
              std::int64_t{s.dynamic_shared_bytes}, kZero, kZero, kZero, nullptr, node_of(k.in_graph, trace_.kernel_nodes, i), nullptr);
  }
}

void NsysExport::write_mem_ops() {
  auto sets = static_cast<std::size_t>(
      std::count_if(trace_.mem_ops.begin(), trace_.mem_ops.end(), [](const MemOp& op) { return op.kind == MemOpKind::kMemset; }));
  // An empty table says that copies were looked for.
  if (sets < trace_.mem_ops.size() || sets == 0) write_copies();
  if (sets > 0) write_sets();
}

void NsysExport::write_copies() {
  SqliteTable table(file_, "CUPTI_ACTIVITY_KIND_MEMCPY",
                    on_gpu("bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, "
                           "srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, "
                           "graphNodeId INTEGER, virtualAddress INTEGER, copyCount INTEGER"));
  for (std::size_t i = 0; i < trace_.mem_ops.size(); ++i) {
    const MemOp& op = trace_.mem_ops[i];
    if (op.kind == MemOpKind::kMemset) continue;
    const Queue& q = queue_of(op.queue);
    table.add(op.start_ns, op.end_ns, std::int64_t{q.device}, std::int64_t{q.context}, nullptr, std::int64_t{q.stream},
              correlation_of(op.api), process_id(q.process), static_cast<std::int64_t>(op.bytes),
              copy_kind_number(trace_.strings[StringId{op.label}]), nullptr, memory_kind_number(op.src_kind),
              memory_kind_number(op.dst_kind), nullptr, nullptr, nullptr, nullptr, nullptr, node_of(op.in_graph, trace_.mem_op_nodes, i),
              nullptr, nullptr);
  }
}

void NsysExport::write_sets() {
  SqliteTable table(file_, "CUPTI_ACTIVITY_KIND_MEMSET",
                    on_gpu("value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER"));
  for (std::size_t i = 0; i < trace_.mem_ops.size(); ++i) {
    const MemOp& op = trace_.mem_ops[i];
    if (op.kind != MemOpKind::kMemset) continue;
    const Queue& q = queue_of(op.queue);
    table.add(op.start_ns, op.end_ns, std::int64_t{q.device}, std::int64_t{q.context}, nullptr, std::int64_t{q.stream},
              correlation_of(op.api), process_id(q.process), std::int64_t{0}, static_cast<std::int64_t>(op.bytes),
              node_of(op.in_graph, trace_.mem_op_nodes, i), memory_kind_number(op.dst_kind));
  }
}

void NsysExport::write_graph_runs() {
  SqliteTable table(file_, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", on_gpu("graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL"));
  for (const GraphRun& run : trace_.graph_runs) {
    const Queue& q = queue_of(run.queue);
    table.add(run.start_ns, run.end_ns, std::int64_t{q.device}, std::int64_t{q.context}, nullptr, std::int64_t{q.stream},
              correlation_of(run.api), process_id(q.process), std::int64_t{0}, std::int64_t{0});
  }
}

// A node is written as made where the one that it was cloned from was: there are no clones here.
void NsysExport::write_graph_nodes() {
  SqliteTable table(file_, "CUDA_GRAPH_NODE_EVENTS",
                    "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT "
                    "NULL, graphNodeId INTEGER NOT NULL, originalGraphNodeId INTEGER");
  for (std::uint32_t i = 0; i < trace_.graph_nodes.size(); ++i) {
    const GraphNode& node = trace_.graph_nodes[i];
    table.add(node.made_ns, node.made_ns, kGraphNodeCreation, thread_id(node.thread), id_of(StringId()), std::int64_t{i} + 1, nullptr);
  }
}

void NsysExport::write_calls() {
  SqliteTable table(file_, "CUPTI_ACTIVITY_KIND_RUNTIME",
                    "start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, "
                    "nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER");
  // By time, all threads together, as nsys writes them.
  std::vector<std::uint32_t> order(trace_.api_calls.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return trace_.api_calls[a].start_ns < trace_.api_calls[b].start_ns; });
  for (std::uint32_t i : order) {
    const ApiCall& call = trace_.api_calls[i];
    Number correlation = call.correlation == kNone ? Number() : Number(call.correlation);
    table.add(call.start_ns, call.end_ns(), event_class(trace_.strings[call.name]), thread_id(static_cast<std::uint32_t>(call.thread)),
              correlation, id_of(call.name), std::int64_t{0}, nullptr);
  }
}

void NsysExport::write_syncs() {
  SqliteTable table(file_, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                    on_gpu("deprecatedSyncType INTEGER, syncType INTEGER NOT NULL, eventId INTEGER NOT NULL, eventSyncId INTEGER"));
  for (const SyncWait& wait : trace_.syncs)
    table.add(wait.start_ns, wait.end_ns, std::int64_t{wait.where.device}, std::int64_t{wait.where.context}, nullptr,
              std::int64_t{wait.where.stream}, std::int64_t{wait.correlation}, process_id(wait.where.process), nullptr,
              static_cast<std::int64_t>(wait.kind), std::int64_t{wait.event}, nullptr);
}

// Domains are numbered in each process; 0 is the default one, which has no row of its own.
std::int64_t NsysExport::domain_id(std::uint32_t thread, StringId domain) {
  if (trace_.strings[domain].empty()) return 0;
  std::uint32_t process = thread < trace_.threads.size() ? trace_.threads[thread].process : kNone;
  return domains_.try_emplace({process, domain}, static_cast<std::int64_t>(domains_.size()) + 1).first->second;
}

void NsysExport::write_domains(SqliteTable& table) {
  struct First {
    Ns time_ns;
    std::uint32_t thread;
    StringId name;
  };
  std::map<std::int64_t, First> first;
  auto see = [&](Ns time_ns, std::uint32_t thread, StringId domain) {
    std::int64_t id = domain_id(thread, domain);
    if (id == 0) return;
    auto [found, added] = first.try_emplace(id, First{time_ns, thread, domain});
    if (!added && time_ns < found->second.time_ns) found->second = {time_ns, thread, domain};
  };
  for (const Range& range : trace_.ranges) see(range.start_ns, range.thread, range.domain);
  for (const Mark& mark : trace_.marks) see(mark.time_ns, mark.thread, mark.domain);
  for (const auto& [id, at] : first)
    table.add(at.time_ns, nullptr, kNvtxDomainCreate, nullptr, trace_.strings[at.name], thread_id(at.thread), nullptr, id, nullptr);
}

void NsysExport::write_ranges() {
  file_.execute(
      "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, "
      "color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, "
      "int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, "
      "jsonText TEXT, binaryData TEXT)");
  SqliteTable table(file_, "NVTX_EVENTS", "start, end, eventType, rangeId, text, globalTid, endGlobalTid, domainId, int64Value",
                    SqliteTable::kIsThere);
  write_domains(table);
  auto text_of = [&](StringId name) -> std::optional<std::string_view> {
    if (name == StringId()) return std::nullopt;
    return trace_.strings[name];
  };
  std::int64_t next_range = 1;
  for (const Range& range : trace_.ranges) {
    bool start_end = range.style == RangeStyle::kStartEnd;
    table.add(range.start_ns, range.open ? Number() : Number(range.end_ns), start_end ? kNvtxStartEnd : kNvtxPushPop,
              start_end ? Number(next_range++) : Number(), text_of(range.name), thread_id(range.thread),
              range.end_thread != kNone ? thread_id(range.end_thread) : Number(), domain_id(range.thread, range.domain), range.payload);
  }
  for (const Mark& mark : trace_.marks)
    table.add(mark.time_ns, nullptr, kNvtxMark, nullptr, text_of(mark.name), thread_id(mark.thread), nullptr,
              domain_id(mark.thread, mark.domain), nullptr);
}

void NsysExport::write_strings() {
  SqliteTable strings(file_, "StringIds", "id, value", SqliteTable::kIsThere);
  for (std::uint32_t i = 0; i < string_ids_.size(); ++i)
    if (string_ids_[i] >= 0) strings.add(string_ids_[i], trace_.strings[StringId{i}]);
}

}  // namespace

void write_nsys_sqlite(const Trace& trace, const std::filesystem::path& path) {
  SqliteFile file(path.string());
  NsysExport(trace, file).write();
  file.finish();
}

}  // namespace nl::exporters
