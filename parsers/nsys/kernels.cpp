#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include "model/error.h"
#include "parsers/nsys/tables.h"

namespace nl::parsers {
namespace {

constexpr const char* kKernelTable = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr std::size_t kMaxQueues = 1 << 19;  // what Kernel::queue can tell apart

// In the order of the table's columns, which is the order in which SQLite unpacks a row.
namespace kernel_column {
enum Column {
  kStart,
  kEnd,
  kDevice,
  kContext,
  kStream,
  kCorrelation,
  kGlobalPid,
  kName,
  kShortName,
  kMangledName,
  kRegisters,
  kGridX,
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kStaticShared,
  kDynamicShared,
  kGraphNode,
};
}

NsysRows select_kernels(const NsysDatabase& database, const RowSpan& span) {
  return database.select(kKernelTable,
                         {"start",
                          "end",
                          "deviceId",
                          "contextId",
                          "streamId",
                          "correlationId",
                          "globalPid",
                          "demangledName",
                          "shortName",
                          "mangledName",
                          "registersPerThread",
                          "gridX",
                          "gridY",
                          "gridZ",
                          "blockX",
                          "blockY",
                          "blockZ",
                          "staticSharedMemory",
                          "dynamicSharedMemory",
                          "graphNodeId"},
                         span);
}

// The shapes of rows by the bytes in which they are stored: launches of one kernel have them alike, and taking fourteen columns apart is spared.
class StoredShapes {
 public:
  template <class Read>
  std::uint32_t of(const NsysRows& row, Read read) {
    const std::string_view stored = row.together();
    if (stored.empty() || stored.size() > kMostBytes) return read();
    Known& known = known_[place_of(row.layout(), stored)];
    if (known.layout == row.layout() && known.bytes == stored.size() && std::memcmp(known.stored.data(), stored.data(), stored.size()) == 0)
      return known.shape;
    known.shape = read();
    known.layout = row.layout();
    known.bytes = static_cast<std::uint32_t>(stored.size());
    std::memcpy(known.stored.data(), stored.data(), stored.size());
    return known.shape;
  }

 private:
  static constexpr std::size_t kMostBytes = 64, kPlaces = 1024;
  struct Known {
    std::uint32_t layout = 0, bytes = 0, shape = 0;
    std::array<char, kMostBytes> stored{};
  };
  static std::size_t place_of(std::uint32_t layout, std::string_view stored) {
    constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15ULL;
    std::uint64_t hash = layout;
    for (; !stored.empty(); stored.remove_prefix(std::min(stored.size(), sizeof hash))) {
      std::uint64_t word = 0;
      std::memcpy(&word, stored.data(), std::min(stored.size(), sizeof word));
      hash = (hash ^ word) * kMix;
      hash ^= hash >> 32;
    }
    return hash * kMix >> 54;
  }
  static_assert(kPlaces == std::size_t{1} << (64 - 54));

  std::vector<Known> known_ = std::vector<Known>(kPlaces);
};

struct KernelPart {
  Distinct<RawShape> shapes;
  StoredShapes stored;
  Distinct<RawQueue> queues;
  RowNodes nodes;
  std::uint64_t rows = 0, kept = 0, no_time = 0, bad_time = 0;
};

std::uint32_t u32(const NsysRows& row, int column) { return static_cast<std::uint32_t>(row.integer(column)); }

RawShape shape_of(const NsysRows& row) {
  auto string_id = [&](int column) { return row.is_null(column) ? -1 : row.integer(column); };
  return {string_id(kernel_column::kName),
          string_id(kernel_column::kShortName),
          string_id(kernel_column::kMangledName),
          {u32(row, kernel_column::kGridX), u32(row, kernel_column::kGridY), u32(row, kernel_column::kGridZ)},
          {u32(row, kernel_column::kBlockX), u32(row, kernel_column::kBlockY), u32(row, kernel_column::kBlockZ)},
          u32(row, kernel_column::kRegisters),
          u32(row, kernel_column::kStaticShared),
          u32(row, kernel_column::kDynamicShared)};
}

// start end deviceId contextId greenContextId streamId correlationId globalPid demangledName shortName
// 604000018 604001042 0 1 0 13 127 281485412139008 739 740 …
void read_part(NsysRows& row, KernelPart& part, bool with_nodes, Kernel* out) {
  row.keep_together(kernel_column::kName, kernel_column::kDynamicShared);
  while (row.next()) {
    ++part.rows;
    if (row.is_null(kernel_column::kStart) || row.is_null(kernel_column::kEnd)) {
      ++part.no_time;
      continue;
    }
    Ns start = row.integer(kernel_column::kStart);
    Ns end = row.integer(kernel_column::kEnd);
    if (!packable(start, end)) {
      ++part.bad_time;
      continue;
    }
    const std::int64_t process = row.is_null(kernel_column::kGlobalPid) ? kNoProcess : row.integer(kernel_column::kGlobalPid);
    if (with_nodes && !row.is_null(kernel_column::kGraphNode)) part.nodes.add(part.kept, {process, row.integer(kernel_column::kGraphNode)});
    Kernel& kernel = out[part.kept++];
    kernel.start_ns = start;
    kernel.duration_ns = static_cast<std::uint64_t>(end - start);
    kernel.shape = part.stored.of(row, [&] { return part.shapes.index_of(shape_of(row)); });
    kernel.queue = part.queues.index_of({process, static_cast<std::int32_t>(row.integer(kernel_column::kDevice)),
                                         u32(row, kernel_column::kContext), u32(row, kernel_column::kStream)});
    kernel.in_graph = !row.is_null(kernel_column::kGraphNode);
    kernel.api = row.is_null(kernel_column::kCorrelation) ? kNone : u32(row, kernel_column::kCorrelation);
  }
}

KernelShape resolved(const RawShape& raw, NsysStrings& strings) {
  auto name = [&](std::int64_t id) { return id < 0 ? StringId() : strings.by_id(id); };
  return {name(raw.name), name(raw.short_name), name(raw.mangled_name), raw.grid,
          raw.block,      raw.registers,        raw.static_shared,      raw.dynamic_shared};
}

// What is kept of one thread's share where only sums are wanted.
struct SummedKernels {
  // Only times and names.
  template <class NameOf>
  void read_times(const NsysDatabase& database, const RowSpan& span, NameOf name_of) {
    NsysRows table = database.select(kKernelTable, {"start", "end", "demangledName"}, span);
    sqlite_pages::NumberRows read(kWhose);
    while (table.next(read))
      for (std::size_t i = 0; i < read.size(); ++i)
        if (const auto name = name_in(read, i, name_of)) by_name[*name].durations.add(read.column(kFinish)[i] - read.column(kBegin)[i]);
  }

  template <class NameOf, class ProcessOf, class Take>
  void read(const NsysDatabase& database, const RowSpan& span, NameOf name_of, ProcessOf process_of, Take take) {
    NsysRows table = database.select(kKernelTable, {"start", "end", "demangledName", "globalPid", "correlationId"}, span);
    sqlite_pages::NumberRows read(kColumns);
    Distinct<std::int64_t> pids;
    std::vector<std::uint32_t> processes;
    std::vector<LaunchedRow> rows;
    while (table.next(read)) {
      rows.clear();
      for (std::size_t i = 0; i < read.size(); ++i) {
        const auto name = name_in(read, i, name_of);
        if (!name) continue;
        const std::int64_t pid = read.nulls(i) & 1 << kWhose ? kNoProcess : read.column(kWhose)[i];
        const std::uint32_t process = pids.index_of(pid);
        if (process == processes.size()) processes.push_back(process_of(pid));
        const bool called = !(read.nulls(i) & 1 << kCall);
        rows.push_back({read.column(kBegin)[i], read.column(kFinish)[i], by_name[*name].name, processes[process],
                        called ? static_cast<std::uint32_t>(read.column(kCall)[i]) : kNone});
      }
      take(rows);
    }
  }

  std::vector<ApiStat> by_name;
  KernelPart counts;
  std::uint64_t nameless = 0;

 private:
  enum Column { kBegin, kFinish, kNamed, kWhose, kCall, kColumns };

  // A number in by_name; nothing where the row has no times that can be.
  template <class NameOf>
  std::optional<std::uint32_t> name_in(sqlite_pages::NumberRows& read, std::size_t i, NameOf name_of) {
    ++counts.rows;
    const bool timed = !(read.nulls(i) & (1 << kBegin | 1 << kFinish));
    if (!timed || !packable(read.column(kBegin)[i], read.column(kFinish)[i])) {
      ++(timed ? counts.bad_time : counts.no_time);
      return std::nullopt;
    }
    const std::int64_t id = read.nulls(i) & 1 << kNamed ? -1 : read.column(kNamed)[i];
    const std::uint32_t number = ids_.of(id);
    if (number == by_name.size()) by_name.push_back({name_of(id), {}});
    if (by_name[number].name == StringId()) ++nameless;
    return number;
  }

  IdNumbers ids_;
};

// Gives the kernels of a part the numbers of the whole trace's shapes and queues.
void renumber(const KernelPart& part, Kernel* kernels, Distinct<RawShape>& shapes, NsysPlaces& places) {
  std::vector<std::uint32_t> shape, queue;
  for (const RawShape& raw : part.shapes.values()) shape.push_back(shapes.index_of(raw));
  for (const RawQueue& raw : part.queues.values()) queue.push_back(places.queue(raw));
  if (queue.size() > kMaxQueues || (!queue.empty() && *std::max_element(queue.begin(), queue.end()) >= kMaxQueues))
    throw Error(ErrorKind::kInput, "the capture has more than 524,288 CUDA streams", kKernelTable, "capture a shorter stretch of the run");
  for (std::size_t i = 0; i < part.kept; ++i) {
    kernels[i].shape = shape[kernels[i].shape];
    kernels[i].queue = queue[kernels[i].queue];
  }
}

void count_part(const KernelPart& part, ImportStats& stats) {
  stats.rows_read[kKernelTable] += part.rows;
  if (part.no_time) stats.rows_damaged[{Code::kNoStartOrEnd, {"kernel"}}] += part.no_time;
  if (part.bad_time) stats.rows_damaged[{Code::kTooLong, {"kernel"}}] += part.bad_time;
}

void count_nameless(const Trace& trace, ImportStats& stats) {
  auto nameless = std::count_if(trace.kernels.begin(), trace.kernels.end(),
                                [&](const Kernel& kernel) { return trace.shapes[kernel.shape].name == StringId(); });
  if (nameless > 0) stats.rows_damaged[{Code::kNoName, {"kernel"}}] += static_cast<std::uint64_t>(nameless);
}

}  // namespace

void read_kernels(const NsysDatabase& database, NsysStrings& strings, NsysPlaces& places, GraphNodes* nodes, Trace& trace) {
  RowSpan span = database.rows_of(kKernelTable);
  std::vector<RowSpan> spans = database.split(kKernelTable, span, parts_for(span.count));
  std::vector<KernelPart> parts(spans.size());
  std::vector<std::size_t> offsets{0};
  for (const RowSpan& each : spans) offsets.push_back(offsets.back() + each.count);
  trace.kernels.resize(span.count);
  // Each part writes its own stretch of the one array: no second copy of millions of rows.
  scan_in_parts(database, spans.size(), [&](const NsysDatabase& own, std::size_t i) {
    NsysRows rows = select_kernels(own, spans[i]);
    read_part(rows, parts[i], nodes != nullptr, trace.kernels.data() + offsets[i]);
  });
  Distinct<RawShape> shapes;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Kernel* begin = trace.kernels.data() + offsets[i];
    renumber(parts[i], begin, shapes, places);
    if (kept != offsets[i]) std::move(begin, begin + parts[i].kept, trace.kernels.data() + kept);
    if (nodes != nullptr) nodes->add_kernels(kept, std::move(parts[i].nodes));
    kept += parts[i].kept;
    count_part(parts[i], trace.stats);
  }
  trace.kernels.resize(kept);
  for (const RawShape& raw : shapes.values()) trace.shapes.push_back(resolved(raw, strings));
  count_nameless(trace, trace.stats);
}

std::vector<ApiStat> sum_kernels(const NsysDatabase& database, const std::vector<RowSpan>& spans, const TakeWork& take, bool whose,
                                 NsysStrings& strings, NsysPlaces& places, Trace& trace) {
  std::vector<SummedKernels> parts(spans.size());
  std::mutex mutex;  // of strings and places
  const auto name_of = [&](std::int64_t id) {
    const std::lock_guard lock(mutex);
    return id < 0 ? StringId() : strings.by_id(id);
  };
  const auto process_of = [&](std::int64_t global_pid) {
    const std::lock_guard lock(mutex);
    if (!whose) return std::uint32_t{0};
    return global_pid == kNoProcess ? kNone : places.process(global_pid);
  };
  scan_in_parts(database, spans.size(), [&](const NsysDatabase& own, std::size_t i) {
    const auto take_own = [&](std::span<const LaunchedRow> rows) { take(i, rows); };
    if (take) parts[i].read(own, spans[i], name_of, process_of, take_own);
    else parts[i].read_times(own, spans[i], name_of);
  });
  std::map<StringId, Durations> by_name;
  for (SummedKernels& part : parts) {
    count_part(part.counts, trace.stats);
    if (part.nameless > 0) trace.stats.rows_damaged[{Code::kNoName, {"kernel"}}] += part.nameless;
    for (ApiStat& each : part.by_name) by_name[each.name].append(std::move(each.durations));
  }
  std::vector<ApiStat> all;
  for (auto& [name, durations] : by_name)
    if (durations.count() > 0) all.push_back({name, std::move(durations)});
  return all;
}

}  // namespace nl::parsers
