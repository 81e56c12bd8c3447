#include "parsers/collector/merge.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "collector/trace_format.h"
#include "model/cuda_calls.h"

namespace nl::parsers::collector_trace {
namespace {

using trace_format::kNoStream;

// The only place of its kind, or nothing.
Queue only_queue(const GpuData& gpu) {
  std::set<std::pair<std::int32_t, std::uint32_t>> contexts;
  std::set<std::uint32_t> streams;
  for (const GpuQueue& queue : gpu.queues) {
    contexts.insert({queue.device, queue.context});
    streams.insert(queue.stream);
  }
  if (contexts.size() != 1) return {kNone, 0, 0, kNoStream};
  return {kNone, contexts.begin()->first, contexts.begin()->second, streams.size() == 1 ? *streams.begin() : kNoStream};
}

// Where threads waited for a stream, by when.
class StreamsWaited {
 public:
  explicit StreamsWaited(const GpuData& gpu) : gpu_(gpu), waited_(gpu.streams_waited) {
    std::stable_sort(waited_.begin(), waited_.end(), earlier);
  }
  // The queue that a call of this thread waited for, which returned then; `otherwise` where none was recorded.
  Queue of(std::uint32_t tid, Ns end_ns, const Queue& otherwise) const {
    auto next = std::upper_bound(waited_.begin(), waited_.end(), StreamWaited{tid, end_ns, 0, 0}, earlier);
    if (next == waited_.begin() || std::prev(next)->tid != tid) return otherwise;
    const StreamWaited& last = *std::prev(next);
    if (last.stream == kNoStream) return {kNone, 0, 0, kNoStream};
    return {kNone, device_of(last.context), last.context, last.stream};
  }

 private:
  static bool earlier(const StreamWaited& a, const StreamWaited& b) { return std::tie(a.tid, a.time_ns) < std::tie(b.tid, b.time_ns); }
  std::int32_t device_of(std::uint32_t context) const {
    for (const GpuQueue& queue : gpu_.queues)
      if (queue.context == context) return queue.device;
    auto known = gpu_.context_devices.find(context);
    return known != gpu_.context_devices.end() ? static_cast<std::int32_t>(known->second) : 0;
  }

  const GpuData& gpu_;
  std::vector<StreamWaited> waited_;
};

}  // namespace

void add_waits_of_calls(GpuData& gpu) {
  if (!gpu.waits_by_calls) return;
  std::vector<SyncKind> kinds;
  for (std::uint32_t name : gpu.functions) {
    auto found = gpu.names.find(name);
    kinds.push_back(found != gpu.names.end() ? cuda_call(found->second).sync : SyncKind::kUnknown);
  }
  const Queue only = only_queue(gpu);
  const StreamsWaited streams(gpu);
  for (std::size_t i = 0; i < gpu.calls.size(); ++i) {
    const ApiCall& call = gpu.calls[i];
    SyncKind kind = call.name.value < kinds.size() ? kinds[call.name.value] : SyncKind::kUnknown;
    if (kind == SyncKind::kUnknown || std::binary_search(gpu.failed_calls.begin(), gpu.failed_calls.end(), i)) continue;
    SyncWait wait{call.start_ns, call.end_ns(), only, call.correlation, 0, kind};
    if (kind == SyncKind::kContext) wait.where.stream = kNoStream;
    if (kind == SyncKind::kStream && call.thread < gpu.threads.size())
      wait.where = streams.of(gpu.threads[call.thread].tid, call.end_ns(), only);
    gpu.syncs.push_back(wait);
  }
}

}  // namespace nl::parsers::collector_trace
