#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/trace_format.h"
#include "model/trace.h"
#include "parsers/collector/metrics.h"
#include "parsers/nsys/graph_nodes.h"

// The GPU half of a collector's file: packed blocks taken apart. Numbers refer to the vectors here until
// collector_trace_merge.cpp gives them those of the trace; times are those of the file's clock.
namespace nl::parsers::collector_trace {

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

struct GpuData {
  bool session = false;  // CUPTI recorded, if only nothing
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

// True where the record is one of the GPU half. `at` has head.bytes bytes.
bool read_gpu_record(const char* at, const trace_format::Head& head, GpuData& gpu, Damage& damage);

}  // namespace nl::parsers::collector_trace
