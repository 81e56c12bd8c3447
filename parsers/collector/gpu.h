#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/trace_format.h"
#include "model/trace.h"
#include "parsers/nsys/graph_nodes.h"

// The GPU half of a collector's file: packed blocks taken apart. Numbers refer to the vectors here until merge.cpp and
// counters.cpp give them those of a trace or a report; times are those of the file's clock.
namespace nl::parsers::collector_trace {

using Damage = DamagedRows;

struct MetricSet {
  trace_format::MetricUse use = trace_format::MetricUse::kSamples;
  std::uint32_t passes = 1;
  MetricSeries series;  // the names, and the samples where it is for these
};

template <typename Record>
struct Counted {
  std::uint32_t set = kNone;  // index into sets
  Record record{};
  std::vector<double> values;
};
using StageCount = Counted<trace_format::StageCounters>;
using KernelCount = Counted<trace_format::KernelCounters>;

// Counters, samples and stalls.
struct GpuMetrics {
  std::vector<MetricSet> sets;
  std::unordered_map<std::uint32_t, std::uint32_t> set_numbers;  // the collector's → index
  std::vector<StageCount> stages;
  std::vector<KernelCount> kernels;
  std::unordered_map<std::uint32_t, std::string> stall_reasons;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, std::uint64_t>>
      stalls;  // (function, device) → reason → samples
};

struct GpuShape {
  std::uint32_t name = 0;  // of names
  Dim3 grid, block;
  std::uint32_t registers = 0, static_shared = 0, dynamic_shared = 0;
};

struct GpuQueue {
  std::int32_t device = 0;
  std::uint32_t context = 0, stream = 0;
};

struct GpuThread {
  std::uint32_t tid = 0;
  std::string name;
};

struct StreamWaited {  // what calls of a thread that wait for a stream wait for from this moment on
  std::uint32_t tid = 0;
  Ns time_ns = 0;
  std::uint32_t context = 0, stream = 0;
};

// The numbers that the collector gave out → indices; they are dense but for what was lost.
class Numbering {
 public:
  bool define(std::uint64_t number, std::uint32_t index) {
    if (number >= kMost) return false;
    if (number >= indices_.size()) indices_.resize(number + 1, kNone);
    indices_[number] = index;
    return true;
  }
  std::uint32_t operator[](std::uint64_t number) const { return number < indices_.size() ? indices_[number] : kNone; }

 private:
  static constexpr std::uint64_t kMost = 1 << 24;  // more than a damaged file may make us allocate
  std::vector<std::uint32_t> indices_;
};

struct TracingChange {
  Ns time_ns = 0;
  std::uint32_t what = 0;  // kTracingOn …
};

struct GpuData {
  bool session = false;  // CUPTI recorded, if only nothing
  Ns session_ns = 0;     // since when
  std::vector<TracingChange> tracing;
  std::uint32_t cupti_version = 0;
  trace_format::CallChoice calls_chosen = trace_format::CallChoice::kNone;
  bool waits_by_calls = false;  // no wait is recorded but as the call that waited
  std::unordered_map<std::uint32_t, std::string> names;
  std::vector<GpuShape> shapes;
  std::vector<GpuQueue> queues;
  std::vector<GpuThread> threads;
  std::vector<std::uint32_t> functions;  // names
  Numbering shape_numbers, queue_numbers, thread_numbers, function_numbers;
  std::unordered_map<std::uint32_t, std::uint32_t> context_devices;
  std::vector<Device> devices;
  std::vector<Kernel> kernels;            // api: the correlation
  std::vector<MemOp> mem_ops;             // label: CUPTI's number of the kind of copy; api: the correlation
  std::vector<GraphRun> graph_runs;       // api: the correlation
  std::vector<ApiCall> calls;             // name: index into functions
  std::vector<std::size_t> failed_calls;  // indices of those that returned something other than 0, ascending
  std::vector<SyncWait> syncs;
  std::vector<StreamWaited> streams_waited;
  std::vector<NodeEvent> node_events;   // of one process, which is 0 here; thread: the tid
  RowNodes kernel_nodes, mem_op_nodes;  // by index of kernels and mem_ops
  std::uint64_t dropped = 0, unfinished = 0;
  std::vector<Remark> notes;
  GpuMetrics metrics;

  bool recorded() const { return session || !kernels.empty() || !mem_ops.empty() || !graph_runs.empty(); }
};

// A value as it lies in a file, wherever that may be: no alignment is assumed.
template <typename Value>
Value load(const char* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The text of a String record. Where it is incomplete it returns nothing and counts the damage.
inline std::optional<std::string> read_text(const char* at, const trace_format::Head& head, Damage& damage) {
  auto record = load<trace_format::String>(at);
  if (record.length <= head.bytes - sizeof record) return std::string(at + sizeof record, record.length);
  ++damage[{Code::kStringTooLong}];
  return std::nullopt;
}

// True where the record is one of the GPU half. `at` has head.bytes bytes.
bool read_gpu_record(const char* at, const trace_format::Head& head, GpuData& gpu, Damage& damage);
// The same for records of GpuMetrics only.
bool read_metric_record(const char* at, const trace_format::Head& head, GpuMetrics& metrics, Damage& damage);

// What a note of the collector means. `id`: its NoteCode; without one (an earlier collector) its words decide, here only.
Remark remark_of_note(std::uint32_t id, std::string text);

}  // namespace nl::parsers::collector_trace
